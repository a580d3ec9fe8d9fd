"""The flights behind an award: each cabin's share of the distance, and connections that last a night."""

from collections import Counter
from collections.abc import Callable, Sequence
from datetime import datetime
from itertools import pairwise
from typing import Protocol

from shared.domain.flight_times import is_over_night
from shared.domain.hybrids import parse_local_time
from shared.domain.plurals import pluralize


class FlownSegment(Protocol):
    """One flight with local times of its airports."""

    @property
    def origin(self) -> str: ...
    @property
    def destination(self) -> str: ...
    @property
    def departs_at(self) -> str | None: ...
    @property
    def arrives_at(self) -> str | None: ...
    @property
    def cabin(self) -> str | None: ...


def describe_mixed_cabins(flights: Sequence[FlownSegment], miles: Callable[[str, str], int]) -> str | None:
    """`business for 62% of the way, economy for 38%`; None for one cabin, or if one is unknown."""
    lengths: Counter[str] = Counter()
    for flight in flights:
        if flight.cabin is None:
            return None
        lengths[flight.cabin] += miles(flight.origin, flight.destination)
    if len(lengths) < 2 or not (whole := lengths.total()):
        return None
    shares = [(cabin.replace("_", " "), round(100 * length / whole)) for cabin, length in lengths.most_common()]
    (longest, share), *others = shares
    return ", ".join([f"{longest} for {share}% of the way", *(f"{cabin} for {n}%" for cabin, n in others)])


def list_nights_between(flights: Sequence[FlownSegment]) -> list[str]:
    """A sentence for each connection that lasts a night."""
    waits = ((a.destination, _read(a.arrives_at), _read(b.departs_at)) for a, b in pairwise(flights))
    return [
        describe_night(place, lands, leaves)
        for place, lands, leaves in waits
        if lands and leaves and is_over_night(lands, leaves)
    ]


def describe_night(place: str, lands: datetime, leaves: datetime) -> str:
    hours = pluralize(int((leaves.timestamp() - lands.timestamp()) // 3600), "hour")
    return f"The connection at {place} lasts the night ({hours}): plan a hotel."


def _read(text: str | None) -> datetime | None:
    return parse_local_time(text, "UTC")  # both times are those of one airport
