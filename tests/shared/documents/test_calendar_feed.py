"""The iCalendar document: written, then read by a grammar of our own, its library, and another reader of zones."""

import re
from datetime import UTC, date, datetime, timedelta
from io import StringIO
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from dateutil.tz import tzical
from icalendar import Calendar

from shared.documents.calendar_feed import CalendarEvent, build_calendar

NOW = datetime(2026, 11, 21, 8, 30, tzinfo=UTC)
LINE = re.compile(r'[A-Z0-9-]+(;[A-Z0-9-]+=("[^"\x00-\x1f]*"|[^";:,\x00-\x1f]*))*:[^\x00-\x08\x0a-\x1f\x7f]*')
NEEDED = {"VCALENDAR": {"PRODID", "VERSION"}, "VEVENT": {"UID", "DTSTAMP", "DTSTART"}, "VTIMEZONE": {"TZID"}}
ONCE = {"UID", "DTSTAMP", "DTSTART", "DTEND", "SUMMARY", "SEQUENCE", "STATUS", "TRANSP", "LOCATION", "DESCRIPTION"}


def at(zone: str, *moment: int) -> datetime:
    return datetime(*moment, tzinfo=ZoneInfo(zone))  # type: ignore[misc, arg-type]


def event(**given: Any) -> CalendarEvent:
    plain: dict[str, Any] = {
        "uid": "flight-1@host.example",
        "title": "BA117 LHR to JFK",
        "place": "London Heathrow Airport (LHR)",
        "lines": ("British Airways, business",),
        "start": at("Europe/London", 2027, 6, 1, 8, 25),
        "end": at("America/New_York", 2027, 6, 1, 11, 5),
        "busy": True,
        "created_at": NOW,
        "updated_at": NOW,
    }
    return CalendarEvent(**plain | given)


def unfold(document: bytes) -> list[str]:
    """The content lines, each held against the grammar of RFC 5545."""
    assert document.endswith(b"\r\n")
    physical = document[:-2].split(b"\r\n")
    assert all(0 < len(line) <= 75 for line in physical)
    for line in physical:
        assert b"\r" not in line
        assert b"\n" not in line
        line.decode("utf-8")  # a fold never cuts a character
    lines = document[:-2].decode().replace("\r\n ", "").split("\r\n")
    assert all(LINE.fullmatch(line) for line in lines)
    return lines


def strict(document: bytes) -> Calendar:
    """Raises where the document is not one every calendar has to take."""
    open_parts: list[tuple[str, list[str]]] = []
    zones, used = set(), set()
    for line in unfold(document):
        name, value = re.split("[;:]", line, maxsplit=1)[0], line.rpartition(":")[2]
        if name == "BEGIN":
            open_parts.append((value, []))
        elif name == "END":
            kind, names = open_parts.pop()
            assert kind == value
            assert NEEDED.get(kind, set()) <= set(names), f"{kind} lacks a property"
            assert not [n for n in ONCE if names.count(n) > 1]
        else:
            open_parts[-1][1].append(name)
            if name == "TZID":
                zones.add(value)
            used |= set(re.findall(r";TZID=([^:;]+)", line))
    assert open_parts == []
    assert used <= zones
    read = Calendar.from_ical(document)
    assert isinstance(read, Calendar)
    assert [e.errors for e in read.walk() if e.errors] == []
    return read


def only(read: Calendar) -> Any:
    (entry,) = read.walk("VEVENT")
    return entry


def test_a_flight_is_at_the_local_times_of_its_airports() -> None:
    entry = only(strict(build_calendar("Trips", [event()], 2026)))
    assert entry["DTSTART"].params["TZID"] == "Europe/London"
    assert entry["DTEND"].params["TZID"] == "America/New_York"
    assert entry["DTSTART"].dt.astimezone(UTC) == datetime(2027, 6, 1, 7, 25, tzinfo=UTC)
    assert entry["DTEND"].dt.astimezone(UTC) == datetime(2027, 6, 1, 15, 5, tzinfo=UTC)
    assert (entry["STATUS"], entry["TRANSP"]) == ("CONFIRMED", "OPAQUE")


def test_a_stay_is_of_whole_days_and_leaves_the_traveller_free() -> None:
    result = build_calendar("Trips", [event(start=date(2027, 2, 27), end=date(2027, 3, 2), busy=False)], 2026)
    assert b"DTSTART;VALUE=DATE:20270227\r\n" in result
    assert b"DTEND;VALUE=DATE:20270302\r\n" in result
    entry = only(strict(result))
    assert (entry["DTSTART"].dt, entry["DTEND"].dt, entry["TRANSP"]) == (
        date(2027, 2, 27),
        date(2027, 3, 2),
        "TRANSPARENT",
    )


def test_a_time_without_a_zone_stays_local_and_may_have_no_end() -> None:
    result = build_calendar("Trips", [event(start=datetime(2027, 6, 1, 8, 25), end=None)], 2026)
    assert b"DTSTART:20270601T082500\r\n" in result
    assert "DTEND" not in only(strict(result))


@pytest.mark.parametrize(
    "text",
    [
        'Comma, semicolon; colon: backslash \\ and "quotes"',
        "END:VEVENT\r\nBEGIN:VEVENT\nUID:other",
        "Zürich, 東京 and Đà Nẵng " * 12,
        "🛫" * 60,
        "bell \x07 null-like \x1f next line \x85 separators \u2028 \u2029 end",
        "\\n is two characters",
    ],
)
def test_any_text_stays_text_of_one_property(text: str) -> None:
    read = strict(build_calendar("Trips", [event(title=text, place=text, lines=(text, text))], 2026))
    entry = only(read)
    sentence = " ".join("".join(c if c.isprintable() else " " for c in text).split())
    assert (entry["SUMMARY"], entry["LOCATION"]) == (sentence, sentence)
    assert entry["DESCRIPTION"] == f"{sentence}\n{sentence}"
    assert entry["UID"] == "flight-1@host.example"


def test_the_same_events_make_the_same_bytes_and_an_edit_raises_the_sequence() -> None:
    first = build_calendar("Trips", [event()], 2026)
    assert build_calendar("Trips", [event()], 2026) == first
    numbers = []
    for seconds in (0, 1, 90_000):
        later = NOW + timedelta(seconds=seconds)
        entry = only(strict(build_calendar("Trips", [event(updated_at=later)], 2026)))
        numbers.append(entry["SEQUENCE"])
        assert entry["LAST-MODIFIED"].dt == entry["DTSTAMP"].dt == later
        assert entry["CREATED"].dt == NOW
    assert numbers == [0, 1, 90_000]


def test_a_link_a_place_and_alarms_are_written_and_read_again() -> None:
    spans = (timedelta(), timedelta(hours=15), timedelta(days=6, hours=15))
    more = {"url": "https://host.example/dashboard", "geo": (35.68, 139.69), "alarms": spans, "created_at": None}
    entry = only(strict(build_calendar("Trips", [event(**more)], 2026)))
    assert (entry["URL"], entry["GEO"].latitude, entry["GEO"].longitude) == (more["url"], 35.68, 139.69)
    assert [-alarm["TRIGGER"].dt for alarm in entry.walk("VALARM")] == list(spans)
    assert {str(alarm["DESCRIPTION"]) for alarm in entry.walk("VALARM")} == {"BA117 LHR to JFK"}
    assert "CREATED" not in entry


def test_the_calendar_says_its_name_and_when_to_look_again() -> None:
    lines = unfold(build_calendar("Trips", [], 2026))
    assert {"X-WR-CALNAME:Trips", "NAME:Trips", "VERSION:2.0", "CALSCALE:GREGORIAN"} <= set(lines)
    assert {"REFRESH-INTERVAL;VALUE=DURATION:PT4H", "X-PUBLISHED-TTL:PT4H"} <= set(lines)
    assert not [line for line in lines if line.startswith("METHOD")]  # it would ask for an organizer


ZONES = ["Europe/London", "America/New_York", "Asia/Tokyo", "Australia/Lord_Howe", "Pacific/Apia", "Africa/Casablanca"]
ZONES += ["America/Sao_Paulo", "Asia/Kathmandu", "Europe/Dublin", "Antarctica/Troll", "Africa/Cairo"]


@pytest.mark.parametrize("name", ZONES)
def test_the_zones_written_out_tell_the_time_another_reader_finds(name: str) -> None:
    zone = ZoneInfo(name)
    result = build_calendar("Trips", [event(start=at(name, 2027, 6, 1, 8), end=None)], 2026)
    strict(result)
    written = tzical(StringIO(result.decode().replace("\r\n", "\n"))).get(name)  # type: ignore[no-untyped-call]
    hour = datetime(2026, 1, 1)
    while hour < datetime(2030, 1, 1):
        there = hour.replace(tzinfo=UTC).astimezone(zone)
        if there.fold == 0:  # the hour told twice is one wall time
            message = there.replace(tzinfo=None)
            assert message.replace(tzinfo=written).utcoffset() == there.utcoffset(), message
        hour += timedelta(hours=1)
