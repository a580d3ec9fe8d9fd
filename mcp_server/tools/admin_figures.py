"""Figures for administrators: calls by tool, day and client, and totals of the installation."""

from datetime import UTC, date, datetime, time, timedelta
from typing import Annotated, Literal

from pydantic import Field

from mcp_server.toolkit import Call, Effect, Part, Result, Tier, tool
from shared.db import admin_figures as figures
from shared.db.admin_figures import MAX_EXACT_TIMES, one_snapshot
from shared.db.call_figures import WINDOW
from shared.domain.plans import Plan
from shared.domain.plurals import pluralize
from shared.services.operations import workers
from shared.services.search import sources

ACTIVE_DAYS = FAILED_DAYS = 7
MAX_CLIENTS = 50  # in one answer; applications name themselves, so there can be many


class CallTotals(Part):
    calls: int
    users: int
    errors: int
    paywalls: int
    paywall_rate: float  # of all calls


class ToolFigures(Part):
    tool: str
    calls: int
    errors: int
    paywalls: int
    p50_ms: float
    p95_ms: float


class DayFigures(Part):
    day: date
    calls: int
    users: int


class ClientFigures(Part):
    client_name: str
    calls: int


class UsageStats(Result):
    totals: CallTotals
    by_tool: list[ToolFigures]
    by_day: list[DayFigures]
    by_client: list[ClientFigures]


class UserFigures(Part):
    total: int
    by_tier: dict[str, int]
    active_7d: int


class Records(Part):
    flight_bookings: int
    hotel_bookings: int
    monitors: int
    alerts: int
    standing_orders: int
    trips: int


class SignUps(Part):
    day: date
    count: int


class Jobs(Part):
    queued: int
    failed: int
    workers: int | None


class FactItems(Part):
    """Open items about facts, which `award-travel audit` lists."""

    reports: int
    differences: int
    unread_sources: int
    sources_checked_at: datetime | None


class Backend(Part):
    name: str
    state: Literal["live", "degraded", "down", "not_configured"]
    last_success_at: datetime | None


class Overview(Result):
    users: UserFigures
    records: Records
    signups_by_day: list[SignUps]
    jobs: Jobs
    backends: list[Backend]
    fact_items: FactItems


def _list_days(call: Call, number: int) -> list[date]:
    """The last UTC days up to today."""
    return [call.today - timedelta(days=back) for back in reversed(range(number))]


@tool("admin", Tier.ADMIN, Effect.READS, "Show tool statistics (administrator)")
def admin_mcp_usage_stats(call: Call, days: Annotated[int, Field(ge=1, le=WINDOW)] = 14) -> UsageStats:
    """Shows which tools are called most, with failure rate, errors, paywalls and times, by day and application.

    For "What do people use most this month?" Admin-only.
    """
    window = _list_days(call, days)
    session, since = one_snapshot(call.db), window[0]
    tools = figures.calls_by_tool(session, since)
    day_figures, users = figures.calls_by_day(session, since)
    clients, client_total = figures.calls_by_client(session, since, MAX_CLIENTS)
    by_day = {of_day.day: of_day for of_day in day_figures}
    calls, paywalls = sum(t.calls for t in tools), sum(t.paywalls for t in tools)
    rate = round(paywalls / calls, 4) if calls else 0.0
    totals = CallTotals(
        calls=calls, users=users, errors=sum(t.errors for t in tools), paywalls=paywalls, paywall_rate=rate
    )
    about = "" if totals.calls <= MAX_EXACT_TIMES else " Times are estimates, less than an eighth off."
    cut = f" The {MAX_CLIENTS} busiest of {client_total} applications are shown." if client_total > MAX_CLIENTS else ""
    return UsageStats(
        message=f"{pluralize(totals.calls, 'call')} by {pluralize(users, 'account')} in {pluralize(days, 'day')},"
        f" {totals.paywall_rate:.1%} paywalls.{about}{cut}",
        totals=totals,
        by_tool=[ToolFigures.model_validate(t) for t in tools],
        by_day=[DayFigures.model_validate(by_day.get(day) or figures.DayUsage(day, 0, 0)) for day in window],
        by_client=[ClientFigures.model_validate(c) for c in clients],
    )


@tool("admin", Tier.ADMIN, Effect.READS, "Show the service's state (administrator)")
def admin_platform_overview(call: Call, days: Annotated[int, Field(ge=1, le=365)] = 30) -> Overview:
    """Shows how the service is doing: total accounts, free and paid, new sign-ups per day, failed jobs and sources.

    For "How many new users did we get?" Admin-only.
    """
    window, session = _list_days(call, days), one_snapshot(call.db)
    plans = figures.accounts_by_plan(session, call.now - timedelta(days=ACTIVE_DAYS))
    total = sum(number for number, _ in plans.values())
    new = figures.count_signups(session, datetime.combine(window[0], time(), UTC))
    queued, failed = figures.count_jobs(session, call.now - timedelta(days=FAILED_DAYS))
    return Overview(
        message=f"{pluralize(total, 'account')}, {sum(new.values()):,} of them new in {pluralize(days, 'day')};"
        f" {pluralize(failed, 'job')} failed in {pluralize(FAILED_DAYS, 'day')}.",
        users=UserFigures(
            total=total,
            by_tier={plan.slug: plans.get(plan.slug, (0, 0))[0] for plan in Plan},
            active_7d=sum(active for _, active in plans.values()),
        ),
        records=Records(**figures.count_records(session)),
        signups_by_day=[SignUps(day=day, count=new.get(day, 0)) for day in window],
        jobs=Jobs(queued=queued, failed=failed, workers=workers.count_workers()),
        backends=[Backend.model_validate(b) for b in sources.backends()],
        fact_items=FactItems(**figures.count_fact_items(session)),
    )
