"""Gaps of a trip: nights without a bed or with two, places no flight connects, and connections that are too short."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from itertools import pairwise
from typing import Literal

from shared.domain.dates import format_day, format_weekday, format_weekdays
from shared.domain.hybrids import MAX_CONNECTION, MIN_CONNECTION
from shared.domain.plurals import pluralize

MAX_NIGHTS = 90  # looked at; a longer trip is a move
Kind = Literal["night", "flight", "connection", "airport", "double_night"]
SamePlace = Callable[[str, str], bool]


@dataclass(frozen=True)
class BookedFlight:
    """One flight. `leaves` and `lands` are moments, where its times are known."""

    origin: str
    destination: str
    departs_on: date
    lands_on: date | None  # None: not known
    member: str = ""  # of the household; the ways of each are looked at apart
    leaves: datetime | None = None
    lands: datetime | None = None
    codes: frozenset[str] = frozenset()  # flights of one ticket share one; none: not known


@dataclass(frozen=True)
class BookedNights:
    first: date
    last: date  # the day of departure; its night is not booked
    hotel: str = ""
    member: str = ""


@dataclass(frozen=True)
class Gap:
    """Nights from first to last, or the days around a missing flight or a connection."""

    kind: Kind
    first: date
    last: date
    text: str


def find_gaps(
    start: date | None,
    end: date | None,
    flights: Sequence[BookedFlight],
    stays: Sequence[BookedNights],
    same_place: SamePlace,
    rides: Sequence[tuple[date, str]] = (),
) -> list[Gap]:
    """What a trip lacks, as far as its bookings tell. One without any is still being planned: it has no gaps.

    `rides` are the days and titles of trains, taxis and the like, whose places are unknown.
    """
    ordered = sorted(flights, key=_read_departure)
    nights = _find_nights(start, end, ordered, stays) if flights or stays else []
    ways = [[f for f in ordered if f.member == member] for member in sorted({f.member for f in ordered})]
    return [
        *_group_nights(nights),
        *_find_double_nights(stays),
        *(gap for way in ways for gap in _find_broken_ways(way, same_place, rides)),
    ]


def _read_departure(flight: BookedFlight) -> tuple[date, bool, float]:
    return (flight.departs_on, flight.leaves is None, flight.leaves.timestamp() if flight.leaves else 0)


def _find_nights(
    start: date | None, end: date | None, flights: Sequence[BookedFlight], stays: Sequence[BookedNights]
) -> list[date]:
    """The nights of the trip without a stay; one on board counts as slept."""
    begins = start or (flights[0].lands_on or flights[0].departs_on if flights else min(s.first for s in stays))
    lasts = [flights[-1].departs_on] if len(flights) > 1 else [s.last for s in stays]
    ends = end or max(lasts, default=begins)
    length = min((ends - begins).days, MAX_NIGHTS)
    nights = (begins + timedelta(days=n) for n in range(max(length, 0)))
    return [n for n in nights if not _is_covered(n, flights, stays)]


def _is_covered(night: date, flights: Iterable[BookedFlight], stays: Iterable[BookedNights]) -> bool:
    if any(stay.first <= night < stay.last for stay in stays):
        return True
    # A flight whose landing is not known may last the night.
    return any(
        f.departs_on <= night and (f.lands_on is None or night < f.lands_on) for f in flights if _is_near(f, night)
    )


def _is_near(flight: BookedFlight, night: date) -> bool:
    return (night - flight.departs_on).days <= 1 if flight.lands_on else night == flight.departs_on


def _group_nights(nights: Sequence[date]) -> Iterator[Gap]:
    run: list[date] = []
    for night in nights:
        if run and night != run[-1] + timedelta(days=1):
            yield _describe_nights(run)
            run = []
        run.append(night)
    if run:
        yield _describe_nights(run)


def _describe_nights(run: Sequence[date]) -> Gap:
    leaves = run[-1] + timedelta(days=1)
    text = f"No hotel is saved for the {_describe_span(run[0], leaves)}."
    return Gap("night", run[0], leaves, text)


def _describe_span(first: date, last: date) -> str:
    """`night from Wed 2 to Thu 3 Jun 2027`, `3 nights from Wed 2 to Sat 5 Jun 2027`."""
    nights = (last - first).days
    return f"{'night' if nights == 1 else pluralize(nights, 'night')} from {format_weekdays(first, last)}"


def _find_double_nights(stays: Sequence[BookedNights]) -> Iterator[Gap]:
    """Nights for which one person has two stays."""
    ordered = sorted(stays, key=lambda stay: (stay.first, stay.last))
    for at, one in enumerate(ordered):
        for other in ordered[at + 1 :]:
            if other.first >= one.last:
                break
            if other.member == one.member:
                first, last = other.first, min(one.last, other.last)
                twice = f"{one.hotel} is saved twice" if one.hotel == other.hotel else "Two stays are saved"
                which = " (two rooms?)" if one.hotel == other.hotel else f": {one.hotel} and {other.hotel}"
                yield Gap("double_night", first, last, f"{twice} for the {_describe_span(first, last)}{which}.")


def _find_broken_ways(
    flights: Sequence[BookedFlight], same_place: SamePlace, rides: Sequence[tuple[date, str]]
) -> Iterator[Gap]:
    """Flights that start where the one before did not end, or that cannot safely be caught."""
    for before, after in pairwise(flights):
        since = before.lands_on or before.departs_on
        whose = f" for {after.member}" if after.member else ""
        if not same_place(before.destination, after.origin):
            way = f"{whose} from {before.destination} ({format_day(since)}) to {after.origin}"
            way += f" ({format_day(after.departs_on)})"
            between = [f"{title} ({format_day(day)})" for day, title in rides if since <= day <= after.departs_on]
            text = f"No flight is filed{way}, but {' and '.join(between)}." if between else f"Nothing is filed{way}."
            yield Gap("flight", since, after.departs_on, text)
        elif short := _describe_short_wait(before, after):
            yield Gap("connection", since, after.departs_on, f"{short}{whose}. {SEPARATE}")
        elif before.destination != after.origin and _is_connection(before, after):
            day = format_weekday(after.departs_on)
            text = f"Change airport{whose} on {day}: you land at {before.destination} and leave from {after.origin}."
            yield Gap("airport", since, after.departs_on, text)


_HOURS = int(MIN_CONNECTION.total_seconds() // 3600)
SEPARATE = f"On separate tickets allow {_HOURS} hours: a missed flight is not replaced."


def _find_wait(before: BookedFlight, after: BookedFlight) -> timedelta | None:
    # Subtracting local times would ignore a change to daylight saving time.
    if before.lands is None or after.leaves is None:
        return None
    return timedelta(seconds=after.leaves.timestamp() - before.lands.timestamp())


def _describe_short_wait(before: BookedFlight, after: BookedFlight) -> str:
    """The time between two flights on separate tickets, if short; else empty."""
    wait = _find_wait(before, after)
    apart = bool(before.codes and after.codes) and not before.codes & after.codes
    if wait is None or wait >= MIN_CONNECTION or not apart:
        return ""
    places = before.destination if before.destination == after.origin else f"{before.destination} and {after.origin}"
    if wait < timedelta():
        return f"The flight from {after.origin} leaves before the one to {before.destination} lands"
    hours, minutes = divmod(int(wait.total_seconds() // 60), 60)
    words = " ".join(filter(None, [f"{hours} h" if hours else "", f"{minutes} min" if minutes or not hours else ""]))
    change = ", with a change of airport" if before.destination != after.origin else ""
    return f"Only {words} at {places} between two bookings{change}"


def _is_connection(before: BookedFlight, after: BookedFlight) -> bool:
    """Whether the second flight continues the first; without times, whether it leaves on the day of landing."""
    if (wait := _find_wait(before, after)) is not None:
        return wait < MAX_CONNECTION
    return before.lands_on is not None and before.lands_on == after.departs_on
