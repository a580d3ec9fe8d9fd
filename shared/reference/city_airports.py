"""The airports of a city for flight searches, and the other airports of an airport's city."""

from collections.abc import Sequence

from shared.domain.airport_pairs import JourneyEnd, Pair, rank_pairs
from shared.reference.reference import Reference

MAX_AIRPORTS = 3  # at one end of a route: each pair of airports is a question to every source


def list_airports(reference: Reference, code: str) -> list[str]:
    """An airport itself; for a city its busiest airports with known flights; else nothing.

    A code shared by an airport and its city means the airport.
    """
    if code in reference.airports:
        return [code]
    members = [member for member in reference.metros.get(code, ()) if member in reference.airports]
    flown = [member for member in members if reference.count_flights(member)] or members
    return sorted(flown, key=lambda member: (-reference.count_flights(member), member))[:MAX_AIRPORTS]


def require_airports(reference: Reference, code: str) -> Sequence[str]:
    """The same, but raises NotFound with the nearest codes if there are none."""
    return list_airports(reference, code) or [reference.airport(code).code]


def list_pairs(reference: Reference, start: JourneyEnd, end: JourneyEnd) -> list[Pair]:
    """The airports to search between, the likeliest first; few, because each pair is a question to every source."""
    networks = [f.pairs for f in reference.flights.values()]

    def is_flown(origin: str, destination: str) -> bool:
        return any(destination in pairs.get(origin, ()) for pairs in networks)

    return rank_pairs(start, end, is_flown, reference.count_flights)


def list_neighbours(reference: Reference, airport: str) -> list[str]:
    """The other airports of the cities an airport belongs to."""
    cities = [members for members in reference.metros.values() if airport in members]
    return sorted({code for members in cities for code in members if code != airport and code in reference.airports})
