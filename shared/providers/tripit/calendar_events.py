"""Reader of an iCalendar file: its events as plain values. It is meant for a process that can be ended."""

from dataclasses import dataclass
from datetime import date, datetime, timezone
from typing import Any

from icalendar import Calendar

MAX_EVENTS = 2000
MAX_CHARACTERS = 2000  # of each text


@dataclass(frozen=True)
class Event:
    """One VEVENT; its moments are days, or hours with the offset they were written with."""

    uid: str
    summary: str
    description: str
    start: date | None
    end: date | None


def read_or_none(raw: bytes) -> list[Event] | None:
    """At most MAX_EVENTS events; None for anything but a calendar: an answer that can pass between processes."""
    try:
        calendars: Any = Calendar.from_ical(raw.decode("utf-8", "strict"))
        return [_read_event(event) for event in calendars.walk("VEVENT")[:MAX_EVENTS]]
    except Exception:  # the library may raise anything
        return None


def _read_event(event: Any) -> Event:
    uid, summary, description = (
        " ".join(str(event.get(name, "")).split())[:MAX_CHARACTERS] for name in ("UID", "SUMMARY", "DESCRIPTION")
    )
    return Event(uid, summary, description, _read_moment(event.get("DTSTART")), _read_moment(event.get("DTEND")))


def _read_moment(value: Any) -> date | None:
    """Zones of the file itself become offsets, because they cannot be passed to another process."""
    moment = getattr(value, "dt", None)
    if isinstance(moment, datetime) and (offset := moment.utcoffset()) is not None:
        return moment.replace(tzinfo=timezone(offset))
    return moment if isinstance(moment, date) else None
