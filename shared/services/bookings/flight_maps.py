"""Flights as pages draw them: the map of their routes, the cities at their ends, how far and how long each goes."""

from collections.abc import Sequence
from dataclasses import dataclass

from shared.documents.route_map import Place, draw_route_map
from shared.domain.airports import Airport
from shared.domain.flight_times import count_flight_minutes
from shared.reference.reference import Reference


@dataclass(frozen=True)
class Flight:
    """IATA codes, and ISO local times where they are known."""

    origin: str
    destination: str
    departs_at: str | None = None
    arrives_at: str | None = None


@dataclass(frozen=True)
class DrawnFlight:
    """`minutes` from gate to gate; None where a time or an airport is not known."""

    origin_city: str
    destination_city: str
    miles: int | None
    minutes: int | None


def draw_flights(reference: Reference, flights: Sequence[Flight]) -> tuple[str, list[DrawnFlight]]:
    """The map as SVG, empty where no airport of any flight is known, and each flight in words."""
    pairs = [tuple(reference.airports.get(code) for code in (row.origin, row.destination)) for row in flights]
    legs = tuple((_find_place(start), _find_place(end)) for start, end in pairs if start and end)
    facts = [_describe(reference, row, *ends) for row, ends in zip(flights, pairs, strict=True)]
    return draw_route_map(legs), facts


def _find_place(airport: Airport) -> Place:
    return Place(airport.code, airport.city or airport.name, airport.lat, airport.lon)


def _describe(reference: Reference, flight: Flight, start: Airport | None, end: Airport | None) -> DrawnFlight:
    origin = start.city or start.name if start else flight.origin
    destination = end.city or end.name if end else flight.destination
    if not start or not end:
        return DrawnFlight(origin, destination, None, None)
    minutes = count_flight_minutes(flight.departs_at, start.tz, flight.arrives_at, end.tz)
    return DrawnFlight(origin, destination, reference.miles(flight.origin, flight.destination), minutes)
