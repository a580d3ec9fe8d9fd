"""Flights in words: which airports, days and times belong to which flight, and what is left open instead of guessed."""

from typing import Any

import pytest

from shared.domain.confirmations.model import to_json
from tests.shared.domain.confirmations.mails import mail, read

FIELDS = ("flight_number", "origin", "destination", "departure_date", "departure_time", "arrival_date", "arrival_time")
HEAD = "Booking reference: X7Y8Z9\n"


def flights(text: str, sender: str = "Airline <a@airline.test>") -> list[tuple[Any, ...]]:
    """What was read of each flight, without what is unknown at the end."""
    records = [to_json(b) for b in read(mail(HEAD + text, sender=sender)).bookings]
    rows = [tuple(r.get(f) for f in FIELDS) for r in records]
    return [row[: max(at for at, v in enumerate(row) if v is not None) + 1] for row in rows]


def asked(text: str) -> list[str]:
    return read(mail(HEAD + text)).missing


LAYOUTS: dict[str, tuple[str, list[tuple[Any, ...]]]] = {
    "two flights in one paragraph": (
        "KL1603 Amsterdam (AMS) - Rome (FCO)\n18 June 2027 20:55 - 23:10\nKL1604 Rome (FCO) - Amsterdam (AMS)\n"
        "19 June 2027 12:00 - 14:35\nEconomy\n",
        [("KL1603", "AMS", "FCO", "2027-06-18", "20:55", "2027-06-18", "23:10"),
         ("KL1604", "FCO", "AMS", "2027-06-19", "12:00", "2027-06-19", "14:35")],
    ),
    "airports and times above the number": (
        "Departing Friday, March 5, 2027\nBOS\nBoston\n7:10 PM\nLHR\nLondon Heathrow\n7:00 AM\nAA 6939\n\n"
        "Departing Saturday, March 6, 2027\nLHR\nLondon Heathrow\n9:25 AM\nFCO\nRome\n12:55 PM\nAA 6520\n",
        [("AA6939", "BOS", "LHR", "2027-03-05", "19:10", "2027-03-06", "07:00"),
         ("AA6520", "LHR", "FCO", "2027-03-06", "09:25", "2027-03-06", "12:55")],
    ),
    "one number over two sectors": (
        "SQ 25   JFK New York    FRA Frankfurt   10SEP27 20:55   11SEP27 11:05  Suites\n"
        "SQ 25   FRA Frankfurt   SIN Singapore   11SEP27 12:45   12SEP27 06:40  Suites\n",
        [("SQ25", "JFK", "FRA", "2027-09-10", "20:55", "2027-09-11", "11:05"),
         ("SQ25", "FRA", "SIN", "2027-09-11", "12:45", "2027-09-12", "06:40")],
    ),
    "one number on two days": (
        "BA0117 LHR-JFK 10 Mar 2027 08:25 11:20\nBA0117 LHR-JFK 17 Mar 2027 08:25 11:20\nEconomy\n",
        [("BA117", "LHR", "JFK", "2027-03-10", "08:25", "2027-03-10", "11:20"),
         ("BA117", "LHR", "JFK", "2027-03-17", "08:25", "2027-03-17", "11:20")],
    ),
    "the number between the airports": (
        "Your flight\nVCP\nCampinas\n02 Mar 2027 13:20\nFlight G3 4849\nFLN\nFlorianopolis\n02 Mar 2027 14:35\n",
        [("G34849", "VCP", "FLN", "2027-03-02", "13:20", "2027-03-02", "14:35")],
    ),
    "codes side by side": (
        "IB 3167  LHR  MAD  12MAR27  10:35  14:00\nIB 6841  MAD  EZE  13MAR27  23:55  08:20 +1\nTurista\n",
        [("IB3167", "LHR", "MAD", "2027-03-12", "10:35", "2027-03-12", "14:00"),
         ("IB6841", "MAD", "EZE", "2027-03-13", "23:55", "2027-03-14", "08:20")],
    ),
    "names and codes on both sides of a dash": (
        "Stockholm ARN - London LHR\n27 May 2027\n18:10 - 19:55\nTerminal 5 | SK 533 | SAS\n",
        [("SK533", "ARN", "LHR", "2027-05-27", "18:10", "2027-05-27", "19:55")],
    ),
    "an arrival before the departure": (
        "LH 400, Business Class (C)\n4 May 2027\nNew York JFK 16:05 - Frankfurt 05:50\n",
        [("LH400", "JFK", "FRA", "2027-05-04", "16:05", "2027-05-05", "05:50")],
    ),
    "over the date line": (
        "NZ 6 Auckland (AKL) - Los Angeles (LAX)\n9 July 2027 19:45 - 13:00\nEconomy\n",
        [("NZ6", "AKL", "LAX", "2027-07-09", "19:45", "2027-07-09", "13:00")],
    ),
    "as a reservation system prints it": (
        " 1. DL   38 Y  20JAN HKGSEA HS3  1145   0811  O           TH\n"
        " 2. AA 6939 J  21JAN JFKLHR HK1  1910  #0700  O*\n",
        [("DL38", "HKG", "SEA", "2027-01-20", "11:45", "2027-01-20", "08:11"),
         ("AA6939", "JFK", "LHR", "2027-01-21", "19:10", "2027-01-22", "07:00")],
    ),
    "the arrival named first": (
        "Flight BA117\nArrival: 10 Mar 2027 11:20 New York (JFK)\nDeparture: 10 Mar 2027 08:25 London (LHR)\nEconomy\n",
        [("BA117", "LHR", "JFK", "2027-03-10", "08:25", "2027-03-10", "11:20")],
    ),
    "labels such as a letter's own": (
        "Flight: AA 100\nAircraft\nBoeing 777-300ER\nFrom: JFK\nTo: LHR\nDate: 10 Mar 2027\nDeparts: 6:10 PM\n"
        "Arrives: 6:20 AM\nClass: Business\n",
        [("AA100", "JFK", "LHR", "2027-03-10", "18:10", "2027-03-11", "06:20")],
    ),
    "a list of seats below": (
        "Tue, 25MAY 2027\nDELTA 112*\nBOSTON       ROME-FIUMICINO\n05:20pm      **07:35am\n\n"
        "Sat, 05JUN 2027\nDELTA 113\nROME-FIUMICINO    BOSTON\n10:05am     01:25pm\n\n"
        "FLIGHT    SEAT\nDELTA 112 34C\nDELTA 113 33D\n",
        [("DL112", "BOS", "FCO", "2027-05-25", "17:20", "2027-05-26", "07:35"),
         ("DL113", "FCO", "BOS", "2027-06-05", "10:05", "2027-06-05", "13:25")],
    ),
    "Japanese, with full-width signs": (
        "２０２７年４月１８日(日)\nNH110便  東京(羽田) 10:50発 → ニューヨーク(JFK) 10:40着\nクラス：ビジネスクラス\n",
        [("NH110", "HND", "JFK", "2027-04-18", "10:50", "2027-04-18", "10:40")],
    ),
}  # fmt: skip


@pytest.mark.parametrize("layout", LAYOUTS)
def test_each_flight_gets_its_own_airports_days_and_times(layout: str) -> None:
    text, expected = LAYOUTS[layout]
    assert flights(text) == expected


@pytest.mark.parametrize(
    "line",
    ["Aircraft: Airbus A380", "Airbus A380-800", "Equipment: 77W", "Boeing 787-9", "Embraer E190", "A320",
     "CO2 emissions: 120 kg", "Operated by BA 175", "Operated by:\nBA 175", "Durchgeführt von: LX 175",
     "Opéré par KL 1824", "Operado por UX 1824", "Operato da AZ 1824", "Uitgevoerd door KL1824", "運航会社: JL175"],
)  # fmt: skip
def test_types_of_aircraft_and_numbers_of_partners_are_no_flights(line: str) -> None:
    text = f"AA 6939 Boston (BOS) - London (LHR)\n4 May 2027 19:10 - 07:00\n{line}\nBusiness\n"
    assert flights(text) == [("AA6939", "BOS", "LHR", "2027-05-04", "19:10", "2027-05-05", "07:00")]


@pytest.mark.parametrize(
    ("text", "field"),
    [
        ("BA2157 LGW-ANU 12 March 2027\n\nBA2157 LGW-ANU 13 March 2027 10:45 15:30\nEconomy\n", "departure_date"),
        ("10 Mar 2027 - 17 Mar 2027\n\nBA117\n08:25 London (LHR)\n11:20 New York (JFK)\n\nBA178\n"
         "18:30 New York (JFK)\n06:25 London (LHR)\nEconomy\n", "departure_date"),
        ("Wed 17 Mar 2027\nLH401 New York (JFK) 16:05 Frankfurt (FRA) 05:20 +1\nLH2 Frankfurt (FRA) 04:30 Hamburg (HAM)"
         " 05:35\nEconomy\n", "departure_date"),
        ("QF1 Sydney (SYD) - Singapore (SIN) - London (LHR)\n10 Mar 2027 16:40 - 06:10 +1\nEconomy\n", "origin"),
        ("BA 400 London - New York\n4 May 2027\nEconomy\n", "origin"),
        ("BA285 LHR-SFO 4 May 2027 10:40 - 06:30\nEconomy\n", "arrival_time"),
        ("BA285 LHR-SFO 4 May 2027 10:40 13:55\nBA287 LHR-SFO 4 May 2027 14:40 17:55\nEconomy\n", "flight_number"),
    ],
)  # fmt: skip
def test_what_contradicts_itself_or_cannot_be_is_asked(text: str, field: str) -> None:
    assert field in asked(text)


CHANGES = {
    "English": ("Your flight has changed.\n\nPrevious flight\nBA285 LHR-SFO 4 May 2027 10:40 13:55\n\n"
                "New flight\nBA287 LHR-SFO 4 May 2027 14:40 17:55\n"),
    "German": ("Flugplanänderung\n\nBisheriger Flug:\nBA285 LHR-SFO 4. Mai 2027 10:40 13:55\n\n"
               "Neuer Flug:\nBA287 LHR-SFO 4. Mai 2027 14:40 17:55\n"),
    "French": ("Modification de votre vol\n\nAncien vol :\nBA285 LHR-SFO 4 mai 2027 10:40 13:55\n\n"
               "Nouveau vol :\nBA287 LHR-SFO 4 mai 2027 14:40 17:55\n"),
    "Spanish": ("Cambio en su vuelo\n\nVuelo anterior\nBA285 LHR-SFO 4 mayo 2027 10:40 13:55\n\n"
                "Nuevo vuelo\nBA287 LHR-SFO 4 mayo 2027 14:40 17:55\n"),
    "Italian": ("Modifica del tuo volo\n\nVolo precedente\nBA285 LHR-SFO 4 maggio 2027 10:40 13:55\n\n"
                "Nuovo volo\nBA287 LHR-SFO 4 maggio 2027 14:40 17:55\n"),
    "Dutch": ("Wijziging van uw vlucht\n\nOude vlucht\nBA285 LHR-SFO 4 mei 2027 10:40 13:55\n\n"
              "Nieuwe vlucht\nBA287 LHR-SFO 4 mei 2027 14:40 17:55\n"),
    "Japanese": ("時刻変更のお知らせ\n\n変更前\nBA285 LHR-SFO 2027年5月4日 10:40 13:55\n\n"
                 "変更後\nBA287 LHR-SFO 2027年5月4日 14:40 17:55\n"),
}  # fmt: skip


@pytest.mark.parametrize("language", CHANGES)
def test_the_old_part_of_a_letter_of_change_is_never_read_as_a_flight(language: str) -> None:
    result = read(mail(HEAD + CHANGES[language]))
    assert [(to_json(b)["flight_number"], b.action) for b in result.bookings] == [("BA287", "change")]


def test_an_offer_in_a_letter_is_no_flight_of_it() -> None:
    text = "BA117 LHR-JFK 10 Mar 2027 08:25 11:20\nEconomy\nFlights you may like: BA15 LHR-SIN 20 Mar 2027\n"
    assert [row[0] for row in flights(text)] == ["BA117"]


@pytest.mark.parametrize("card", ["EK 512 8** *07", "EK 51**** 07", "EK 5••••8812", "EK 512 881 207"])
def test_the_number_of_a_member_is_no_flight(card: str) -> None:
    text = f"Booking reference: X7Y8Z9\nEK 18 Manchester (MAN) - Dubai (DXB) 4 May 2027 20:35 07:00\nSkywards {card}\n"
    assert [b.flight_number for b in read(mail(text)).bookings] == ["EK18"]  # type: ignore[union-attr]


def test_a_flight_without_a_cabin_of_its_own_does_not_take_that_of_another() -> None:
    text = (
        "Booking reference: X7Y8Z9\nBA117  LHR-JFK  4 May 2027  08:25 11:15  Business\n\n"
        "BA118  JFK-LHR  9 May 2027  18:25 06:15  Cloud Nine\n"
    )
    assert [b.cabin_class for b in read(mail(text)).bookings] == ["business", None]  # type: ignore[union-attr]


TWO = (
    "Booking confirmation\n18 June 2027\nKL1603 Amsterdam (AMS) 20:55 - Rome (FCO) 23:10\nEconomy\n\n{}\n\n"
    "KL1605 Rome (FCO) 06:00 - Amsterdam (AMS) 08:35\n19 June 2027\n"
)


@pytest.mark.parametrize(
    "line",
    [
        "Ticket desk: 4 Mill Lane, London TW6 3QA",
        "Head office: Chorley House, Slough SL1 4LL",
        "Gate B24",
        "Flugsteig A8",
        "搭乗口 B24",
        "Invoice no. 77 of 9 November 2026",
        "Rechnung 77 vom 9. November 2026",
        "Book by Sunday 31 January 2027!",
        "Offre à saisir jusqu'au 31 janvier 2027",
        "Boek voor 31 januari 2027",
        "2027年1月31日までのご予約で",
        "Paid with Visa ending 1234 on 9 November 2026",
        "Your previous booking K8PLM2 (14 March 2026) is in your account",
    ],
)
def test_a_line_between_two_flights_is_no_part_of_them(line: str) -> None:
    assert flights(TWO.format(line)) == flights(TWO.format(""))


@pytest.mark.parametrize(
    ("line", "origin", "destination"),
    [
        ("LH 115 nach München (MUC) von Frankfurt (FRA)", "FRA", "MUC"),
        ("LH 115 von Frankfurt (FRA) nach München (MUC)", "FRA", "MUC"),
        ("Flight LH 115 to Munich from Frankfurt", "FRA", "MUC"),
        ("Flight LH 115 from Frankfurt to Munich", "FRA", "MUC"),
        ("IB 3167 a Barcelona (BCN) desde Madrid (MAD)", "MAD", "BCN"),
        ("IB 3167 de Madrid (MAD) a Barcelona (BCN)", "MAD", "BCN"),
        ("AF 6200 à destination de Nice (NCE) au départ de Paris (ORY)", "ORY", "NCE"),
        ("AF 6200 de Paris (ORY) à Nice (NCE)", "ORY", "NCE"),
        ("AZ 2010 a Roma (FCO) da Milano (LIN)", "LIN", "FCO"),
        ("LA 3340 para Rio de Janeiro (GIG) de São Paulo (GRU)", "GRU", "GIG"),
        ("LA 3340 São Paulo (GRU) - Rio de Janeiro (GIG)", "GRU", "GIG"),
        ("KL 1001 naar Londen (LHR) vanuit Amsterdam (AMS)", "AMS", "LHR"),
        ("SK 1501 till London (LHR) från Köpenhamn (CPH)", "CPH", "LHR"),
        ("LO 281 do Londynu (LHR) z Warszawy (WAW)", "WAW", "LHR"),
        ("TK 1979 Londra'ya (LHR) İstanbul'dan (IST)", "IST", "LHR"),
        ("SU 1234 в Сочи (AER) из Москвы (SVO)", "SVO", "AER"),
    ],
)
def test_where_a_flight_goes_may_stand_before_where_it_leaves(line: str, origin: str, destination: str) -> None:
    reading = read(mail(f"Booking reference: X7Y8Z9\n\n{line}\n12 Mar 2027\nEconomy\n\nTotal: 212.00 EUR\n"))
    assert [(to_json(b).get("origin"), to_json(b).get("destination")) for b in reading.bookings] == [
        (origin, destination)
    ]


@pytest.mark.parametrize("clock", ["0950hrs", "0950 hrs", "0950 hours", "0950h", "09:50"])
def test_clock_times_without_a_colon_are_read(clock: str) -> None:
    text = f"Booking reference: X7Y8Z9\nBA 304\n9 Mar 2027\nDepart London (LHR) {clock}\nArrive Paris (CDG) 12:05\n"
    assert to_json(read(mail(text)).bookings[0])["departure_time"] == "09:50"


def test_the_number_of_the_airline_that_operates_a_flight_is_no_flight_of_its_own() -> None:
    row = "AA 6145\tBA 175\tLHR\tJFK\t9 Mar 2027\t11:20\t14:15\tBusiness\n"
    head = "Marketing flight\tOperating flight\tFrom\tTo\tDate\tDep\tArr\tCabin\n"
    reading = read(mail(f"Booking reference: X7Y8Z9\nTotal price: GBP 912.00\n\n{head}{row}"))
    assert ([to_json(b)["flight_number"] for b in reading.bookings], reading.missing) == (["AA6145"], [])


@pytest.mark.parametrize(("line", "flight"), [("Lot LO 3925", "LO3925"), ("Reis LO 281", "LO281"), ("AM 001", "AM1")])
def test_a_code_that_is_also_a_word_is_a_flight_above_two_airports_with_their_times(line: str, flight: str) -> None:
    text = f"{line}\nWylot: Warszawa (WAW) 17 marca 2027, 07:20\nPrzylot: Londyn (LHR) 17 marca 2027, 09:15\n"
    assert [to_json(b)["flight_number"] for b in read(mail(text)).bookings] == [flight]


@pytest.mark.parametrize("line", ["Room NO 305", "Zone AM 12", "Ref ID 281", "Gate LO 28"])
def test_such_a_code_behind_a_word_and_a_short_number_is_no_flight(line: str) -> None:
    text = f"{line}\nWylot: Warszawa (WAW) 17 marca 2027, 07:20\nPrzylot: Londyn (LHR) 17 marca 2027, 09:15\n"
    assert read(mail(text)).bookings == []


@pytest.mark.parametrize(
    ("cabin", "price", "expected"),
    [
        ("객실: 일반석", "총 금액: 1,450,000원", ("economy", 1450000, "KRW")),
        ("좌석: 비즈니스석", "결제 금액: 3,120,000원", ("business", 3120000, "KRW")),
        ("客艙: 經濟客艙", "總金額: HKD 6,412", ("economy", 6412, "HKD")),
        ("舱位: 商务舱", "总金额: CNY 8,100", ("business", 8100, "CNY")),
        ("客艙: 特選經濟客艙", "總額: HKD 9,000", ("premium_economy", 9000, "HKD")),
    ],
)
def test_cabins_and_prices_of_korean_and_chinese_letters(
    cabin: str, price: str, expected: tuple[str, int, str]
) -> None:
    text = f"已確認 예약 확정\n예약번호: X7Y8Z9\nCX 251\nHKG - LHR 2027-04-05 23:05 - 05:45+1\n{cabin}\n{price}\n"
    booking = to_json(read(mail(text)).bookings[0])
    assert (booking.get("cabin_class"), booking.get("cash_paid"), booking.get("taxes_currency")) == expected
