"""The days of flights that land on a later one: what is said of an arrival is no day of departure."""

import pytest

from shared.domain.confirmations.model import BookedLeg, to_json
from tests.shared.domain.confirmations.mails import mail, read

HEAD = "Booking reference: X7Y8Z9\n"
OVERNIGHT = [("LX317", "LHR", "ZRH", "2027-05-04 17:25"), ("LX180", "ZRH", "BKK", "2027-05-04 22:40")]
ONWARD = [("LX15", "JFK", "ZRH", "2027-05-04 20:40"), ("LX316", "ZRH", "LHR", "2027-05-05 12:10")]


def _read_rows(text: str) -> list[tuple[str, ...]]:
    legs = [to_json(b) for b in read(mail(HEAD + text)).bookings if isinstance(b, BookedLeg)]
    names = ("flight_number", "origin", "destination")
    return [(*(x[n] for n in names), f"{x.get('departure_date')} {x.get('departure_time')}") for x in legs]


LANDINGS = {
    "German": (
        "Dienstag, 4. Mai 2027 London - Bangkok\n\n17:25 London (LHR)\n20:10 Zürich (ZRH)\nLX317\n\n"
        "22:40 Zürich (ZRH)\n14:35 Uhr +1 Tag\nMittwoch, 5. Mai 2027\nBangkok (BKK)\nLX180\n"
    ),
    "Dutch, number first": (
        "Heenreis dinsdag 4 mei 2027\n\nLX317\n17:25\tLondon (LHR)\n20:10\tZürich (ZRH)\n\n"
        "LX180\n22:40\tZürich (ZRH)\n14:35 (+1)\tBangkok (BKK)\nwoensdag 5 mei 2027\n"
    ),
    "Italian, in a cell": (
        "ANDATA martedì 4 maggio 2027\n\n17:25\nLondra (LHR)\tLX317\t20:10\nZurigo (ZRH)\n\n"
        "22:40\nZurigo (ZRH)\tLX180\t14:35 +1\nBangkok (BKK)\nmercoledì 5 maggio 2027\tEconomy\n"
    ),
    "English, arrives": (
        "Outbound Tuesday, May 4, 2027\n\nLX317\n5:25 PM London (LHR)\n8:10 PM Zurich (ZRH)\n\n"
        "LX180\n10:40 PM Zurich (ZRH)\n2:35 PM Bangkok (BKK)\nArrives Wednesday, May 5, 2027\n"
    ),
    "Portuguese, one line": (
        "Ida: terça-feira, 4 de maio de 2027\n\nLX317 London (LHR) 17:25 - Zurique (ZRH) 20:10\n\n"
        "LX180 Zurique (ZRH) 22:40 - Bangkok (BKK) 14:35 +1 5 de maio de 2027\n"
    ),
    "Japanese": (
        "往路 2027年5月4日(火)\n\nLX317\n17:25 ロンドン (LHR)\n20:10 チューリッヒ (ZRH)\n\n"
        "LX180\n22:40 チューリッヒ (ZRH)\n14:35 +1 バンコク (BKK)\n到着日：2027年5月5日(水)\n"
    ),
    "French, arrival": (
        "Aller : mardi 4 mai 2027\n\n17h25 Londres (LHR)\n20h10 Zurich (ZRH)\nLX317\n\n"
        "22h40 Zurich (ZRH)\n14h35 Bangkok (BKK)\nArrivée le mercredi 5 mai 2027\nLX180\n"
    ),
    "Spanish, llegada": (
        "Ida, martes 4 de mayo de 2027\n\nLX317\n17:25 Londres (LHR)\n20:10 Zúrich (ZRH)\n\n"
        "LX180\n22:40 Zúrich (ZRH)\n14:35 Bangkok (BKK)\nLlegada: miércoles, 5 de mayo de 2027\n"
    ),
}


@pytest.mark.parametrize("layout", LANDINGS)
def test_the_day_of_a_landing_is_not_that_on_which_the_flight_leaves(layout: str) -> None:
    assert _read_rows(LANDINGS[layout]) == OVERNIGHT


DAYS_LATER = {
    "English": (
        "Depart Tue 4 May, 2027\n\n20:40\nNew York (JFK)\t10:25 +1 day\nZurich (ZRH)\tLX15\n\n"
        "12:10 +1 day\nZurich (ZRH)\t13:00 +1 day\nLondon (LHR)\tLX316\n"
    ),
    "German": (
        "Hinflug Di. 04. Mai 2027\n\n20:40 Uhr New York (JFK) - 10:25 Uhr (+1) Zürich (ZRH)\nLX15\n\n"
        "12:10 Uhr (+1) Zürich (ZRH) - 13:00 Uhr (+1) London (LHR)\nLX316\n"
    ),
    "French": (
        "Aller mardi 4 mai 2027\n\nLX15\nNew York (JFK) 20:40\nZurich (ZRH) 10:25 +1j\n\n"
        "LX316\nZurich (ZRH) 12:10 +1j\nLondres (LHR) 13:00 +1j\n"
    ),
    "Spanish": (
        "Ida - martes, 4 de mayo de 2027\n\nLX15  JFK 20:40 - ZRH 10:25 (+1 día)\n"
        "LX316  ZRH 12:10 (+1 día) - LHR 13:00 (+1 día)\n"
    ),
    "Japanese": (
        "往路 2027年5月4日(火)\n\nLX15\nニューヨーク (JFK) 20:40\nチューリッヒ (ZRH) 翌日10:25\n\n"
        "LX316\nチューリッヒ (ZRH) 翌日12:10\nロンドン (LHR) 翌日13:00\n"
    ),
}


@pytest.mark.parametrize("layout", DAYS_LATER)
def test_days_later_count_from_the_day_that_heads_the_journey(layout: str) -> None:
    assert _read_rows(DAYS_LATER[layout]) == ONWARD


LENGTHS = ["3 h 10, sans escale", "3 h 10", "durée 3 h 10", "Vol direct, 3 h 10 min"]


@pytest.mark.parametrize("length", LENGTHS)
def test_hours_written_apart_are_no_clock_beside_joined_ones(length: str) -> None:
    text = f"Aller mardi 4 mai 2027\nParis (ORY)\n17h20\n{length}\nCasablanca (CMN)\n19h30\nAT763\n"
    assert _read_rows(text) == [("AT763", "ORY", "CMN", "2027-05-04 17:20")]


BORROWED = {
    "English": (
        "Outbound Tuesday, May 4, 2027\n\nLX317\n17:25 London (LHR)\n20:10 Zurich (ZRH)\n\n"
        "LX180\n22:40 Zurich (ZRH)\n14:35 Bangkok (BKK)\nWednesday, May 5, 2027\n"
    ),
    "German, number last": (
        "Hinflug: Dienstag, 4. Mai 2027\n\n17:25 Uhr London (LHR)\n20:10 Uhr Zürich (ZRH)\nLX317\n\n"
        "22:40 Uhr Zürich (ZRH)\n14:35 Uhr Bangkok (BKK)\nMi., 5. Mai 2027\nLX180\n"
    ),
    "Spanish, in a cell": (
        "IDA martes 4 de mayo de 2027\n\n17:25\nLondres (LHR)\tLX317\t20:10\nZúrich (ZRH)\n\n"
        "22:40\nZúrich (ZRH)\tLX180\t14:35\nBangkok (BKK)\nmiércoles 5 de mayo de 2027\n"
    ),
}


@pytest.mark.parametrize("layout", BORROWED)
def test_a_day_that_stands_only_beside_the_arrival_of_one_flight_is_asked(layout: str) -> None:
    result = read(mail(HEAD + BORROWED[layout]))
    days = [to_json(b).get("departure_date") for b in result.bookings]
    assert days[0] == "2027-05-04"
    assert days[1] == "2027-05-04" or "departure_date" in result.missing


def test_a_day_in_brackets_behind_the_second_clock_is_that_of_the_landing() -> None:
    for clocks in ("09:55pm - 06:31am (Jul 10)", "21:55 - 06:31 (10 July)", "21:55 Uhr - 06:31 Uhr (10. Juli 2027)"):
        text = f"SFO to BOS  Fri, Jul 9, 2027\nFlight B6 634  {clocks}\nTotal: $1,023.60\n"
        assert _read_rows(text) == [("B6634", "SFO", "BOS", "2027-07-09 21:55")]


def test_a_day_behind_every_flight_is_that_of_its_departure() -> None:
    text = "LX317 London (LHR) 17:25 - Zurich (ZRH) 20:10\n4 May 2027\nLX180 Zurich (ZRH) 22:40 - Bangkok (BKK) 14:35\n"
    assert _read_rows(f"{text}5 May 2027\n") == [OVERNIGHT[0], ("LX180", "ZRH", "BKK", "2027-05-05 22:40")]


def test_the_word_of_a_flight_that_was_called_off_is_no_label_of_the_day_below() -> None:
    legs = (
        "7 March 2027\nKL 1025\n08:20 Amsterdam (AMS)\n08:35 London (LHR)\n{}\n\n"
        "9 March 2027\nKL 1024\n18:20 London (LHR)\n20:40 Amsterdam (AMS)\n"
    )
    found = {word: _read_rows(f"Your booking is confirmed.\n{legs.format(word)}") for word in ("Cancelled", "Ticketed")}
    way_back = ("KL1024", "LHR", "AMS", "2027-03-09 18:20")
    assert {word: rows[-1] for word, rows in found.items()} == dict.fromkeys(found, way_back)


def test_over_the_date_line_one_lands_the_day_before() -> None:
    text = "Flight NH 8\nLeaves: 2027-03-11 00:55 Tokyo (HND)\nIn: 2027-03-10 17:20 San Francisco (SFO)\nEconomy\n"
    (leg,) = read(mail(f"{HEAD}{text}Your booking is confirmed.\n")).bookings
    stored = to_json(leg)
    assert (stored["departure_date"], stored["arrival_date"]) == ("2027-03-11", "2027-03-10")


def test_a_day_of_the_week_that_is_not_that_of_its_day_is_asked() -> None:
    wrong = []
    for day in ("Wed 11 May 2027", "Mittwoch, 11.05.2027", "Sun, May 11, 2027", "Lundi 11/05/2027", "Fri 2027-05-11"):
        reading = read(mail(f"{HEAD}W6 2201 Budapest (BUD) - London (LTN) {day} 06:00 - 07:35\nTotal 88 EUR\n"))
        wrong += [] if "departure_date" in reading.missing else [day]
    assert wrong == []
