"""Layouts of letters that name a flight: columns of a change, days of arrival, hours and rows of an agency."""

from typing import Any

import pytest

from tests.shared.domain.confirmations.mails import mail, read

FLIGHT = "Booking reference: HX7KMR\n\n"


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
