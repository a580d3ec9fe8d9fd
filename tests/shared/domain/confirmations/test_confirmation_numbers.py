"""The number of a booking: next to its label, in the line or the cell below it, and inside a sentence."""

import pytest

from shared.domain.confirmations.confirmation_numbers import find_confirmation, find_order
from shared.domain.confirmations.forwarding import Text
from shared.domain.confirmations.model import BookedLeg
from tests.shared.domain.confirmations.mails import mail, read

LETTERS = {
    "CÓDIGO DE RESERVACIÓN\nH7RKXM": "H7RKXM",
    "Clave de reservación\nKXHM7R": "KXHM7R",
    "CODE DE CONFIRMATION\nX7MRKH": "X7MRKH",
    "Filekey:        HMK7XR": "HMK7XR",
    "Dossier : MRKX7H": "MRKX7H",
    "Dossier : E4WDHS": "E4WDHS",  # "e" is also "is" in Italian
    "Reservation Code HKM7RX": "HKM7RX",
    "Your booking HKM7RX is confirmed.": "HKM7RX",
    "Reserveringsnummer luchtvaartmaatschappij: MHX7RK": "MHX7RK",
    "Deine Buchungsnummer: *7HXKMR*": "7HXKMR",
    "■予約番号：000482": "000482",
    "Reiseplannummer: 72635544128890": "72635544128890",
    "Hotel\tConfirmation\nMarriott\t90112277": "90112277",
    "Confirmation\t90112277": "90112277",
    "N.º de confirmação\t7718204LX": "7718204LX",
    "Buchungs-Nr.: 3417": "3417",
    "Vorgang: 2027-0815": "2027-0815",
    "Prenotazione nr. 55120388": "55120388",
    "Nº reserva: 3316-440127": "3316-440127",
    "受付番号 30917755": "30917755",
    "予約ID: QT3kd8zw19": "QT3kd8zw19",
    "Boekingskenmerk: ABC123": "ABC123",
    "Our ref.: HB/2027/0815": "HB/2027/0815",
    "Airline reference: LH/5RJXEN": "5RJXEN",
    "Reference for check-in at the desk: K7PQ2M": "K7PQ2M",
    "Código de reserva de la aerolínea (para el check-in)\tHVB2WJ": "HVB2WJ",
    "Numéro de confirmation de l'hôtel : 33445566": "33445566",
    "Confirmation\n33445566": "33445566",
    "Ihre Reservierung 7788123 bei uns": "7788123",
    "Reservation: 2027-03-05 to 2027-03-07": None,
    "Referenz: BA2606": None,
    "Itinerary: PARIS": None,
    "booking reference and e-ticket number: 125-23456789": None,
    "[予約番号] 1A2B3C4D": "1A2B3C4D",
    "订单号: 20270312887654\nPNR编码: NQ2W8K": "NQ2W8K",
    "주문번호 2027031288\nPNR번호: NQ2W8K": "NQ2W8K",
    "Montant total : 330 €. Réf. 2027-13.": "2027-13",
    "BUCHUNGSREFERENZ : AMADEUS: ZB5LNU,  AIRLINE: TK/SQX9FD": "ZB5LNU",
    "Your confirmation code stays the same:\nMZTQFA": "MZTQFA",
    "Your booking STATUS is confirmed": None,
    "Confirmation\nThank you": None,
}


@pytest.mark.parametrize("body", LETTERS)
def test_the_number_is_read(body: str) -> None:
    assert find_confirmation(Text(body, "", "Airline", False, None)) == LETTERS[body]


def test_the_number_of_an_order_is_none_of_a_booking() -> None:
    text = Text("Order ID: ZK1234567890", "", "Airline", False, None)
    assert (find_confirmation(text), find_order(text)) == (None, "ZK1234567890")


@pytest.mark.parametrize(
    ("subject", "number"),
    [
        ("Confirmación de tu reserva 3316-440127", "3316-440127"),
        ("Conferma prenotazione - 55120388", "55120388"),
        ("Booking for BA2606 on 14JUN27", None),
    ],
)
def test_a_subject_bears_the_number(subject: str, number: str | None) -> None:
    assert find_confirmation(Text("", subject, "", False, None)) == number


@pytest.mark.parametrize("text", ["Tu reserva NGPYRA fue cancelada a tu pedido.", "Su reserva NGPYRA se ha cancelado."])
def test_a_code_of_letters_in_a_sentence_of_a_cancellation_is_read(text: str) -> None:
    assert [b.confirmation_number for b in read(mail(text)).bookings] == ["NGPYRA"]


@pytest.mark.parametrize(
    "line",
    [
        "Previous booking number: K8PLM2",
        "Ihre frühere Buchungsnummer: K8PLM2",
        "Numéro de réservation précédente : K8PLM2",
        "Código de reserva anterior: K8PLM2",
        "前回の予約番号: K8PLM2",
        "Your earlier booking K8PLM2 is in your account.",
    ],
)
def test_the_number_of_an_earlier_booking_is_not_that_of_the_letter(line: str) -> None:
    assert find_confirmation(Text(f"{line}\nBooking code: ZT4RQ9\n", "", "", False, None)) == "ZT4RQ9"


@pytest.mark.parametrize(
    ("label", "price", "total"),
    [
        ("Booking reference", "Total paid: GBP {}.00", "Total charged: GBP 700.00"),
        ("Buchungsnummer", "Gesamtpreis: {},00 EUR", "Summe: 700,00 EUR"),
        ("Codice di prenotazione", "Totale pagato: {},00 EUR", "Totale: 700,00 EUR"),
        ("予約番号", "お支払い金額:{}00円", "合計:70000円"),
    ],
)
def test_flights_below_numbers_of_their_own_have_those_and_their_fares(label: str, price: str, total: str) -> None:
    out = f"{label}: K7QWX2\nBA285 LHR - SFO 2027-05-04 11:20 - 14:10 Economy\n{price.format(310)}\n"
    back = f"{label}: M3RTY8\nBA286 SFO - LHR 2027-05-11 16:20 - 10:40+1 Economy\n{price.format(390)}\n"
    legs = [b for b in read(mail(f"{out}\n{back}\n{total}\n")).bookings if isinstance(b, BookedLeg)]
    assert [leg.confirmation_number for leg in legs] == ["K7QWX2", "M3RTY8"]
    assert [leg.cash_paid in (310, 31000) for leg in legs] == [True, False]
    assert [leg.cash_paid in (390, 39000) for leg in legs] == [False, True]


def test_codes_of_airlines_below_flights_leave_them_the_number_above() -> None:
    flights = [f"BA{n} LHR - SFO 2027-05-0{n % 10} 11:20 - 14:10\nAirline reference: BA/{n}TQ8L" for n in (284, 285)]
    legs = read(mail("\n\n".join(["Booking reference: K7QWX2", *flights]))).bookings
    assert {leg.confirmation_number for leg in legs} == {"K7QWX2"}


def test_several_numbers_of_one_label_or_of_travellers_are_asked_about() -> None:
    flights = "BA284 LHR - SFO 2027-05-04 11:20 - 14:10 Economy\nBA285 SFO - LHR 2027-05-11 16:20 - 10:40+1 Economy"
    pairs = ("Booking reference: K7QWX2\nBooking reference: M3RTY8", "Mr A PNR: K7QWX2\nMrs B PNR: M3RTY8")
    for numbers in pairs:
        reading = read(mail(f"Your booking is confirmed.\n{numbers}\n\n{flights}\nTotal GBP 312.00\n"))
        asked = [d.values for d in reading.all_doubts if d.field == "confirmation_number"]
        assert asked == [("K7QWX2", "M3RTY8")], numbers
    stay = "Hilton Vienna Park\nCheck-in: 11 May 2027\nCheck-out: 13 May 2027\nTotal EUR 400.00\n"
    rooms = "Room 1 confirmation number: 33123451\nRoom 2 confirmation number: 33123452\n"
    assert read(mail(f"Your reservation is confirmed.\n{rooms}{stay}")).missing == ["confirmation_number"]


LEGS = (
    "BA 304\n9 Mar 2027\nLondon (LHR) 07:05\nParis (CDG) 09:20\nEconomy\n",
    "AF 1680\n12 Mar 2027\nParis (CDG) 18:00\nLondon (LHR) 18:20\nEconomy\n",
)


@pytest.mark.parametrize(
    "numbers",
    [
        "Order number: 7712345\nAirline reference (PNR): WK3TXB",
        "Trip ID: 8812345\nAirline booking reference: WK3TXB",
        "Booking number: 7712345\nPNR (airline): WK3TXB",
        "Auftragsnummer: 88120447\nAirline-Buchungscode: WK3TXB (BA)",
        "Numéro de dossier agence : 8812\nRéférence compagnie : WK3TXB",
        "Código de agencia: 8812345\nLocalizador de la aerolínea: WK3TXB",
        "Itinerary # 72012345678901\nBritish Airways confirmation: WK3TXB",
    ],
)
def test_the_code_of_the_airline_comes_before_the_number_of_an_agency(numbers: str) -> None:
    reading = read(mail(f"{numbers}\n\n{LEGS[0]}Total GBP 312.00\n"))
    assert [b.confirmation_number for b in reading.bookings] == ["WK3TXB"]


@pytest.mark.parametrize("is_below", [True, False])
def test_each_flight_has_the_code_of_its_own_airline(is_below: bool) -> None:
    codes = [f"Airline reference: {code}\n" for code in ("WK3TXB", "QJ4RTV")]
    parts = [leg + code if is_below else code + leg for leg, code in zip(LEGS, codes, strict=True)]
    reading = read(mail("Trip number: 7712345\n\n" + "\n".join(parts)))
    assert [b.confirmation_number for b in reading.bookings] == ["WK3TXB", "QJ4RTV"]
