"""When a flight lands: the day its two clocks allow, and whether they can be those of one flight at all."""

from datetime import UTC, date, datetime, time, timedelta
from typing import NamedTuple
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from shared.domain.confirmations.model import TravelFacts

_FASTEST_MPH = 720.0  # over the ground, with the strongest winds
_SLOWEST_MPH = 360.0
_ON_GROUND = 2.5  # taxiing, climbing and waiting
_LONGEST = 20.0


class Flown(NamedTuple):
    """The day of arrival, None where clocks and days cannot be those of one flight."""

    day: date | None
    possible: bool


def find_arrival_day(
    ends: tuple[str, str], departs: tuple[date, time], arrives: time, stated: date | None, world: TravelFacts
) -> Flown:
    """The one day on which a flight that leaves then can land at that time; `stated` is what the letter says."""
    days = [stated] if stated else [departs[0] + timedelta(days=n) for n in (0, 1, -1, 2)]
    fitting = [day for day in days if _is_possible(ends, departs, (day, arrives), world)]
    return Flown(fitting[0], True) if fitting else Flown(None, False)


def _is_possible(
    ends: tuple[str, str], departs: tuple[date, time], arrives: tuple[date, time], world: TravelFacts
) -> bool:
    start, end = _to_utc(ends[0], departs, world), _to_utc(ends[1], arrives, world)
    miles = world.miles(*ends)
    if start is None or end is None or miles is None:
        return True
    hours = (end - start).total_seconds() / 3600
    return max(0.2, miles / _FASTEST_MPH) <= hours <= min(_LONGEST, miles / _SLOWEST_MPH + _ON_GROUND)


def _to_utc(airport: str, moment: tuple[date, time], world: TravelFacts) -> datetime | None:
    clock = world.clock_of(airport)
    if not clock:
        return None
    try:
        return datetime.combine(*moment, ZoneInfo(clock)).astimezone(UTC)
    except (ZoneInfoNotFoundError, OverflowError, ValueError):
        return None
