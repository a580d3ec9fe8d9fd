"""The farthest destinations a points balance pays for."""

from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True)
class Destination:
    """One destination in one cabin: `points` is the lowest price, `peak` the one of busy days, if the chart has it."""

    airport: str
    city: str
    country: str
    origin: str
    cabin: str
    points: int
    peak: int | None
    miles: int


def find_farthest(priced: Iterable[Destination], balance: int, count: int) -> tuple[list[Destination], int]:
    """The farthest cities the balance covers, each at its lowest price, and how many cities it covers in all."""
    cities: dict[tuple[str, str], Destination] = {}
    for destination in priced:
        best = cities.get((destination.city, destination.country))
        if destination.points <= balance and (best is None or _order(destination) < _order(best)):
            cities[destination.city, destination.country] = destination
    ranked = sorted(cities.values(), key=lambda d: (-d.miles, d.points, d.airport))
    return ranked[:count], len(ranked)


def _order(destination: Destination) -> tuple[int, int, str]:
    return (destination.points, destination.miles, destination.airport)
