"""Parser of TripIt's iCalendar feed: flights and stays; other events are left out."""

import hashlib
import re
from collections.abc import Sequence
from datetime import date, datetime, time
from zoneinfo import ZoneInfo

from shared.bounded_process import Budget, ReaderEnded, read_bounded
from shared.providers.connectors import Leg, Pulled, Stay
from shared.providers.contract import Unanswered
from shared.providers.tripit.calendar_events import Event, read_or_none
from shared.reference.load import reference

_BUDGET = Budget(processor_seconds=5, seconds=15, memory_bytes=384 << 20)  # a feed of 2,000 events takes 0.6 s
_FLIGHT = re.compile(r"\b([A-Z][A-Z0-9]|[0-9][A-Z]) ?(\d{1,4})\b[ :,]*\(?([A-Z]{3})\)? ?(?:to|-|–|→) ?\(?([A-Z]{3})\b")
_STAY = re.compile(r"(check[- ]?in|check[- ]?out) ?(?::|at|-)? *(.+)", re.IGNORECASE)
_CONFIRMATION = re.compile(r"confirmation ?(?:#|number|no\.?|code)?:? *#? *([A-Z0-9]{4,20})\b", re.IGNORECASE)


def parse_calendar(raw: bytes) -> Pulled:
    """Flights and stays. Raises Unanswered for what is no calendar, or takes too long to read."""
    try:
        events = read_bounded(_BUDGET, read_or_none, raw)
    except ReaderEnded:
        events = None
    if events is None:
        raise Unanswered("not_covered", "wrong_shape")
    legs = [leg for event in events if (leg := _parse_leg(event))]
    return Pulled(legs=tuple(legs), stays=tuple(_pair_stays(events)))


def _parse_leg(event: Event) -> Leg | None:
    flight, leaves = _FLIGHT.search(event.summary), event.start
    if flight is None or leaves is None:
        return None
    carrier, number, origin, destination = flight.groups()
    day, hour = _to_local_time(leaves, origin)
    arrives = _to_local_time(event.end, destination) if event.end else (None, None)
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


def _pair_stays(events: Sequence[Event]) -> list[Stay]:
    """An arrival and the next departure of the same hotel make a stay."""
    ends: list[tuple[str, str, date, Event]] = []
    for event in events:
        match, start = _STAY.match(event.summary), event.start
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


def _build_ref(event: Event) -> str:
    """Their name of the entry, shortened to a fixed length whatever it holds."""
    return "tripit:ical:" + hashlib.sha256(event.uid.encode()).hexdigest()[:24]


def _parse_confirmation(event: Event) -> str | None:
    match = _CONFIRMATION.search(event.description)
    return match[1].upper() if match else None
