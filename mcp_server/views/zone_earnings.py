"""Earning by zone, fare type and booking class, as results show it."""

from mcp_server.toolkit.context import Call
from mcp_server.toolkit.results import Part
from shared.errors import NotFound
from shared.reference import cathay
from shared.reference.rows.earning import CathayFare, CathayZone


class ZoneEarning(Part):
    """What one flight earns with a fare in a zone."""

    cabin: str
    fare_type: str
    booking_classes: list[str]
    zone: str
    zone_miles: str
    miles: int
    status_points: int


def _to_zone_earning(row: CathayFare, zone: CathayZone) -> ZoneEarning:
    return ZoneEarning(
        cabin=row.cabin,
        fare_type=row.fare_type,
        booking_classes=list(row.booking_classes),
        zone=row.zone,
        zone_miles=cathay.describe_zone(zone),
        miles=row.asia_miles,
        status_points=row.status_points,
    )


def list_zone_earnings(call: Call, fares: list[CathayFare], zone: str | None) -> list[ZoneEarning]:
    """The fares as results show them, the shortest zone first; those of one zone where a route is named."""
    zones = {z.zone: z for z in call.reference.rows("earning_cathay_zones.csv")}
    fares_of_zone = sorted(
        (f for f in fares if zone in (None, f.zone)),
        key=lambda f: (zones[f.zone].min_miles, f.zone, f.cabin, f.asia_miles),
    )
    return [_to_zone_earning(f, zones[f.zone]) for f in fares_of_zone]


def select_class(fares: list[CathayFare], fare_class: str | None) -> list[CathayFare]:
    """The fares of one booking class; all without one. Raises NotFound with those there are."""
    if not fare_class:
        return fares
    letter = fare_class.strip().upper()
    if matches := [f for f in fares if letter in f.booking_classes]:
        return matches
    classes = sorted({c for f in fares for c in f.booking_classes})
    raise NotFound("booking class", letter, classes)
