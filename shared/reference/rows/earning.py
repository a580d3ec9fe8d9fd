"""Rows about earning: percent of distance, elite tiers and what counts towards them."""

from dataclasses import dataclass
from decimal import Decimal

from shared.reference.rows.fact import Dated, Fact, OfferRow


@dataclass(frozen=True, slots=True)
class EarningRate(Dated):
    program: str
    airline: str
    cabin: str
    booking_classes: tuple[str, ...]
    percent_of_distance: Decimal
    minimum_points: int | None
    scope: str


@dataclass(frozen=True, slots=True)
class CathayFare(Dated):
    program: str
    airline: str
    cabin: str
    booking_classes: tuple[str, ...]
    fare_type: str
    zone: str
    status_points: int
    asia_miles: int


@dataclass(frozen=True, slots=True)
class CathayZone(Fact):
    zone: str
    min_miles: int
    max_miles: int | None
    countries: tuple[str, ...]  # at one end of the flight; none: at neither end a country another zone names


@dataclass(frozen=True, slots=True)
class EliteTier(Dated):
    """`ways`: each way to the tier, "pqp:22000+pqf:60"; empty where the threshold alone decides. `keep_ways`: those of
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


@dataclass(frozen=True, slots=True)
class FlyingBlueXp(Fact):
    program: str
    cabin: str
    band: str
    min_miles: int | None
    max_miles: int | None
    xp_per_segment: int


@dataclass(frozen=True, slots=True)
class StatusEarningRule(Fact):
    program: str
    rule: str
    key: str
    cabin: str
    value: str
    unit: str


@dataclass(frozen=True, slots=True)
class StatusRunRoute(Fact):
    """A round trip a carrier flies; what it earns and how far it is follow from the rules and the airports."""

    program: str
    slug: str
    carrier: str
    routing: str
    cabin: str


@dataclass(frozen=True, slots=True)
class StatusMatch(OfferRow):
    """An offer to be given, or to earn faster, a tier for one held elsewhere.

    `from_programs`: whose tiers it takes; `*` any, empty: unknown. `from_kind`: airline or hotel, where all it takes
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
