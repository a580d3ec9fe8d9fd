"""TripIt's calendar feed is read in a process that can be ended; hours stay those of the airports."""

from datetime import date, time

import pytest

from shared.processes.bounded_process import Budget
from shared.providers.contract import Unanswered
from shared.providers.tripit import connect

ZONE = """BEGIN:VTIMEZONE
TZID:Office
BEGIN:STANDARD
DTSTART:19700101T000000
TZOFFSETFROM:+0900
TZOFFSETTO:+0900
END:STANDARD
END:VTIMEZONE
"""


def calendar(*lines: str, zone: str = "") -> bytes:
    event = "\n".join(("BEGIN:VEVENT", "UID:1", "SUMMARY:VS4 JFK to LHR", *lines, "END:VEVENT"))
    return f"BEGIN:VCALENDAR\n{zone}{event}\nEND:VCALENDAR\n".encode()


@pytest.mark.parametrize(
    "start",
    ["DTSTART:20270505T013000Z", "DTSTART;TZID=Office:20270505T103000", "DTSTART;TZID=Europe/London:20270505T023000"],
)
def test_an_hour_of_any_zone_becomes_the_airports_hour(start: str) -> None:
    (leg,) = connect.parse_calendar(calendar(start, zone=ZONE)).legs
    assert (leg.departure_date, leg.departure_time) == (date(2027, 5, 4), time(21, 30))


@pytest.mark.parametrize("raw", [b"BEGIN:VCALENDAR", b"\xff", calendar("DTSTART:tomorrow", "RRULE:FREQ=NEVER")])
def test_what_is_no_calendar_is_said_to_be_none(raw: bytes) -> None:
    with pytest.raises(Unanswered, match="wrong_shape"):
        connect.parse_calendar(raw)


def test_a_calendar_over_its_budget_is_not_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connect, "_BUDGET", Budget(processor_seconds=1, seconds=0.001, memory_bytes=384 << 20))
    with pytest.raises(Unanswered):
        connect.parse_calendar(calendar("DTSTART:20270505T013000Z") * 1000)
