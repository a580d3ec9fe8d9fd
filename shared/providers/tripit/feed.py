"""Parser of TripIt's iCalendar feed: flights and stays; other events are left out."""

import hashlib
import re
from collections.abc import Sequence
from datetime import date, datetime, time
from typing import Any
from zoneinfo import ZoneInfo

from icalendar import Calendar

from shared.providers.connectors import Leg, Pulled, Stay
from shared.providers.contract import Unanswered
from shared.reference.load import reference

MAX_EVENTS = 2000
_FLIGHT = re.compile(r"\b([A-Z][A-Z0-9]|[0-9][A-Z]) ?(\d{1,4})\b[ :,]*\(?([A-Z]{3})\)? ?(?:to|-|–|→) ?\(?([A-Z]{3})\b")
_STAY = re.compile(r"(check[- ]?in|check[- ]?out) ?(?::|at|-)? *(.+)", re.IGNORECASE)
_CONFIRMATION = re.compile(r"confirmation ?(?:#|number|no\.?|code)?:? *#? *([A-Z0-9]{4,20})\b", re.IGNORECASE)


def parse_calendar(raw: bytes) -> Pulled:
    try:
        calendars: Any = Calendar.from_ical(raw.decode("utf-8", "strict"))
        events = list(calendars.walk("VEVENT"))[:MAX_EVENTS]
    except Exception as error:  # the library raises whatever the text brings about
        raise Unanswered("not_covered", "wrong_shape") from error
    legs = [leg for event in events if (leg := _parse_leg(event))]
    return Pulled(legs=tuple(legs), stays=tuple(_pair_stays(events)))


def _text_of(event: Any, name: str) -> str:
    return " ".join(str(event.get(name, "")).split())[:2000]


def _time_of(event: Any, name: str) -> date | datetime | None:
    value = event.get(name)
    moment = getattr(value, "dt", None)
    return moment if isinstance(moment, date) else None


def _parse_leg(event: Any) -> Leg | None:
    flight, leaves = _FLIGHT.search(_text_of(event, "SUMMARY")), _time_of(event, "DTSTART")
    if flight is None or leaves is None:
        return None
    carrier, number, origin, destination = flight.groups()
    day, hour = _to_local_time(leaves, origin)
    ends = _time_of(event, "DTEND")
    arrives = _to_local_time(ends, destination) if ends else (None, None)
    return Leg(
        ref=_build_ref(event),
        airline=carrier,
        flight_number=f"{carrier}{number}",
        origin=origin,
        destination=destination,
        departure_date=day,
        departure_time=hour,
        arrival_date=arrives[0] if hour else None,
        arrival_time=arrives[1],
        cabin=None,
        confirmation_number=_parse_confirmation(event),
    )


def _to_local_time(moment: date | datetime, airport: str) -> tuple[date, time | None]:
    """Calendars tell moments in UTC; tickets tell the time at the airport."""
    if not isinstance(moment, datetime):
        return moment, None
    airport_row = reference().airports.get(airport)
    if moment.tzinfo is not None and airport_row is not None:
        moment = moment.astimezone(ZoneInfo(airport_row.tz))
    return moment.date(), moment.time().replace(second=0, microsecond=0, tzinfo=None)


def _pair_stays(events: Sequence[Any]) -> list[Stay]:
    """An arrival and the next departure of the same hotel make a stay."""
    ends: list[tuple[str, str, date, Any]] = []
    for event in events:
        match, start = _STAY.match(_text_of(event, "SUMMARY")), _time_of(event, "DTSTART")
        if match and start:
            day = start.date() if isinstance(start, datetime) else start
            ends.append((match[2].strip()[:160], "in" if "in" in match[1].lower() else "out", day, event))
    stays, used = [], set()
    for name, _, first, event in sorted((e for e in ends if e[1] == "in"), key=lambda e: e[2]):
        later = [(day, i) for i, (n, way, day, _) in enumerate(ends) if (n, way) == (name, "out") and day > first]
        free_ends = sorted((day, i) for day, i in later if i not in used)
        if free_ends:
            used.add(free_ends[0][1])
            stays.append(Stay(_build_ref(event), name, first, free_ends[0][0], _parse_confirmation(event)))
    return stays


def _build_ref(event: Any) -> str:
    """Their name of the entry, shortened to a fixed length whatever it holds."""
    return "tripit:ical:" + hashlib.sha256(_text_of(event, "UID").encode()).hexdigest()[:24]


def _parse_confirmation(event: Any) -> str | None:
    match = _CONFIRMATION.search(_text_of(event, "DESCRIPTION"))
    return match[1].upper() if match else None
