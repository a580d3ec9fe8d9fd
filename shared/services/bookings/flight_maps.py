"""Flights drawn for pages: the map of routes, the cities, distances and durations."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from shared.documents.route_map import Place, draw_route_map
from shared.domain.airports import Airport
from shared.domain.flight_times import count_flight_minutes
from shared.reference.reference import Reference


@dataclass(frozen=True)
class Flight:
    """A flight by IATA codes, and ISO local times if known."""

    origin: str
    destination: str
    departs_at: str | None = None
    arrives_at: str | None = None


@dataclass(frozen=True)
class DrawnFlight:
    """`minutes` from gate to gate; None if a time or an airport is unknown."""

    origin_city: str
    destination_city: str
    miles: int | None
    minutes: int | None


def draw_flights(reference: Reference, flights: Sequence[Flight]) -> tuple[str, list[DrawnFlight]]:
    """The map as SVG, empty unless both airports of a flight are known, and each flight in words."""
    facts = [_describe(reference, row) for row in flights]
    return draw_route_map(find_legs(reference, ((row.origin, row.destination) for row in flights))), facts


def find_legs(reference: Reference, routes: Iterable[tuple[str, str]]) -> tuple[tuple[Place, Place], ...]:
    """The ends of each route on the globe, without routes with an unknown airport."""
    pairs = [tuple(reference.airports.get(code) for code in route) for route in routes]
    return tuple((_find_place(start), _find_place(end)) for start, end in pairs if start and end)


def _find_place(airport: Airport) -> Place:
    return Place(airport.code, airport.city or airport.name, airport.lat, airport.lon)


def _describe(reference: Reference, flight: Flight) -> DrawnFlight:
    start, end = reference.airports.get(flight.origin), reference.airports.get(flight.destination)
    origin = start.city or start.name if start else flight.origin
    destination = end.city or end.name if end else flight.destination
    if not start or not end:
        return DrawnFlight(origin, destination, None, None)
    minutes = count_flight_minutes(flight.departs_at, start.tz, flight.arrives_at, end.tz)
    return DrawnFlight(origin, destination, reference.miles(flight.origin, flight.destination), minutes)
