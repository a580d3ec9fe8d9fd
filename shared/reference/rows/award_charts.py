"""Rows about award prices and what surrounds them: charts, bands, zones, windows, fees and surcharges."""

from dataclasses import dataclass
from decimal import Decimal

from shared.reference.rows.fact import Dated, Fact


@dataclass(frozen=True, slots=True)
class ChartRow(Dated):
    chart_id: str
    program: str
    scope: str
    carriers: tuple[str, ...]
    chart_type: str
    pricing_basis: str
    direction: str
    level: str
    overrides_general: bool
    zone_system: str | None
    route_scope: str | None
    threshold_miles: int | None
    remark: str | None  # for readers of answers; `note` is for anyone who audits the row


@dataclass(frozen=True, slots=True)
class ChartGap(Fact):
    """Why a programme's chart of its `own` or its `partner` flights is not here, in a sentence for readers."""

    program: str
    scope: str
    reason: str


@dataclass(frozen=True, slots=True)
class ChartBand:
    chart_id: str
    cabin: str
    season: str
    min_miles: int
    max_miles: int | None
    points: int
    note: str | None


@dataclass(frozen=True, slots=True)
class ZonePrice:
    chart_id: str
    cabin: str
    from_zone: str
    to_zone: str
    season: str
    points: int


@dataclass(frozen=True, slots=True)
class ZoneMembers:
    zone_system: str
    zone: str
    continents: tuple[str, ...]
    countries: tuple[str, ...]
    countries_exclude: tuple[str, ...]
    regions: tuple[str, ...]
    regions_exclude: tuple[str, ...]
    airports: tuple[str, ...]
    airports_exclude: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class RejectedCell:
    chart_id: str
    cabin: str | None
    reason: str


@dataclass(frozen=True, slots=True)
class KnownPrice(Fact):
    """What a route of a chart costs one way by another source than the chart's."""

    chart_id: str
    airline: str
    origin: str
    destination: str
    cabin: str
    season: str
    points: int


@dataclass(frozen=True, slots=True)
class AwardExample(Dated):
    program: str
    airline: str
    origin: str
    destination: str
    cabin: str
    points: int
    direction: str
    level: str


@dataclass(frozen=True, slots=True)
class ReleaseWindow(Fact):
    """`program` is None where the airline's own programme is not listed. `remark` is for readers of answers."""

    program: str | None
    airline: tuple[str, ...]
    days_before_departure: int
    release_time: str | None
    remark: str | None


@dataclass(frozen=True, slots=True)
class CancellationFee(Fact):
    program: str
    change_fee: Decimal | None
    cancel_fee: Decimal | None
    fee_currency: str
    cancel_unit: str
    change_unit: str
    per: str
    cutoff: str | None
    exempt_tiers: tuple[str, ...]
    remark: str | None


@dataclass(frozen=True, slots=True)
class Surcharge(Fact):
    operating_carrier: str
    booked_with: str | None  # None: with the carrier's own programme
    level: str
    usd_low: int | None
    usd_high: int | None
    per: str
    cabin: str
    remark: str | None
