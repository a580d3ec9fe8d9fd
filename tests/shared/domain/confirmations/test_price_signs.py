"""The signs of currencies, amounts in a column of one currency, and money next to points, as senders print them."""

from decimal import Decimal

import pytest

from shared.domain.confirmations.model import MailPrice
from shared.domain.confirmations.prices import find_price
from shared.reference.load import reference
from shared.reference.name_lookup import TravelNames


def price(text: str) -> MailPrice:
    return find_price(text, TravelNames(reference()))


@pytest.mark.parametrize(
    ("text", "cash", "currency"),
    [
        ("Total paid\tR 2 410,55", "2410.55", "ZAR"),
        ("Amount paid: R2,410.55", "2410.55", "ZAR"),
        ("Total amount Rs. 18,200", "18200", "INR"),
        ("Grand total: RM 845.90", "845.90", "MYR"),
        ("Grand total\tCA $281.15", "281.15", "CAD"),
        ("Total: NZ $281.15", "281.15", "NZD"),
        ("Gesamtbetrag: Fr. 1'310.20", "1310.20", "CHF"),
        ("Total: 38 450 Ft", "38450", "HUF"),
        ("Total: 3.120,40 TL", "3120.40", "TRY"),
        ("Total: Rp 2.450.000", "2450000", "IDR"),
        ("Gesamtpreis 410,80 Euro", "410.80", "EUR"),
        ("Prezzo totale: euro 410,80", "410.80", "EUR"),
        ("Att betala: 3 120 kr (SEK)", "3120", "SEK"),
        ("お支払い金額：¥38,200", "38200", "JPY"),
        ("Leistung      Betrag EUR\nSteuern\t210,16\nGesamtbetrag       2.815,40", "2815.40", "EUR"),
        ("All prices are in GBP\nTotal paid\t415.20", "415.20", "GBP"),
        ("Importe (MXN)\nTotal pagado   8,415.20", "8415.20", "MXN"),
        ("金額(円)\n運賃 41,000\n合計 47,310", "47310", "JPY"),
        ("Precio de la estancia 890,00 €\nDescuento -40,00 €\nTotal a pagar 850,00 €", "850", "EUR"),
        ("Gold – 8 150 points Reward\nMontant total TTC\t415,20 EUR", "415.20", "EUR"),
        ("Ihre Kreditkarte wurde mit 415,20 € belastet.", "415.20", "EUR"),
        ("Total charged $415.20\nChase Travel", "415.20", "USD"),
    ],
)
def test_a_total_is_read_with_any_sign(text: str, cash: str, currency: str) -> None:
    result = price(text)
    assert (result.cash, result.currency, result.points, result.doubts) == (Decimal(cash), currency, None, [])


@pytest.mark.parametrize(
    "text",
    [
        "Total RM 512",  # a room
        "Total R 12",
        "Betrag EUR\nGesamtbetrag 2.815,40\nParken USD 12.00",  # the column is not the only currency
        "Betrag EUR\nBezahlt am 22.09.26",
        "Bei Stornierung werden insgesamt 150,00 EUR berechnet",
        "En cas d'annulation, un montant total de 90,00 € sera dû",
        "Total price for parking: EUR 40.00",
    ],
)
def test_a_number_without_a_certain_currency_is_no_total(text: str) -> None:
    assert price(text).cash is None


@pytest.mark.parametrize(
    ("text", "points", "taxes", "currency"),
    [
        (
            "180,000 pts\nTaxes CA $210.40\nPartner fee CA $39.00\nTotal\t180,000 pts + CA $249.40",
            180_000,
            "249.40",
            "CAD",
        ),
        ("利用マイル 90,000マイル\n税金 18,310円\n燃油特別付加運賃 52,000円\n合計 70,310円", 90_000, "70310", "JPY"),
        ("合計 14,000マイル\n旅客施設使用料等 1,270円", 14_000, "1270", "JPY"),
        ("Eingelöst: 40.000 Meilen\nZuzahlung 96,20 EUR", 40_000, "96.20", "EUR"),
        (
            "5 May 2027\t20,000 Points + 61.50 AUD\n6 May 2027\t20,000 Points + 61.50 AUD\n"
            "Total for stay\t40,000 Points + 123.00 AUD",
            40_000,
            "123",
            "AUD",
        ),
        (
            "Punkte & Geld\n5. Mai 2027\t20.000 Punkte + 61,50 EUR\n6. Mai 2027\t20.000 Punkte + 61,50 EUR\n"
            "Eingelöste Punkte insgesamt\t40.000\nGesamtbetrag (inkl. Steuern)\t123,00 EUR",
            40_000,
            "123",
            "EUR",
        ),
    ],
)
def test_the_money_of_an_award_is_its_total(text: str, points: int, taxes: str, currency: str) -> None:
    result = price(text)
    assert (result.points, result.taxes, result.taxes_currency) == (points, Decimal(taxes), currency)
    assert result.doubts == []


def test_money_of_nights_without_a_total_is_asked_for() -> None:
    result = price(
        "Points redeemed 40,000\n5 May 2027\t20,000 Points + 61.50 AUD\n6 May 2027\t20,000 Points + 61.50 AUD"
    )
    assert result.taxes is None
    assert [d.field for d in result.doubts] == ["taxes_paid"]


def test_a_fee_for_changes_is_no_tax() -> None:
    assert price("Avios used: 40,000\nFrais et charges d'annulation : 70,00 €").taxes is None


def test_the_taxes_of_each_traveller_are_not_those_of_all() -> None:
    assert price("60,000 miles redeemed\nTraveller 1 taxes USD 112.40\nTraveller 2 taxes USD 112.40").taxes is None
