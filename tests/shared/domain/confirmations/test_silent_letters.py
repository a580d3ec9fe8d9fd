"""A letter that looks like a booking's and of which nothing was read says so; other letters stay quiet."""

import pytest

from tests.shared.domain.confirmations.mails import mail, read

FLIGHT = (
    "Booking reference: X7KQPM\nYour flight to the sun leaves on 4 May 2027. We look forward to seeing you on board.\n"
)
STAY = "Reservation number: 88123401\nWe look forward to having you with us for three nights in May 2027.\n"
CAR = "Confirmation number: H8812340\nPick-up: Munich Airport, 4 May 2027\nYour rental car is a Golf.\n"
OFFER = "Three nights for two! Hotels from 99 EUR until 4 May 2027. Unsubscribe\n"


@pytest.mark.parametrize(("text", "field"), [(FLIGHT, "flights"), (STAY, "stays")])
def test_a_booking_that_was_not_read_is_told(text: str, field: str) -> None:
    reading = read(mail(text, subject="Hello"))
    assert (reading.bookings, reading.missing) == ([], [field])


@pytest.mark.parametrize("text", [CAR, OFFER])
def test_other_letters_stay_quiet(text: str) -> None:
    assert read(mail(text, subject="Your confirmation")).missing == []


OTHERS = {
    "a train": "Reservation Number - 5F2A1B\nNew York (Penn) - Washington, DC   Train 2151  Acela\nAmtrak eTicket\n"
    "Depart 6:00 AM, Wednesday, May 12, 2027\n",
    "a hired car": "Confirmation Number: K1234567890\nPick Up: Madrid Airport, 12 May 2027\nVehicle: Ibiza or similar\n"
    "Return: 15 May 2027\nYour rental car is booked.\n",
    "parking, a ship or a table": "Booking reference: P1234567\nParking space from 12 May 2027 to 15 May 2027\n",
    "": OFFER,
}


def test_a_letter_of_something_else_says_what_it_is_about() -> None:
    found = {name: read(mail(text, subject="Your confirmation")) for name, text in OTHERS.items()}
    assert {name: (r.other, r.bookings, r.missing) for name, r in found.items()} == {n: (n, [], []) for n in OTHERS}


def test_a_letter_that_tells_both_days_of_a_stay_is_asked_about_whatever_its_title() -> None:
    text = "Gerne bieten wir Ihnen ein Zimmer an.\nAnreise: 12.05.2027  Abreise: 15.05.2027\nHotel Alpenblick\n"
    assert read(mail(text, subject="Ihre Anfrage")).missing == ["stays"]


def test_a_made_or_changed_booking_of_two_days_in_one_line_is_asked_about() -> None:
    days = "11 May 2027 to 14 May 2027\n"
    letters = [f"Your reservation is confirmed.\nConfirmation number 48812345\nThe Blue House\nFrom {days}"]
    for old, new in (("Old", "New"), ("Previous", "Your")):
        changed = (
            f"Your reservation was modified.\nConfirmation number 48812345\n{old} stay: 10 May 2027 to 12 May 2027"
        )
        letters.append(f"{changed}\n{new} stay: {days}")
    assert [read(mail(text)).missing for text in letters] == [["stays"]] * 3


def test_the_title_of_a_letter_without_a_number_is_enough() -> None:
    text = "We look forward to having you with us for three nights from 4 May 2027.\n"
    assert read(mail(text, subject="Confirmation of your stay")).missing == ["stays"]


def test_a_stay_beside_the_flights_that_was_not_read_is_told() -> None:
    text = (
        "Booking reference: X7KQPM\nLH1034 Frankfurt (FRA) - Paris (CDG) 20 Apr 2027 10:10 - 11:25 Economy\n"
        "Hotel at the river\nArriving in the evening\nCheck-out: Fri 23 Apr 2027\nTotal price: EUR 500.00\n"
    )
    assert "stays" in read(mail(text)).missing


LANGUAGES = {
    "Polish": "Potwierdzenie rezerwacji\nNumer rezerwacji: X7Y8Z9\n"
    "LO 281 Warszawa (WAW) 07:30 - Londyn (LHR) 09:20\n"
    "9 marca 2027\nRazem 600,00 PLN",
    "Turkish": "Rezervasyonunuz onaylandı\nRezervasyon kodu: X7Y8Z9\n"
    "TK 1979 İstanbul (IST) 07:30 - Londra (LHR) 08:40\n"
    "9 Mart 2027\nToplam 6.000,00 TRY",
    "Korean": "예약이 확정되었습니다\n예약번호: X7Y8Z9\nKE 901 서울 (ICN) 12:30 - 파리 (CDG) 17:30\n"
    "2027년 3월 9일\n합계 1,200,000 KRW",
    "Chinese": "您的预订已确认\n预订编号:X7Y8Z9\nCA 937 北京 (PEK) 13:30 - 伦敦 (LHR) 17:00\n"
    "2027年3月9日\n总计 CNY 6,000.00",
    "Swedish": "Bokningsbekräftelse\nBokningsnummer: X7Y8Z9\n"
    "SK 1501 Köpenhamn (CPH) 07:05 - London (LHR) 08:05\n9 mars 2027\n"
    "Totalt 1 290,00 SEK",
    "Danish": "Bookingbekræftelse\nBookingnummer: X7Y8Z9\n"
    "SK 1501 København (CPH) 07:05 - London (LHR) 08:05\n9. marts 2027\n"
    "I alt 1.290,00 DKK",
    "Norwegian": "Bestillingsbekreftelse\nBookingreferanse: X7Y8Z9\n"
    "SK 1501 København (CPH) 07:05 - London (LHR) 08:05\n"
    "9. mars 2027\nTotalt 1 290,00 NOK",
}


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_letter_in_a_language_of_the_table_is_read(language: str) -> None:
    text = LANGUAGES[language]
    reading = read(mail(f"{text}\nEconomy\n", subject=text.split("\n")[0]))
    assert [(b.confirmation_number, reading.missing) for b in reading.bookings] == [("X7Y8Z9", [])]


def test_a_price_in_a_currency_that_is_not_known_is_asked() -> None:
    text = "Бронирование подтверждено\nКод бронирования: X7Y8Z9\nSU 1234 Москва (SVO) 07:30 - Сочи (AER) 11:00\n"
    assert read(mail(f"{text}9 марта 2027\nEconomy\nИтого 6000,00 QQQ\n", subject="Бронирование")).missing == ["kind"]
    assert read(mail(f"{text}9 марта 2027\nEconomy\nИтого 6000,00 RUB\n", subject="Бронирование")).missing == []


@pytest.mark.parametrize(
    "text",
    [
        "Varausvahvistus\nAY 1331 Helsinki (HEL) 07:05 - Lontoo (LHR) 08:05\n9. maaliskuuta 2027\n",
        "Κράτηση\nA3 602 Αθήνα (ATH) 07:05 - Λονδίνο (LHR) 09:05\n9 Μαρτίου 2027\n",
        "Foglalás\nW6 2201 Budapest (BUD) 07:05 - London (LTN) 08:45\n2027. március 9.\n",
        "تأكيد الحجز\nEK 1 دبي (DXB) 07:45 - لندن (LHR) 11:40\n9 مارس 2027\n",
        "ยืนยันการจอง\nTG 910 กรุงเทพ (BKK) 00:15 - ลอนดอน (LHR) 06:25\n9 มีนาคม 2570\n",
    ],
)
def test_a_flight_in_any_other_language_is_asked_about(text: str) -> None:
    assert read(mail(text, subject=text.split("\n")[0])).missing != []


def test_a_flight_called_off_below_its_lines_cancels_no_other() -> None:
    legs = "BA 304\n11 May 2027\nLondon (LHR) 07:05\nParis (CDG) 09:20\n\n"
    legs += "BA 315\n14 May 2027\nParis (CDG) 18:00\nLondon (LHR) 18:20\n"
    for word in ("Flight cancelled", "Status: Cancelled by airline", "This flight no longer operates"):
        reading = read(
            mail(f"Your booking is confirmed\nBooking reference: X7Y8Z9\n{legs}{word}\nEconomy\nTotal GBP 312.00\n")
        )
        assert [(b.action, b.flight_number) for b in reading.bookings] == [("create", "BA304")], word
        assert "action" in reading.missing


def test_the_code_of_an_airline_comes_before_a_number_of_digits() -> None:
    legs = "LH 902\n11 May 2027\nFrankfurt (FRA) 08:30\nLondon (LHR) 09:10\nEconomy\nGesamtpreis 212,00 EUR\n"
    number = (
        read(mail(f"Auftragsnummer: 7712345\nBuchungscode (Airline): WK3TXB\n{legs}")).bookings[0].confirmation_number
    )
    assert number == "WK3TXB"
