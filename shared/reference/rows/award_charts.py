"""Rows about award prices and related facts: charts, bands, zones, windows, fees and surcharges."""

from decimal import Decimal

from shared.reference.rows.fact import Dated, Fact, rows_of


@rows_of("award_charts.csv", key="chart_id", about="chart_id")
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
    remark: str | None  # for readers of answers; `note` is for auditors


@rows_of("award_chart_gaps.csv", key="program scope")
class ChartGap(Fact):
    """Why a programme's chart of its `own` or its `partner` flights is missing, in a sentence for readers."""

    program: str
    scope: str
    reason: str


@rows_of("award_chart_bands.csv", key="chart_id cabin season min_miles")
class ChartBand:
    chart_id: str
    cabin: str
    season: str
    min_miles: int
    max_miles: int | None
    points: int
    note: str | None


@rows_of("award_chart_zones.csv", key="chart_id cabin from_zone to_zone season")
class ZonePrice:
    chart_id: str
    cabin: str
    from_zone: str
    to_zone: str
    season: str
    points: int


@rows_of("award_zone_members.csv", key="zone_system zone")
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


@rows_of("award_chart_rejected.csv", names="chart_id cabin reason")
class RejectedCell:
    chart_id: str
    cabin: str | None
    reason: str


@rows_of("award_chart_checks.csv", key="chart_id airline origin destination cabin season")
class KnownPrice(Fact):
    """The one-way price of a chart's route from a source other than the chart's."""

    chart_id: str
    airline: str
    origin: str
    destination: str
    cabin: str
    season: str
    points: int


@rows_of("award_examples.csv", names="program airline origin destination cabin level")
class AwardExample(Dated):
    program: str
    airline: str
    origin: str
    destination: str
    cabin: str
    points: int
    direction: str
    level: str


@rows_of("release_windows.csv", names="airline")
class ReleaseWindow(Fact):
    """`program` is None if the airline's own programme is not listed. `remark` is for readers of answers."""

    program: str | None
    airline: tuple[str, ...]
    days_before_departure: int
    release_time: str | None
    remark: str | None


@rows_of("cancellation_fees.csv", names="program")
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


@rows_of("carrier_surcharges.csv", names="operating_carrier booked_with level")
class Surcharge(Fact):
    operating_carrier: str
    booked_with: str | None  # None: with the carrier's own programme
    level: str
    usd_low: int | None
    usd_high: int | None
    per: str
    cabin: str
    remark: str | None
