"""Figures for administrators: counts over everybody's calls, accounts, rows and jobs."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, time
from typing import Any

import sqlalchemy as sa
from sqlalchemy import ColumnElement, func
from sqlalchemy.dialects.postgresql import aggregate_order_by
from sqlalchemy.orm import Session

from shared.db.accounts import Account
from shared.db.base import Base, unscoped
from shared.db.bookings import FlightBooking, HotelBooking
from shared.db.call_figures import CallCount, CallTime, ClientCount
from shared.db.fact_reports import FactReport
from shared.db.messages import OPEN_STATUSES as OPEN_MESSAGE
from shared.db.messages import Delivery
from shared.db.runs import OPEN_STATUSES as OPEN_RUN
from shared.db.runs import JobRun
from shared.db.source_watch import FAULT, SourceItem, SourceReading
from shared.db.trips import SearchRecord, Trip
from shared.db.usage import TOOL_CALLS, UNCOUNTED_TOOL, ToolCall, UsageCounter
from shared.db.watches import list_limited_models
from shared.domain.call_times import estimate_percentile

# Outcomes that callers get as errors; all others are answers.
ERRORS = ("internal_error", "temporarily_unavailable", "invalid", "admin_only")
PERCENTILES = (0.5, 0.95)
MAX_EXACT_TIMES = 20_000  # calls whose times are sorted in 30 ms; above that percentiles are estimates
RECORDS: dict[str, tuple[type[Base], ...]] = {
    "flight_bookings": (FlightBooking,),
    "hotel_bookings": (HotelBooking,),
    **{
        name: tuple(model for model in list_limited_models() if model.KIND.counted_as == name)
        for name in ("monitors", "alerts", "standing_orders")
    },
    "trips": (Trip,),
}


@dataclass(frozen=True)
class ToolUsage:
    tool: str
    calls: int
    errors: int
    paywalls: int
    p50_ms: float
    p95_ms: float


@dataclass(frozen=True)
class DayUsage:
    day: date
    calls: int
    users: int


@dataclass(frozen=True)
class ClientUsage:
    client_name: str
    calls: int


def one_snapshot(session: Session) -> Session:
    """A session that sees everyone, with one snapshot for all its statements, so that the figures agree."""
    session.connection(execution_options={"isolation_level": "REPEATABLE READ"})
    return unscoped(session)


def calls_by_tool(session: Session, since: date) -> list[ToolUsage]:
    """Calls by tool, the most called first."""
    calls = func.sum(CallCount.calls)
    errors, paywalls = (
        func.coalesce(calls.filter(fits), 0) for fits in (CallCount.outcome.in_(ERRORS), CallCount.outcome == "paywall")
    )
    figures = sa.select(CallCount.tool, calls, errors, paywalls).where(CallCount.day >= since)
    rows = session.execute(
        figures.group_by(CallCount.tool).having(calls > 0).order_by(calls.desc(), CallCount.tool)
    ).all()
    times = _estimate_percentiles(session, since)
    if sum(row[1] for row in rows) <= MAX_EXACT_TIMES:
        times |= _read_percentiles(session, since)
    return [ToolUsage(*row, *times[row[0]]) for row in rows]


def _read_percentiles(session: Session, since: date) -> dict[str, tuple[float, float]]:
    middle, slow = (func.percentile_cont(part).within_group(ToolCall.milliseconds) for part in PERCENTILES)
    figures = (
        sa.select(ToolCall.tool, middle, slow)
        .where(ToolCall.at >= datetime.combine(since, time(), UTC))
        .group_by(ToolCall.tool)
    )
    return {row[0]: (row[1], row[2]) for row in session.execute(figures)}


def _estimate_percentiles(session: Session, since: date) -> dict[str, tuple[float, float]]:
    """One row with two lists per tool: 8,000 rows of steps took this program 20 ms instead of 10."""
    step, calls = (CallTime.tool, CallTime.milliseconds), func.sum(CallTime.calls).label("calls")
    steps = sa.select(*step, calls).where(CallTime.day >= since).group_by(*step).having(calls > 0).subquery().c
    lists = (
        func.array_agg(aggregate_order_by(column, steps.milliseconds)) for column in (steps.milliseconds, steps.calls)
    )
    percentiles = {}
    for tool, milliseconds, numbers in session.execute(sa.select(steps.tool, *lists).group_by(steps.tool)):
        counts = list(zip(milliseconds, map(int, numbers), strict=True))
        middle, slow = (estimate_percentile(counts, part) for part in PERCENTILES)
        percentiles[tool] = middle, slow
    return percentiles


def calls_by_day(session: Session, since: date) -> tuple[list[DayUsage], int]:
    """Calls by day, and the number of accounts that called at all."""
    number = func.sum(CallCount.calls).label("calls")
    calls = sa.select(CallCount.day, number).where(CallCount.day >= since).group_by(CallCount.day).having(number > 0)
    called = (UsageCounter.meter == TOOL_CALLS, UsageCounter.period >= since)
    users = sa.select(UsageCounter.period, func.count().label("users")).where(*called).group_by(UsageCounter.period)
    of_day, with_users = calls.subquery(), users.subquery()
    # Much quicker than count(distinct), which sorts the counters of all days.
    accounts = sa.select(UsageCounter.account_id).where(*called).distinct().subquery()
    total = sa.select(func.count()).select_from(accounts).scalar_subquery()
    figures = sa.select(of_day.c.day, of_day.c.calls, func.coalesce(with_users.c.users, 0), total)
    figures = figures.outerjoin_from(of_day, with_users, with_users.c.period == of_day.c.day)
    rows = session.execute(figures.order_by(of_day.c.day)).all()
    return [DayUsage(*row[:3]) for row in rows], rows[0][3] if rows else 0


def calls_by_client(session: Session, since: date, most: int) -> tuple[list[ClientUsage], int]:
    """The applications with the most calls, and how many called at all."""
    name, calls = ClientCount.client, func.sum(ClientCount.calls)
    figures = sa.select(name, calls, func.count().over()).where(ClientCount.day >= since)
    figures = figures.group_by(name).having(calls > 0)
    rows = session.execute(figures.order_by(calls.desc(), name).limit(most)).all()
    return [ClientUsage(name, calls) for name, calls, _ in rows], rows[0][2] if rows else 0


def find_account(session: Session, id: int | None, email: str | None) -> Account | None:
    """The account with this id or whole address, or with both if both are given."""
    fits: list[ColumnElement[bool]] = [] if id is None else [Account.id == id]
    if email is not None:
        fits.append(func.lower(Account.email) == email.lower())
    return session.scalar(sa.select(Account).where(*fits))


def count_rest_calls(session: Session, account_id: int, since: datetime, counted: Iterable[str]) -> int:
    """Calls over REST that count against the month, by how they ended."""
    fits = (
        ToolCall.account_id == account_id,
        ToolCall.at >= since,
        ToolCall.via == "rest",
        ToolCall.tool != UNCOUNTED_TOOL,
        ToolCall.outcome.in_(counted),
    )
    return session.scalar(sa.select(func.count()).select_from(ToolCall).where(*fits)) or 0


def newest_searches(session: Session, account_id: int, most: int) -> Sequence[SearchRecord]:
    searches = sa.select(SearchRecord).where(SearchRecord.account_id == account_id)
    newest = searches.order_by(SearchRecord.created_at.desc(), SearchRecord.id.desc())
    return session.scalars(newest.limit(most)).all()


def accounts_by_plan(session: Session, active_since: datetime) -> dict[str, tuple[int, int]]:
    """Accounts by plan, and how many of them made a call since then."""
    active = func.count().filter(Account.last_seen_at >= active_since)
    figures = sa.select(Account.plan, func.count(), active).group_by(Account.plan)
    return {plan: (number, active_number) for plan, number, active_number in session.execute(figures)}


def count_signups(session: Session, since: datetime) -> Mapping[date, int]:
    day = sa.cast(Account.created_at, sa.Date)
    figures = sa.select(day, func.count()).where(Account.created_at >= since).group_by(day)
    return {day: number for day, number in session.execute(figures)}  # noqa: C416 - a Row is no tuple to mypy


def _number(model: Any, *fits: ColumnElement[bool] | sa.TextClause) -> sa.ScalarSelect[int]:
    return sa.select(func.count()).select_from(model).where(*fits).scalar_subquery()


def count_records(session: Session) -> dict[str, int]:
    """Counts rows of each kind in one statement."""
    counts = [sum((_number(m) for m in models), sa.literal(0)).label(name) for name, models in RECORDS.items()]
    return dict(session.execute(sa.select(*counts)).one()._mapping)


def count_fact_items(session: Session) -> dict[str, Any]:
    """Open items about facts: reports of people, differences of watched files, files that could not be read."""
    is_open = (SourceItem.ended_on.is_(None), SourceItem.closed_on.is_(None))
    counts: dict[str, sa.ScalarSelect[Any]] = {
        "reports": _number(FactReport, FactReport.closed_on.is_(None)),
        "differences": _number(SourceItem, *is_open, SourceItem.field != FAULT),
        "unread_sources": _number(SourceItem, *is_open, SourceItem.field == FAULT),
        "sources_checked_at": sa.select(func.max(SourceReading.checked_at)).scalar_subquery(),
    }
    figures = sa.select(*(figure.label(name) for name, figure in counts.items()))
    return dict(session.execute(figures).one()._mapping)


def count_jobs(session: Session, since: datetime) -> tuple[int, int]:
    """Counts runs and messages that wait or are running, and those that failed since then."""
    waiting = (
        _number(JobRun, sa.text(f"job_runs.status in {OPEN_RUN}")),
        _number(Delivery, sa.text(f"deliveries.status in {OPEN_MESSAGE}")),
    )
    failed = (
        _number(JobRun, JobRun.status == "failed", JobRun.finished_at >= since),
        _number(Delivery, Delivery.status == "failed", Delivery.created_at >= since),
    )
    queued, ended = session.execute(sa.select(waiting[0] + waiting[1], failed[0] + failed[1])).one()
    return queued, ended
