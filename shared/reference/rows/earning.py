"""Rows about earning: percent of distance, elite tiers and what counts towards them."""

from decimal import Decimal

from shared.reference.rows.fact import Dated, Fact, OfferRow, rows_of


@rows_of("earning_rates.csv", names="program airline scope cabin booking_classes")
class EarningRate(Dated):
    program: str
    airline: str
    cabin: str
    booking_classes: tuple[str, ...]
    percent_of_distance: Decimal
    minimum_points: int | None
    scope: str


@rows_of("earning_cathay_fares.csv", names="booking_classes fare_type zone")
class CathayFare(Dated):
    program: str
    airline: str
    cabin: str
    booking_classes: tuple[str, ...]
    fare_type: str
    zone: str
    status_points: int
    asia_miles: int


@rows_of("earning_cathay_zones.csv", names="zone")
class CathayZone(Fact):
    zone: str
    min_miles: int
    max_miles: int | None
    countries: tuple[str, ...]  # at one end of the flight; empty: no country of another zone at either end


@rows_of("elite_tiers.csv", names="program tier metric", about="program tier metric")
class EliteTier(Dated):
    """`ways`: each way to the tier, "pqp:22000+pqf:60"; empty where only the threshold decides. `keep_ways`: those of
    a member who renews it, where they differ."""

    program: str
    tier: str
    rank: int
    metric: str
    threshold: int
    alternative: str | None
    ways: tuple[str, ...]
    keep_ways: tuple[str, ...]
    period: str | None


@rows_of("elite_flying_blue_xp.csv", names="program cabin band")
class FlyingBlueXp(Fact):
    program: str
    cabin: str
    band: str
    min_miles: int | None
    max_miles: int | None
    xp_per_segment: int


@rows_of("status_earning_rules.csv", names="program rule key cabin")
class StatusEarningRule(Fact):
    program: str
    rule: str
    key: str
    cabin: str
    value: str
    unit: str


@rows_of("status_run_routes.csv", names="slug")
class StatusRunRoute(Fact):
    """A round trip a carrier flies; earnings and distance are computed from the rules and the airports."""

    program: str
    slug: str
    carrier: str
    routing: str
    cabin: str


@rows_of("status_matches.csv", names="offer_id", about="offer_id")
class StatusMatch(OfferRow):
    """An offer to be given, or to earn faster, a tier for one held elsewhere.

    `from_programs`: whose tiers it takes; `*` any, empty: unknown. `from_kind`: airline or hotel, if all accepted tiers
    are of one kind. `remark` is for readers of answers.
    """

    offer_id: str
    to_program: str
    from_programs: tuple[str, ...]
    from_kind: str | None
    from_tiers: tuple[str, ...]
    to_tier: str
    kind: str
    fee: Decimal | None
    currency: str
    requirement: str | None
    days_allowed: int | None
    valid_months: int | None
    once_per: str
    apply_url: str
    remark: str | None
