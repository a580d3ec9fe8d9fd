"""Subscription plans, tool tiers and the limits of each plan (the specification's table of limits)."""

from dataclasses import dataclass
from enum import IntEnum

from shared.domain.plurals import pluralize
from shared.domain.watch_kinds import LIMITED_KINDS


class Plan(IntEnum):
    """The four plans, each including those before it."""

    FREE = 0
    PREMIUM = 1
    PRO = 2
    ENTERPRISE = 3

    @property
    def slug(self) -> str:
        return self.name.lower()

    @classmethod
    def of(cls, slug: str) -> "Plan":
        return cls[slug.upper()]


class Tier(IntEnum):
    """The label of a tool. Paid and Premium need the same plan and differ in the label only."""

    FREE = 0
    PAID = 1
    PREMIUM = 2
    PRO = 3
    ADMIN = 4

    @property
    def label(self) -> str:
        return "Admin-only" if self is Tier.ADMIN else self.name.title()

    @property
    def needs(self) -> Plan:
        return {Tier.FREE: Plan.FREE, Tier.PRO: Plan.PRO, Tier.ADMIN: Plan.FREE}.get(self, Plan.PREMIUM)


def is_allowed(plan: Plan, tier: Tier) -> bool:
    return plan >= tier.needs


@dataclass(frozen=True, kw_only=True)
class Limits:
    """One plan's limits, except for watches, whose kinds have them; None means no limit."""

    searches_per_day: int | None
    results: int | None
    active_trips: int | None
    tool_calls_per_day: int
    api_calls_per_month: int


LIMITS: dict[Plan, Limits] = {
    Plan.FREE: Limits(
        searches_per_day=5,
        results=3,
        active_trips=1,
        tool_calls_per_day=500,
        api_calls_per_month=50,
    ),
    Plan.PREMIUM: Limits(
        searches_per_day=None,
        results=None,
        active_trips=None,
        tool_calls_per_day=5_000,
        api_calls_per_month=150,
    ),
    Plan.PRO: Limits(
        searches_per_day=None,
        results=None,
        active_trips=None,
        tool_calls_per_day=10_000,
        api_calls_per_month=150,
    ),
    Plan.ENTERPRISE: Limits(
        searches_per_day=None,
        results=None,
        active_trips=None,
        tool_calls_per_day=50_000,
        api_calls_per_month=500,
    ),
}

FREE_CABINS = ("economy",)
CABINS = ("economy", "premium_economy", "business", "first")


def list_cabins(plan: Plan) -> tuple[str, ...]:
    return CABINS if plan > Plan.FREE else FREE_CABINS


def list_additions(plan: Plan) -> list[str]:
    """Describes what a plan adds to the one below it, with the numbers of LIMITS."""
    below = _count(Plan(plan - 1)) if plan else {}
    words = {
        Plan.FREE: [f"{LIMITS[plan].searches_per_day} economy searches a day", "every tool labelled Free"],
        Plan.PREMIUM: ["unlimited searches in all cabins", "full results", "every integration", "unlimited trips"],
        Plan.PRO: ["client portfolios and branded PDFs"],
        Plan.ENTERPRISE: ["an API allowance that can be agreed"],
    }[plan]
    counts = _count(plan).items()
    return words + [pluralize(n, *nouns) for nouns, n in counts if n and n != below.get(nouns)]


def _count(plan: Plan) -> dict[tuple[str, str], int | None]:
    """How many of each thing a plan allows, by its noun and the plural; None means no limit."""
    watches = {(kind.noun, kind.nouns): kind.cap(plan) for kind in LIMITED_KINDS}
    trips, calls = ("active trip", "active trips"), ("API call a month", "API calls a month")
    return {trips: LIMITS[plan].active_trips} | watches | {calls: LIMITS[plan].api_calls_per_month}


# Integrations, with the plan each needs.
INTEGRATIONS = {
    "seats_aero": Plan.FREE,
    "awardwallet": Plan.PREMIUM,
    "google_sheets": Plan.PREMIUM,
    "tripit": Plan.PREMIUM,
    "autopilot": Plan.PREMIUM,
}
