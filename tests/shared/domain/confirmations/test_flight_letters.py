"""Layouts of letters that name a flight: columns of a change, days of arrival, hours and rows of an agency."""

from typing import Any

import pytest

from shared.domain.confirmations.model import BookedLeg
from tests.shared.domain.confirmations.mails import mail, read

FLIGHT = "Booking reference: HX7KMR\n\n"


def _read_flights(text: str | None, page: str | None = None) -> list[str]:
    """Each flight as "KL677 AMS YYC 2026-06-19 13:10 13:55"."""
    bookings = read(mail(text, page=page)).bookings
    return [
        f"{b.flight_number} {b.origin} {b.destination} {b.departure_date}"
        f" {b.departure_time:%H:%M} {b.arrival_time:%H:%M}"
        for b in bookings
        if isinstance(b, BookedLeg) and b.departure_time and b.arrival_time
    ]


def _read_leg(text: str | None, page: str | None = None) -> Any:
    return read(mail(text, page=page)).bookings[0]


def test_the_new_column_of_a_change_counts() -> None:
    rows = (("", "Old", "New"), ("Flight", "KL 677", "KL 677"), ("Route", "AMS - YYC", "AMS - YYC"))
    rows += (("Date", "19 Jun 2026", "19 Jun 2026"), ("Departure", "14:35", "13:10"), ("Arrival", "15:20", "13:55"))
    cells = "".join("<tr>" + "".join(f"<td>{cell}</td>" for cell in row) + "</tr>" for row in rows)
    leg = _read_leg(None, f"<p>Your flight has been changed.</p><p>Booking code: HX7KMR</p><table>{cells}</table>")
    assert (leg.flight_number, str(leg.departure_time), leg.action) == ("KL677", "13:10:00", "change")


def test_hours_with_hrs_are_times() -> None:
    leg = _read_leg(FLIGHT + "Flight 6E 2134\nSun, 28 Feb 27\nDeparture 06:10 hrs BLR\nArrival 08:55 hrs DEL\n")
    assert (str(leg.departure_time), str(leg.arrival_time)) == ("06:10:00", "08:55:00")


def test_a_day_of_arrival_is_none_of_departure() -> None:
    body = "Outbound flight, 25.04.2026\n22:40  Zurich (ZRH)\n05:50  São Paulo (GRU)   arrival on 26.04.2026\nLX 92\n\n"
    back = "Inbound flight, 09.05.2026\n18:55  São Paulo (GRU)\n11:00  Zurich (ZRH)   arrival on 10.05.2026\nLX 93\n"
    leg = _read_leg(FLIGHT + body + back)
    assert (str(leg.departure_date), str(leg.arrival_date)) == ("2026-04-25", "2026-04-26")


def test_a_row_may_begin_with_its_day() -> None:
    leg = _read_leg("Filekey: HMK7XR\n\nSa 14MRZ TK 1588  E   FRANKFURT RHEIN MAIN   IZMIR   14:25  19:35\n")
    assert (leg.flight_number, str(leg.departure_date)) == ("TK1588", "2026-03-14")


@pytest.mark.parametrize("words", ["Ihr Flug W6 2315 wurde annulliert.", "Ihr Flug W6 2315 ist annulliert."])
def test_a_flight_struck_out_is_no_booking(words: str) -> None:
    text = f"{words}\n\nBestätigungscode: MRH7XK\nFlug: W6 2315\nMemmingen (FMM) - Skopje (SKP)\nDatum: 17.05.2026\n"
    assert {b.action for b in read(mail(text)).bookings} == {"cancel"}


def test_a_code_before_the_name_of_its_city_says_which_airport() -> None:
    row = "BR 12   TPE Taipei Taoyuan (T2)  -  LAX Los Angeles (Tom Bradley)   23 May 2026   19:20   16:40"
    leg = _read_leg(f"{FLIGHT}{row}\n")
    assert (leg.origin, leg.destination) == ("TPE", "LAX")


@pytest.mark.parametrize(
    "line",
    [
        "NO 612\tMilan Malpensa (MXP)\t4 May 2027\t09:15\tZanzibar (ZNZ)\t19:40",
        "Milan (MXP) - Zanzibar (ZNZ), 4 May 2027, 09:15 - 19:40, NO 612",
        "Volo: NO 612, Milan (MXP) - Zanzibar (ZNZ), 4 maggio 2027, ore 09.15 - ore 19.40",
    ],
)
def test_a_code_that_is_a_word_counts_where_it_stands_apart(line: str) -> None:
    assert _read_flights(f"{FLIGHT}{line}\n") == ["NO612 MXP ZNZ 2027-05-04 09:15 19:40"]


@pytest.mark.parametrize(
    "line", ["NO 12 of your 4 May 2027 letter, MXP 10:05", "Invoice NO 612 4 May 2027 10:05 Milan"]
)
def test_a_word_before_a_number_is_no_airline(line: str) -> None:
    assert _read_flights(f"{FLIGHT}{line}\n") == []


def test_a_japanese_number_may_have_three_letters_in_full_width() -> None:
    text = "ＪＡＬ１１５便　東京(羽田)（１１：３０発）→ 大阪(伊丹)（１２：３５着）\n"
    assert _read_flights(f"予約番号：HX7KMR\n\n2027年5月4日（火）\n{text}") == ["JL115 HND ITM 2027-05-04 11:30 12:35"]


def test_the_day_of_a_heading_goes_on_to_the_flight_onward() -> None:
    text = "LH401 New York (JFK) 16:05 Frankfurt (FRA) 05:20 +1\nLH2 Frankfurt (FRA) 06:30 Hamburg (HAM) 07:35\n"
    assert _read_flights(f"{FLIGHT}Wed 17 Mar 2027\n{text}") == [
        "LH401 JFK FRA 2027-03-17 16:05 05:20",
        "LH2 FRA HAM 2027-03-18 06:30 07:35",
    ]


def test_flights_side_by_side_are_told_apart() -> None:
    rows = (("", "Hinflug", "Rückflug"), ("Datum", "04.05.2027", "12.05.2027"), ("Flug", "LX 14", "LX 15"))
    rows += (("Von", "Zürich (ZRH)", "New York (JFK)"), ("Nach", "New York (JFK)", "Zürich (ZRH)"))
    rows += (("Abflug", "13:00 Uhr", "20:40 Uhr"), ("Ankunft", "15:35 Uhr", "10:25 Uhr"))
    cells = "".join("<tr>" + "".join(f"<td>{cell}</td>" for cell in row) + "</tr>" for row in rows)
    page = f"<p>Buchungscode: HX7KMR</p><table>{cells}</table>"
    assert _read_flights(None, page) == ["LX14 ZRH JFK 2027-05-04 13:00 15:35", "LX15 JFK ZRH 2027-05-12 20:40 10:25"]


SENTENCES = {
    "English": "You leave Zurich at 13:00 on 4 May 2027 with LX 14 and land at New York JFK at 15:35. You return with"
    " LX 15 from New York JFK to Zurich on 12 May, departing at 20:40 and arriving at 10:25 the next day.",
    "German": "Am 4. Mai 2027 geht es mit LX 14 um 13:00 Uhr von Zürich nach New York JFK (Ankunft 15:35 Uhr) und am"
    " 12. Mai 2027 mit LX 15 um 20:40 Uhr von New York JFK nach Zürich (Ankunft 10:25 Uhr am Folgetag).",
    "French": "Aller : le 4 mai 2027, vol LX 14 de Zurich (13h00) à New York JFK (15h35). Retour : le 12 mai 2027, vol"
    " LX 15 de New York JFK (20h40) à Zurich (10h25).",
    "Portuguese": "Parte de Zurique no dia 4 de maio de 2027 às 13h00 no voo LX 14 e chega a Nova Iorque JFK às 15h35."
    " Regressa no dia 12 de maio de 2027 no voo LX 15, que sai de Nova Iorque JFK às 20h40 e chega a Zurique às 10h25.",
}


@pytest.mark.parametrize("language", SENTENCES)
def test_flights_are_read_from_sentences(language: str) -> None:
    legs = _read_flights(f"{FLIGHT}{SENTENCES[language]}\n")
    assert legs == ["LX14 ZRH JFK 2027-05-04 13:00 15:35", "LX15 JFK ZRH 2027-05-12 20:40 10:25"]


def test_a_sentence_that_can_be_read_two_ways_is_asked() -> None:
    text = (
        "You go with LX 14 and LX 15, from Zurich to New York JFK on 4 May 2027 at 13:00 and on 12 May 2027 at 20:40."
    )
    assert "departure_date" in read(mail(f"{FLIGHT}{text}\n")).missing


@pytest.mark.parametrize("back", ["12 May", "Wed 12 May"])
def test_a_day_without_a_year_is_beside_the_others_of_the_letter(back: str) -> None:
    text = f"Out: LX 14 ZRH-JFK, 4 May 2027, 13:00 15:35\nBack: LX 15 JFK-ZRH, {back}, 20:40 10:25\n"
    assert [str(b.departure_date) for b in read(mail(FLIGHT + text)).bookings] == ["2027-05-04", "2027-05-12"]


def test_a_sentence_of_a_change_tells_the_time_that_was_planned_first() -> None:
    text = "LX 14 of 4 May 2027 (ZRH-JFK), scheduled at 13:00, now leaves at 13:40 and lands at 16:15."
    assert _read_flights(f"{FLIGHT}Your flight has been changed. {text}") == ["LX14 ZRH JFK 2027-05-04 13:40 16:15"]


def test_an_hour_above_the_first_airport_is_that_of_its_departure() -> None:
    text = "Tuesday 4 May 2027\n\n13:00\nZRH\nZurich\n15:35\nJFK\nNew York\n\nLX 14\n"
    assert _read_flights(FLIGHT + text) == ["LX14 ZRH JFK 2027-05-04 13:00 15:35"]


@pytest.mark.parametrize("account", ["LX 81***204", "LX 5 ****17", "LX 3•••••118", "LX 44XXXX19"])
def test_the_number_of_an_account_is_no_flight(account: str) -> None:
    text = f"Frequent flyer  {account}\n\nLX 14 ZRH-JFK, 4 May 2027, 13:00 15:35\n"
    assert _read_flights(FLIGHT + text) == ["LX14 ZRH JFK 2027-05-04 13:00 15:35"]


def test_a_number_with_the_sign_of_a_footnote_is_a_flight() -> None:
    text = "LX 3014*\tZurich (ZRH)\tNew York (JFK)\t4 May 2027\t13:00\t15:35\n*Operated by Edelweiss\n"
    assert _read_flights(FLIGHT + text) == ["LX3014 ZRH JFK 2027-05-04 13:00 15:35"]


def test_spanish_halves_of_the_day_and_a_code_that_looks_like_one() -> None:
    text = "Ida 4 may. 2027\nAM 404\tCancún (CUN) 01:05 p. m.\tNueva York (JFK) 06:10 p. m.\n"
    assert _read_flights(FLIGHT + text) == ["AM404 CUN JFK 2027-05-04 13:05 18:10"]
    rows = "Ida 4 may. 2027\n\nCUN\n12:50\tAM 404\nOperado por Delta\tJFK\n17:55\n"
    assert _read_flights(FLIGHT + rows) == ["AM404 CUN JFK 2027-05-04 12:50 17:55"]


def test_a_length_beside_times_with_a_colon_is_no_time() -> None:
    text = "4 mai 2027\n13:00\nZurich (ZRH)\t8h35\nLX 14\t15:35\nNew York (JFK)\n"
    assert _read_flights(FLIGHT + text) == ["LX14 ZRH JFK 2027-05-04 13:00 15:35"]


def test_a_heading_may_count_the_stops() -> None:
    cell = "{}\n{}\n\n{}\nEconomy\n\n{}\n{}\n\n"
    there = cell.format("08:10", "SCL", "LA 2367", "10:10", "LIM") + cell.format(
        "12:30", "LIM", "LA 2025", "13:55", "CUZ"
    )
    back = cell.format("15:10", "CUZ", "LA 2026", "16:40", "LIM") + cell.format(
        "20:10", "LIM", "LA 2370", "01:45", "SCL"
    )
    head = "miércoles 3 de febrero de 2027\tSantiago a Cusco\t1 escala\n\n"
    text = f"Vuelo de ida\n{head}{there}Vuelo de vuelta\n{head.replace('miércoles 3', 'viernes 12')}{back}"
    assert _read_flights(FLIGHT + text) == [
        "LA2367 SCL LIM 2027-02-03 08:10 10:10",
        "LA2025 LIM CUZ 2027-02-03 12:30 13:55",
        "LA2026 CUZ LIM 2027-02-12 15:10 16:40",
        "LA2370 LIM SCL 2027-02-12 20:10 01:45",
    ]


def test_a_city_in_capitals_has_no_code_in_its_name() -> None:
    leg = _read_leg(f"{FLIGHT}DL 845\nSat, 06MAR 2027\nATLANTA\n02:50pm\nMONTEGO BAY\n05:43pm\n")
    assert (leg.origin, leg.destination) == ("ATL", "MBJ")


def test_the_cabin_of_a_mixed_journey_is_that_of_each_flight() -> None:
    out = "LX 14 ZRH-JFK, 4 May 2027, 13:00 15:35\nBusiness (C)\n\n"
    legs = read(mail(f"{FLIGHT}{out}LX 15 JFK-ZRH, 12 May 2027, 20:40 10:25\nPremium (P)\n")).bookings
    assert [leg.cabin_class for leg in legs if isinstance(leg, BookedLeg)] == ["business", "premium_economy"]


PRINTOUTS = {
    "leave and arrive": "14 MAY  -  FRIDAY\nAIR   SWISS INTL   FLT:14    ECONOMY\n      LV ZURICH ZRH    100P\n"
    "      AR NEW YORK JFK    335P   NON-STOP\n",
    "times below": "Fri 14 May 27 LX 14    Zurich (ZRH)     New York (JFK)\n               1300             1535\n",
    "day below": "SWISS INTL AIR - LX 14\nFRI 14MAY27     ZURICH (ZRH)    NEW YORK (JFK)   1300   1535\n",
}


@pytest.mark.parametrize("layout", PRINTOUTS)
def test_reservation_systems_print_times_without_a_colon(layout: str) -> None:
    result = read(mail(FLIGHT + PRINTOUTS[layout])).bookings[0]
    assert isinstance(result, BookedLeg)
    assert (result.flight_number, result.origin, result.destination) == ("LX14", "ZRH", "JFK")
    assert (str(result.departure_time), str(result.arrival_time)) == ("13:00:00", "15:35:00")


def test_a_day_in_brackets_behind_the_second_time_is_that_of_landing() -> None:
    text = "Zurich - New York, Tuesday 4 May 2027\n\nLX 15\t20:40 New York (JFK)\t10:25 (5 May) Zurich (ZRH)\n"
    assert _read_flights(FLIGHT + text) == ["LX15 JFK ZRH 2027-05-04 20:40 10:25"]


def test_a_word_of_the_way_stands_before_a_number() -> None:
    text = "Heenvlucht HV 5131\ndi 4 mei 2027\n06.10 uur Amsterdam (AMS)\n09.45 uur Málaga (AGP)\n"
    assert _read_flights(FLIGHT + text) == ["HV5131 AMS AGP 2027-05-04 06:10 09:45"]


def test_a_cabin_may_be_broken_at_the_end_of_a_line() -> None:
    text = "LX 14 Zurich (ZRH) - New York (JFK) 4 May 2027 13:00 15:35 Premium\nEconomy (P)\n"
    assert _read_leg(FLIGHT + text).cabin_class == "premium_economy"
