"""Gaps of a trip: nights without a bed, and places no flight connects."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from itertools import pairwise
from typing import Literal

from shared.domain.dates import format_day

MAX_NIGHTS = 90  # looked at; a longer trip is a move
Kind = Literal["night", "flight"]


@dataclass(frozen=True)
class BookedFlight:
    origin: str
    destination: str
    departs_on: date
    lands_on: date | None  # None: not known
    member: str = ""  # of the household; the ways of each are looked at apart


@dataclass(frozen=True)
class BookedNights:
    first: date
    last: date  # the day of departure; its night is not booked


@dataclass(frozen=True)
class Gap:
    """Nights from the first to the last, or the days between which a flight is missing."""

    kind: Kind
    first: date
    last: date
    text: str


def find_gaps(
    start: date | None,
    end: date | None,
    flights: Sequence[BookedFlight],
    stays: Sequence[BookedNights],
    same_place: Callable[[str, str], bool],
) -> list[Gap]:
    """What a trip lacks, as far as its bookings tell. A trip without a stay or a flight is still being planned: it has
    no gaps of that kind."""
    ordered = sorted(flights, key=lambda flight: flight.departs_on)
    nights = _find_nights(start, end, ordered, stays) if stays else []
    ways = [[f for f in ordered if f.member == member] for member in sorted({f.member for f in ordered})]
    return [*_group_nights(nights), *(gap for way in ways for gap in _find_broken_ways(way, same_place))]


def _find_nights(
    start: date | None, end: date | None, flights: Sequence[BookedFlight], stays: Sequence[BookedNights]
) -> list[date]:
    """The nights of the trip without a stay; one on board counts as slept."""
    begins = start or (flights[0].lands_on or flights[0].departs_on if flights else min(s.first for s in stays))
    ends = end or (flights[-1].departs_on if len(flights) > 1 else max(s.last for s in stays))
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
    nights = "the night" if len(run) == 1 else f"the {len(run)} nights"
    text = f"No hotel is saved for {nights} from {format_day(run[0])} to {format_day(leaves)}."
    return Gap("night", run[0], leaves, text)


def _find_broken_ways(flights: Sequence[BookedFlight], same_place: Callable[[str, str], bool]) -> Iterator[Gap]:
    """Flights that begin where the one before did not end."""
    for before, after in pairwise(flights):
        if not same_place(before.destination, after.origin):
            whose = f" for {after.member}" if after.member else ""
            since = before.lands_on or before.departs_on
            text = (
                f"Nothing is filed{whose} from {before.destination} ({format_day(since)})"
                f" to {after.origin} ({format_day(after.departs_on)})."
            )
            yield Gap("flight", since, after.departs_on, text)
