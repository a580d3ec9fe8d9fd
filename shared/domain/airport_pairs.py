"""Airports a journey can use at both ends: those of the requested cities, and others within a radius."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from math import cos, radians

from shared.domain.airports import Airport

MAX_PAIRS = 6  # each costs a request to every source, twice with a return
MAX_NEARBY = 2  # at each end
KM_PER_DEGREE = 111.0  # of latitude
Traffic = Callable[[str], int]
Pair = tuple[str, str]


@dataclass(frozen=True)
class JourneyEnd:
    """One end of a journey: the requested airports, and nearby ones with their distance in kilometres."""

    code: str  # of the airport or city, as it was asked for
    airports: tuple[str, ...]
    nearby: tuple[tuple[str, int], ...] = ()

    def find_group(self, airport: str) -> str:
        """The airports asked for are one place; each nearby one is a separate place."""
        return self.code if airport in self.airports else airport

    def find_distance(self, airport: str) -> int | None:
        """Kilometres from the requested airports; None for those."""
        return dict(self.nearby).get(airport)


def rank_pairs(
    start: JourneyEnd, end: JourneyEnd, is_flown: Callable[[str, str], bool], traffic: Traffic
) -> list[Pair]:
    """Airports to search between: known non-stop flights first, then the busiest; nearby ones to the best pair's."""
    pairs = [(a, b) for a in start.airports for b in end.airports]
    pairs.sort(key=lambda pair: (not is_flown(*pair), -min(traffic(pair[0]), traffic(pair[1])), pair))
    first, last = pairs[0]
    near = [*((code, last) for code, _ in start.nearby), *((first, code) for code, _ in end.nearby)]
    return [*pairs[:MAX_PAIRS], *near]


def find_nearby(
    centre: Airport, airports: Iterable[Airport], km: int, kilometres: Callable[[str, str], int], traffic: Traffic
) -> tuple[tuple[str, int], ...]:
    """The busiest other airports within a radius, with their distance in whole kilometres."""
    height = km / KM_PER_DEGREE
    width = height / max(0.05, cos(radians(centre.lat)))
    within: list[tuple[str, int]] = []
    for airport in airports:
        if abs(airport.lat - centre.lat) > height or abs((airport.lon - centre.lon + 180) % 360 - 180) > width:
            continue
        distance = kilometres(centre.code, airport.code)
        if airport.code != centre.code and distance <= km and traffic(airport.code):
            within.append((airport.code, distance))
    return tuple(sorted(within, key=lambda other: (-traffic(other[0]), other))[:MAX_NEARBY])
