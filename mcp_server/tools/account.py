"""The caller's plan: what it allows, how much is used, and what the other plans add."""

from datetime import date, datetime
from decimal import Decimal

from sqlalchemy import select

from mcp_server.calls.usage import USAGE_LOG
from mcp_server.toolkit import Call, Effect, Money, Part, Result, Tier, tool
from shared import clock
from shared.db.flight_alerts import FlightAlert
from shared.db.pagination import select_count
from shared.db.route_monitors import RouteMonitor
from shared.db.trips import Trip
from shared.db.usage import API_CALLS, SEARCHES, TOOL_CALLS, select_used
from shared.domain.plans import LIMITS, Plan, list_additions, list_cabins
from shared.domain.plurals import pluralize
from shared.domain.watch_kinds import LIMITED_KINDS

CURRENCY = "USD"


class CurrentPlan(Part):
    tier: str
    name: str
    price_per_month: Money | None
    currency: str


class Searches(Part):
    used_today: int
    cap: int | None
    resets_at: datetime
    cabins: list[str]


class ApiCalls(Part):
    used_this_month: int
    cap: int
    resets_on: date


class ToolCalls(Part):
    used_today: int
    ceiling: int


class Held(Part):
    active: int
    cap: int | None


class LimitUse(Part):
    route_monitors: Held
    flight_alerts: Held
    active_trips: Held


class OfferedPlan(Part):
    tier: str
    price_per_month: Money | None
    adds: list[str]


class Usage(Result):
    plan: CurrentPlan
    searches: Searches
    api_calls: ApiCalls
    tool_calls: ToolCalls
    counts: LimitUse
    plans: list[OfferedPlan]
    upgrade_url: str


def _monthly_price(call: Call, plan: Plan) -> Decimal | None:
    """The price a month; None if the operator has not set one."""
    return {Plan.FREE: Decimal(0), Plan.PREMIUM: Decimal(str(call.settings.premium_price))}.get(plan)


_USED = select_used()
_HELD = select(
    select_count(RouteMonitor, RouteMonitor.is_running()).scalar_subquery().label("route_monitors"),
    select_count(FlightAlert, FlightAlert.is_running()).scalar_subquery().label("flight_alerts"),
    select_count(Trip, Trip.archived_at.is_(None)).scalar_subquery().label("active_trips"),
)


@tool("account", Tier.FREE, Effect.READS, "Show my plan and what I have used")
def get_usage(call: Call) -> Usage:
    """Shows the user's plan or subscription, its limits, searches used and left today, and what an upgrade adds.

    For "How many searches do I have left? Why can't I do more?" Free.
    """
    days = {"day": call.today, "month": call.today.replace(day=1)}
    used = dict(call.db.execute(_USED, days).all())
    counts = call.db.execute(_HELD).one()
    searches, cap = used.get(SEARCHES, 0), call.limits.searches_per_day
    allowed = "without limit" if cap is None else f"of {cap}"
    plan = call.plan
    caps = {kind.files: kind.cap(plan) for kind in LIMITED_KINDS} | {"active_trips": call.limits.active_trips}
    return Usage(
        message=f"{plan.slug.title()} plan: {pluralize(searches, 'search', 'searches')} used today, {allowed}.",
        plan=CurrentPlan(
            tier=plan.slug, name=plan.slug.title(), price_per_month=_monthly_price(call, plan), currency=CURRENCY
        ),
        searches=Searches(used_today=searches, cap=cap, resets_at=clock.midnight(), cabins=list(list_cabins(plan))),
        api_calls=ApiCalls(
            used_this_month=used.get(API_CALLS, 0),
            cap=call.caller.api_tier_limit,
            resets_on=clock.next_month().date(),
        ),
        tool_calls=ToolCalls(
            used_today=USAGE_LOG.count(call.account_id, used.get(TOOL_CALLS, 0)),
            ceiling=USAGE_LOG.daily_limit(call.caller),
        ),
        counts=LimitUse.model_validate(
            {name: Held(active=getattr(counts, name), cap=caps[name]) for name in LimitUse.model_fields}
        ),
        plans=[
            OfferedPlan(tier=p.slug, price_per_month=_monthly_price(call, p), adds=list_additions(p)) for p in LIMITS
        ],
        upgrade_url=call.upgrade_url,
    )
