"""What a letter says was paid: points that were spent, totals, taxes; what is said in two ways is asked for."""

from decimal import Decimal
from typing import Any

import pytest

from shared.domain.confirmations.model import MailPrice, to_json
from shared.domain.confirmations.prices import find_price
from shared.reference.load import reference
from shared.reference.name_lookup import TravelNames
from tests.shared.domain.confirmations.mails import data, first, flight, mail, read, stay

LEG = "Booking reference: X7Y8Z9\nBA285 LHR-SFO 4 May 2027 Economy\n"
STAY = "Confirmation Number: 99887766\nGrand Hyatt Tokyo\nCheck-in: 4 May 2027\nCheck-out: 6 May 2027\n"


def price(text: str) -> MailPrice:
    return find_price(text, TravelNames(reference()))


@pytest.mark.parametrize(
    ("text", "points"),
    [
        ("Avios: 80,000", 80_000),
        ("Required mileage: 120,000 miles", 120_000),
        ("Miles: 60,000", 60_000),
        ("KrisFlyer miles: 159,000", 159_000),
        ("Avios: 51.000", 51_000),
        ("We charged 60,000 miles and $212.40", 60_000),
        ("Total points   60,000", 60_000),
        ("60.000 Prämienmeilen", 60_000),
        ("Eingelöste Meilen: 60.000", 60_000),
        ("Miles utilisés : 72 000 Miles", 72_000),
        ("Millas canjeadas: 34.000", 34_000),
        ("Pontos utilizados: 25.000", 25_000),
        ("Punti utilizzati: 40.000", 40_000),
        ("Punkte insgesamt\t46.000", 46_000),
        ("Gebruikte Miles: 60.000", 60_000),
        ("必要マイル数：120,000マイル", 120_000),
        ("Points redeemed\n90,000", 90_000),
        ("Points\tTaxes\n45,000\tUSD 5.60", 45_000),
        ("You have used 60,000 points and have 12,345 points remaining.", 60_000),
        ("Balance: 124,500 points\nPoints redeemed: 45,000", 45_000),
        ("30,000 points\n30,000 points\nTotal points   60,000", 60_000),
    ],
)
def test_points_that_were_spent_are_read_in_any_words(text: str, points: int) -> None:
    assert price(text).points == points


@pytest.mark.parametrize(
    "text",
    [
        "You will earn 3,200 miles",
        "Points balance: 60,000",
        "Your Avios: 60,000",
        "Bonus points: 5,000",
        "60,000 status points",
        "Tier points: 400",
        "12,000 miles expire on 31 Dec 2027",
        "Earn up to 60,000 points with our card",
        "Distance: 3,451 miles",
        "Miles: 3,451",
        "Gesammelte Meilen: 3.200",
        "Miles cumulés : 3 200",
        "Millas acumuladas: 3.200",
        "Miglia guadagnate: 3.200",
        "積算マイル：3,200",
        "Miles you will earn\n3,200 miles",
        "4 May 2027 Miles",
        "Buy 60,000 miles",
        "Blijf een nacht langer: 2.000 bonuspunten",
        "2.000 puntos extra en tu hotel",
        "2 000 points offerts",
    ],
)
def test_points_that_were_not_spent_are_no_price(text: str) -> None:
    result = price(text)
    assert (result.points, result.doubts) == (None, [])


@pytest.mark.parametrize(
    ("text", "cash", "currency"),
    [
        ("Fare\tTaxes\tTotal\nEUR 400.00\tEUR 112.30\tEUR 512.30", "512.30", "EUR"),
        ("Total per passenger: 512.30 EUR\nTotal price for 2 passengers: 1,024.60 EUR", "1024.60", "EUR"),
        ("Base fare: USD 400.00\nTaxes: USD 112.30\nTotal: USD 512.30", "512.30", "USD"),
        ("Total\n€ 512,30", "512.30", "EUR"),
        ("Gesamtpreis inkl. Steuern: 1.234,56 EUR", "1234.56", "EUR"),
        ("Montant total : 540,00 €", "540.00", "EUR"),
        ("Importe total: 510,20 €", "510.20", "EUR"),
        ("Importo totale: € 1.980,00", "1980.00", "EUR"),
        ("Valor total: R$ 1.234,56", "1234.56", "BRL"),
        ("Totaalbedrag: € 310,00", "310.00", "EUR"),
        ("お支払総額 123,450円", "123450", "JPY"),
        ("Total (EUR): 1,024.60", "1024.60", "EUR"),
        ("Deposit paid: USD 100.00\nTotal: USD 500.00", "500.00", "USD"),
        ("Total price CHF 2'412.60, of which taxes CHF 98.60", "2412.60", "CHF"),
        ("Flugpreis inkl. Steuern: EUR 723,10 (Tarif 2027)", "723.10", "EUR"),
        ("The price is £95 per night, so £285 in all, breakfast included.", "285", "GBP"),
        ("Room total 500.00 EUR\nRoom total 500.00 EUR\nTotal for 2 rooms 1,000.00 EUR", "1000.00", "EUR"),
        ("Totale per camera 500,00 EUR\nTotale (tutte le camere) 1.000,00 EUR", "1000.00", "EUR"),
        ("Zu zahlen: 640,00 €", "640.00", "EUR"),
        ("Net à payer : 640,00 €", "640.00", "EUR"),
        ("Hai pagato 640,00 €", "640.00", "EUR"),
        ("Importe final: 640,00 €\nPendiente de pago: 100,00 €", "640.00", "EUR"),
        ("Te betalen: € 640,00", "640.00", "EUR"),
        ("ご請求額：64,000円", "64000", "JPY"),
        ("Airfare total: USD 640.00", "640.00", "USD"),
        ("Montant total payé\t82 140 XPF", "82140", "XPF"),
        ("Total : 296,38 $ CA", "296.38", "CAD"),
        ("Room rate per night USD 200.00\nTotal for stay: USD 412.00 (approx. EUR 380.00)", "412.00", "USD"),
    ],
)
def test_the_total_is_read_and_its_parts_are_not(text: str, cash: str, currency: str) -> None:
    result = price(text)
    assert (result.cash, result.currency, result.doubts) == (Decimal(cash), currency, [])


@pytest.mark.parametrize(
    ("text", "field"),
    [
        ("Total price: USD 500.00\nAmount paid: USD 100.00", "cash"),
        ("Total: EUR 500.00\nTotal: EUR 600.00", "cash"),
        ("Total: EUR 500.00\nVoucher applied: -EUR 100.00\n", "cash"),
        ("Points redeemed: 60,000\nPoints used: 45,000", "kind"),
        ("Avios: 2,310\nTotal: GBP 812.40", "kind"),
        ("Avios used: 60,000\nTaxes: GBP 100.00\nTotal: GBP 150.00", "taxes_paid"),
    ],
)
def test_what_is_said_in_two_ways_is_a_doubt_with_both_values(text: str, field: str) -> None:
    (doubt,) = price(text).doubts
    assert doubt.field == field
    assert len(doubt.values) == 2


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "Mon 4 May 2027  30,000 points\nTue 5 May 2027  30,000 points\n",
            {"kind": "award", "original_points": 60_000},
        ),
        ("Mon 4 May 2027  30,000 points\n", {"kind": None}),
        ("Points redeemed: 60,000\n", {"kind": "award", "original_points": 60_000, "cash_total": None}),
        (
            "Points + Cash\nPoints redeemed: 30,000 + USD 150.00\n",
            {"kind": "award", "original_points": 30_000, "cash_total": 150.0, "cash_rate_currency": "USD"},
        ),
        ("Total: ¥180,000\n", {"kind": "cash", "cash_total": 180_000.0, "cash_rate_currency": "JPY"}),
        ("Total: $800.00\n", {"kind": "cash", "cash_total": 800.0, "cash_rate_currency": None}),
        ("", {"kind": None}),
    ],
)
def test_a_stay_is_an_award_or_cash_only_where_the_price_says_so(text: str, expected: dict[str, Any]) -> None:
    result = first(mail(STAY + text))
    assert {n: result.get(n) for n in expected} == expected


def test_a_dollar_stands_for_one_currency_only_on_letters_of_a_country() -> None:
    text = LEG.replace("BA285 LHR-SFO", "{}") + "Total: $500.00\n"
    at_home = first(mail(text.format("UA1 EWR-SFO")))
    assert (at_home["cash_paid"], at_home["taxes_currency"]) == (500.0, "USD")
    for flown in ("AC1 YYZ-LHR", "QF1 SYD-SIN", "UA1 YYZ-EWR"):
        result = read(mail(text.format(flown)))
        assert result.missing == ["taxes_currency"]
        assert "USD" in result.all_doubts[0].values


def test_equal_points_of_two_flights_may_be_of_each_or_of_both() -> None:
    legs = LEG + "BA286 SFO-LHR 12 May 2027 Economy\n"
    result = read(mail(legs + "Miles: 30,000\nMiles: 30,000\n"))
    assert [d.values for d in result.all_doubts] == [(30_000, 60_000)]
    assert "kind" in result.missing


def test_points_of_one_person_are_the_price_of_one_person_alone() -> None:
    text = LEG + "Avios per person: 50,000\n"
    assert first(mail(f"{text}Passengers: 1\n"))["points_spent"] == 50_000
    assert read(mail(f"{text}Passengers: 2\n")).missing == ["kind", "points_spent"]


def test_money_beside_the_points_of_one_person_or_night_is_no_total() -> None:
    text = "Total per passenger: 40,000 miles + 5.60 USD\nTotal: 80,000 miles + 11.20 USD"
    result = price(text)
    assert (result.points, result.taxes, result.doubts) == (80_000, Decimal("11.20"), [])


def test_data_and_words_that_name_two_totals_are_asked_for() -> None:
    page = data(flight()).replace("See you soon", "Total price: GBP 1,300.00")
    result = read(mail(page=page))
    assert (result.missing, result.all_doubts[0].values) == (["cash_paid"], ("1,300.00 GBP", "1,250.00 GBP"))
    assert "cash_paid" not in to_json(result.bookings[0])


def test_a_stay_with_points_and_a_price_of_its_data_is_asked_for() -> None:
    page = data(stay()).replace("See you soon", "Total points: 60,000")
    assert "kind" in read(mail(page=page)).missing


@pytest.mark.parametrize(
    ("text", "cash"),
    [
        ("Prix du billet : 164,71 EUR\ndont taxes : 64,71 EUR", "164.71"),
        ("Prix du billet : 164,71 EUR\ntaxes : 64,71 EUR", None),
        ("■運賃：14,700円（税込）", "14700"),
        ("■運賃：14,700円（税込）\n座席指定料：500円", None),
    ],
)
def test_the_price_of_a_ticket_is_the_whole_only_with_its_taxes(text: str, cash: str | None) -> None:
    total = price(text).cash
    assert total == (None if cash is None else Decimal(cash))


def test_the_last_digits_of_a_card_are_no_price() -> None:
    total = price("Airfare\t$291.42\nTotal charged to Visa ending 0921\t$604.00")
    assert total.cash == Decimal("604.00")


@pytest.mark.parametrize("amount", ["CA $96.38", "96,38 $ CA", "CAN $ 96.38", "CAD 96.38"])
def test_a_country_before_or_behind_the_sign_names_its_dollars(amount: str) -> None:
    price = find_price(f"Total price: {amount}\n", TravelNames(reference()))
    assert (price.cash, price.currency) == (Decimal("96.38"), "CAD")


FLIGHT = "Booking reference: X7Y8Z9\nBA 304\n9 Mar 2027\nLondon (LHR) 07:05\nParis (CDG) 09:20\nEconomy\n"


@pytest.mark.parametrize(
    ("subject", "lines"),
    [
        ("Your seat receipt", "Seat 12A  GBP 24.00\nTotal paid GBP 24.00"),
        ("Your baggage is confirmed", "Total paid GBP 35.00"),
        ("Booking confirmation", "1 extra bag 23 kg  GBP 35.00\nTotal paid GBP 35.00"),
        ("Payment receipt", "Change fee GBP 50.00\nFare difference GBP 30.00\nTotal paid GBP 80.00"),
        ("Booking confirmation", "Extra legroom seat GBP 20.17\nVAT GBP 3.83\nTotal paid GBP 24.00"),
        ("Booking confirmation", "Description\tAmount\nChecked bag\tGBP 35.00\nSeat\tGBP 10.00\nTotal\tGBP 45.00"),
        ("Booking confirmation", "Travel insurance GBP 19.00\nTotal GBP 19.00"),
        ("Lounge access confirmed", "Total GBP 40.00"),
        ("Booking confirmation", "Pet in cabin GBP 60.00\nTotal GBP 60.00"),
        ("Booking confirmation", "CO2 contribution GBP 12.00\nTotal GBP 12.00"),
        ("Receipt", "Onboard Wi-Fi GBP 8.00\nTotal paid: GBP 8.00"),
        ("Ihre Sitzplatzreservierung ist bestätigt", "Gesamtbetrag 24,00 EUR"),
        ("Confirmation", "Bagage supplémentaire 35,00 EUR\nTotal payé 35,00 EUR"),
        ("Confirmación", "Asiento 12A 24,00 EUR\nTotal pagado 24,00 EUR"),
        ("Conferma", "Posto 12A 24,00 EUR\nTotale pagato 24,00 EUR"),
        ("Bevestiging", "Stoel 12A 24,00 EUR\nTotaal betaald 24,00 EUR"),
        ("座席指定の確認", "座席指定料金 2,400円\n合計金額 2,400円"),
    ],
)
def test_the_price_of_an_extra_is_none_of_the_flight(subject: str, lines: str) -> None:
    reading = read(mail(f"{FLIGHT}\n{lines}\n", subject=subject))
    assert [to_json(b).get("cash_paid") for b in reading.bookings] == [None]
    assert reading.missing == ["kind"]


@pytest.mark.parametrize(
    "lines",
    [
        "Fare GBP 250.00\nSeat 12A GBP 62.00\nTotal paid GBP 312.00",
        "Total GBP 312.00\nSeats: 12A\nBaggage: 1 x 23 kg included",
        "Flights GBP 277.00\nBags GBP 35.00\nTotal GBP 312.00",
        "Total GBP 312.00\nAdd a bag from GBP 35.00",
    ],
)
def test_a_ticket_with_extras_has_its_price(lines: str) -> None:
    assert first(mail(f"{FLIGHT}\n{lines}\n"))["cash_paid"] == 312


@pytest.mark.parametrize("currency", ["SEK", "NOK", "DKK", "INR", "JPY", "THB", "GBP", "AED", "VND"])
def test_points_next_to_the_price_of_a_flight_in_any_currency_are_asked_about(currency: str) -> None:
    """They are mostly earned with it; without a rate of the currency nothing tells."""
    amount = {"INR": "32,900", "JPY": "52,900", "VND": "9,290,000", "THB": "12,900"}.get(currency, "3,290")
    reading = read(mail(f"{FLIGHT}\nTotal price: {currency} {amount}.00\nAvios: 2,342\n"))
    assert reading.missing == ["kind"]


def test_points_that_were_spent_next_to_taxes_in_a_currency_without_a_rate_are_an_award() -> None:
    text = f"{FLIGHT}\nPoints redeemed: 18,000 Avios\nTaxes and surcharges: AED 915.00\n"
    assert (first(mail(text))["points_spent"], read(mail(text)).missing) == (18_000, [])
