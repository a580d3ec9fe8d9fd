"""What a letter of a change says of the plan as it was is never taken for the plan as it is."""

import pytest

from shared.domain.confirmations.model import BookedLeg, BookedStay
from tests.shared.domain.confirmations.mails import mail, read

HEAD = (
    "Booking reference: X7KQPM\nThe times of your flight have changed.\n"
    "LH 1028 Frankfurt (FRA) - Paris (CDG)\n20 Apr 2027\n"
)
TIMES = (
    "Original departure: 07:10\nNew departure: 07:40\nOriginal arrival: 08:25\nNew arrival: 08:55\n",
    "Departure: 07:10 → 07:40\nArrival: 08:25 → 08:55\n",
    "Departure: 07:40 (previously 07:10)\nArrival: 08:55 (old: 08:25)\n",
    "Abflug neu: 07:40 Uhr (alt: 07:10 Uhr)\nAnkunft neu: 08:55 Uhr (alt: 08:25 Uhr)\n",
    "Salida: 07:40 (antes: 07:10)\nLlegada: 08:55 (antes: 08:25)\n",
)
FLIGHTS = (
    "Alt: LH 1028 Frankfurt (FRA) - Paris (CDG) 20.04.2027 07:10 - 08:25\n"
    "Neu: LH 1034 Frankfurt (FRA) - Paris (CDG) 20.04.2027 10:10 - 11:25\n",
    "Antes: LH1028 Fráncfort (FRA) - París (CDG) 20/04/2027 07:10 - 08:25\n"
    "Ahora: LH1034 Fráncfort (FRA) - París (CDG) 20/04/2027 10:10 - 11:25\n",
    "Volo originale\nLH 1028 Francoforte (FRA) - Parigi (CDG) 20/04/2027 07:10 - 08:25\n"
    "Volo alternativo\nLH 1034 Francoforte (FRA) - Parigi (CDG) 20/04/2027 10:10 - 11:25\n",
)
STAYS = (
    "Previous check-in: Monday, March 15, 2027\nPrevious check-out: Wednesday, March 17, 2027\n"
    "New check-in: Tuesday, March 16, 2027\nNew check-out: Friday, March 19, 2027\n",
    "Bisherige Reservierung\nAnreise: 15.03.2027\nAbreise: 17.03.2027\n"
    "Neue Reservierung\nAnreise: 16.03.2027\nAbreise: 19.03.2027\n",
)


def _read_leg(text: str, page: str | None = None) -> BookedLeg:
    raw = mail(None if page else text, page=page, subject="Schedule change", sender="Lufthansa <x@lufthansa.com>")
    (leg,) = read(raw).bookings
    assert isinstance(leg, BookedLeg)
    assert leg.action == "change"
    return leg


@pytest.mark.parametrize("text", TIMES)
def test_the_old_times_of_a_flight_are_not_read(text: str) -> None:
    leg = _read_leg(HEAD + text)
    assert [f"{t:%H:%M}" for t in (leg.departure_time, leg.arrival_time) if t] == ["07:40", "08:55"]


def test_what_is_struck_through_is_not_read() -> None:
    cells = "<tr><td>Departs</td><td><s>07:10</s> 07:40</td></tr><tr><td>Arrives</td><td><span style='text-decoration:"
    page = f"<p>{HEAD.replace(chr(10), '<br>')}</p><table>{cells} line-through'>08:25</span> 08:55</td></tr></table>"
    leg = _read_leg("", page)
    assert [f"{t:%H:%M}" for t in (leg.departure_time, leg.arrival_time) if t] == ["07:40", "08:55"]


@pytest.mark.parametrize("text", FLIGHTS)
def test_the_old_flight_is_not_read(text: str) -> None:
    assert _read_leg("Booking reference: X7KQPM\nYour flight has been changed.\n" + text).flight_number == "LH1034"


@pytest.mark.parametrize("text", STAYS)
def test_the_old_days_of_a_stay_are_not_read(text: str) -> None:
    letter = f"Your reservation has been changed.\nPark Hyatt Sydney\nConfirmation number: 61120944\n{text}"
    (stay,) = read(mail(letter, sender="Hyatt <x@hyatt.com>")).bookings
    assert isinstance(stay, BookedStay)
    assert (stay.action, str(stay.check_in_date), str(stay.check_out_date)) == ("change", "2027-03-16", "2027-03-19")


def test_old_days_in_a_column_are_not_read() -> None:
    rows = (
        ("", "Original", "Updated"),
        ("Check-in", "Mar 15, 2027", "Mar 16, 2027"),
        ("Check-out", "Mar 17, 2027", "Mar 19, 2027"),
    )
    table = "".join("<tr>" + "".join(f"<td>{cell}</td>" for cell in row) + "</tr>" for row in rows)
    head = "<p>Your stay has been updated.</p><p>Park Hyatt Sydney</p><p>Confirmation number: 61120944</p>"
    page = f"{head}<table>{table}</table>"
    (stay,) = read(mail(page=page, sender="Hyatt <x@hyatt.com>")).bookings
    assert isinstance(stay, BookedStay)
    assert (str(stay.check_in_date), str(stay.check_out_date)) == ("2027-03-16", "2027-03-19")
