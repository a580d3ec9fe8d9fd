"""Earning on Cathay Pacific flights: fares by distance zone, and the zone of a route."""

from collections.abc import Sequence
from typing import Any

from shared.reference.reference import Reference
from shared.reference.rows.earning import CathayFare, CathayZone


def list_fares(reference: Reference, program: str, airline: str) -> Sequence[CathayFare]:
    """The fares of an airline that earns by zone in a programme; empty if it earns differently."""
    rows: Sequence[Any] = reference.rows("earning_cathay_fares.csv")
    return [r for r in rows if (r.program, r.airline) == (program, airline)]


def find_zone(reference: Reference, origin: str, destination: str) -> CathayZone:
    """The zone of a flight: by its miles, and by its countries if two zones share the miles. Raises NotFound."""
    miles = reference.miles(origin, destination)
    countries = {reference.airport(code).country for code in (origin, destination)}
    rows: Sequence[CathayZone] = reference.rows("earning_cathay_zones.csv")
    fitting = [z for z in rows if z.min_miles <= miles and (z.max_miles is None or miles <= z.max_miles)]
    by_country = [z for z in fitting if countries & set(z.countries)]
    return by_country[0] if by_country else next(z for z in fitting if not z.countries)


def describe_zone(zone: CathayZone) -> str:
    """A zone's miles in words."""
    return f"{zone.min_miles:,} to {zone.max_miles:,} miles" if zone.max_miles else f"from {zone.min_miles:,} miles"
