"""A calendar as TripIt writes it goes in, flights and stays come out; other entries of a calendar are passed over."""

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

MOST = 2000
_FLIGHT = re.compile(r"\b([A-Z][A-Z0-9]|[0-9][A-Z]) ?(\d{1,4})\b[ :,]*\(?([A-Z]{3})\)? ?(?:to|-|–|→) ?\(?([A-Z]{3})\b")
_STAY = re.compile(r"(check[- ]?in|check[- ]?out) ?(?::|at|-)? *(.+)", re.IGNORECASE)
_CONFIRMATION = re.compile(r"confirmation ?(?:#|number|no\.?|code)?:? *#? *([A-Z0-9]{4,20})\b", re.IGNORECASE)


def read(raw: bytes) -> Pulled:
    try:
        calendars: Any = Calendar.from_ical(raw.decode("utf-8", "strict"))
        events = list(calendars.walk("VEVENT"))[:MOST]
    except Exception as error:  # the library raises whatever the text brings about
        raise Unanswered("not_covered", "wrong_shape") from error
    legs = [leg for event in events if (leg := _leg(event))]
    return Pulled(legs=tuple(legs), stays=tuple(_stays(events)))


def _word(event: Any, name: str) -> str:
    return " ".join(str(event.get(name, "")).split())[:2000]


def _start(event: Any, name: str) -> date | datetime | None:
    value = event.get(name)
    moment = getattr(value, "dt", None)
    return moment if isinstance(moment, date) else None


def _leg(event: Any) -> Leg | None:
    found, leaves = _FLIGHT.search(_word(event, "SUMMARY")), _start(event, "DTSTART")
    if found is None or leaves is None:
        return None
    carrier, number, origin, destination = found.groups()
    day, hour = _local(leaves, origin)
    ends = _start(event, "DTEND")
    arrives = _local(ends, destination) if ends else (None, None)
    return Leg(
        ref=_ref(event),
        airline=carrier,
        flight_number=f"{carrier}{number}",
        origin=origin,
        destination=destination,
        departure_date=day,
        departure_time=hour,
        arrival_date=arrives[0] if hour else None,
        arrival_time=arrives[1],
        cabin=None,
        confirmation_number=_confirmation(event),
    )


def _local(moment: date | datetime, airport: str) -> tuple[date, time | None]:
    """Calendars tell moments in UTC; tickets tell the time at the airport."""
    if not isinstance(moment, datetime):
        return moment, None
    known = reference().airports.get(airport)
    if moment.tzinfo is not None and known is not None:
        moment = moment.astimezone(ZoneInfo(known.tz))
    return moment.date(), moment.time().replace(second=0, microsecond=0, tzinfo=None)


def _stays(events: Sequence[Any]) -> list[Stay]:
    """An arrival and the next departure of the same hotel make a stay."""
    ends: list[tuple[str, str, date, Any]] = []
    for event in events:
        found, start = _STAY.match(_word(event, "SUMMARY")), _start(event, "DTSTART")
        if found and start:
            day = start.date() if isinstance(start, datetime) else start
            ends.append((found[2].strip()[:160], "in" if "in" in found[1].lower() else "out", day, event))
    made, used = [], set()
    for name, _, first, event in sorted((e for e in ends if e[1] == "in"), key=lambda e: e[2]):
        later = [(day, i) for i, (n, way, day, _) in enumerate(ends) if (n, way) == (name, "out") and day > first]
        left = sorted((day, i) for day, i in later if i not in used)
        if left:
            used.add(left[0][1])
            made.append(Stay(_ref(event), name, first, left[0][0], _confirmation(event)))
    return made


def _ref(event: Any) -> str:
    """Their name of the entry, shortened to a fixed length whatever it holds."""
    return "tripit:ical:" + hashlib.sha256(_word(event, "UID").encode()).hexdigest()[:24]


def _confirmation(event: Any) -> str | None:
    found = _CONFIRMATION.search(_word(event, "DESCRIPTION"))
    return found[1].upper() if found else None
