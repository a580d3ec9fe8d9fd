"""Usage: exact counters per account, meter and period, and one row per tool call for statistics."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date, datetime, timedelta

import sqlalchemy as sa
from sqlalchemy import ForeignKey, Index, PrimaryKeyConstraint
from sqlalchemy.orm import Mapped, Session, mapped_column

from shared.db import bulk
from shared.db.base import AccountOwned, Base, stamp
from shared.db.call_figures import count_calls
from shared.db.partitions import partition_by

SEARCHES = "searches"  # per UTC day
TOOL_CALLS = "tool_calls"  # per UTC day
API_CALLS = "api_calls"  # per calendar month, period = its first day
UNCOUNTED_TOOL = "get_usage"  # asking for usage uses nothing


class UsageCounter(AccountOwned, Base):
    """Exact counters: searches a UTC day, API calls a month, tool calls a day."""

    __tablename__ = "usage_counters"
    __table_args__ = (Index("ix_usage_counters_period", "period", "meter", "account_id"),)

    account_id: Mapped[int] = mapped_column(ForeignKey("accounts.id", ondelete="CASCADE"), primary_key=True)
    meter: Mapped[str] = mapped_column(primary_key=True)
    period: Mapped[date] = mapped_column(primary_key=True)
    used: Mapped[int] = mapped_column(server_default="0")


class ToolCall(AccountOwned, Base):
    """One finished call; never its arguments. Written in batches, so a kill -9 may lose the last second."""

    __tablename__ = "tool_calls"
    __table_args__ = (
        PrimaryKeyConstraint("at", "id"),
        Index("ix_tool_calls_account_at", "account_id", "at"),
        partition_by("at", timedelta(days=1)),
    )

    id: Mapped[int] = mapped_column(sa.BigInteger, sa.Identity())
    account_id: Mapped[int] = mapped_column(ForeignKey("accounts.id", ondelete="CASCADE"))
    client: Mapped[str | None]
    via: Mapped[str]
    tool: Mapped[str]
    outcome: Mapped[str]
    milliseconds: Mapped[int]
    at: Mapped[stamp]


@dataclass(frozen=True)
class Note:
    """One finished call, as it is kept."""

    account_id: int
    client: str | None
    via: str
    tool: str
    outcome: str
    milliseconds: int
    at: datetime


_TAKE = sa.text("""
insert into usage_counters as counter (account_id, meter, period, used) values (:account, :meter, :period, :amount)
on conflict (account_id, meter, period) do update set used = counter.used + excluded.used
 where cast(:cap as integer) is null or counter.used + excluded.used <= :cap
returning used""")
_ADD = sa.text("""
insert into usage_counters as counter (account_id, meter, period, used)
 values (:account, :meter, :period, greatest(:amount, 0))
on conflict (account_id, meter, period) do update set used = greatest(counter.used + :amount, 0)""")

_ADD_TO_COUNTER = """on conflict (account_id, meter, period) do update set used = usage_counters.used + excluded.used
returning account_id, period, used"""


def take(session: Session, account_id: int, meter: str, period: date, cap: int | None, amount: int = 1) -> int | None:
    """Counts `amount` in one atomic statement and returns the new figure, or None if the cap would be exceeded."""
    if cap is not None and amount > cap:
        return None
    params = {"account": account_id, "meter": meter, "period": period, "amount": amount, "cap": cap}
    return session.execute(_TAKE, params).scalar_one_or_none()


def add(session: Session, account_id: int, meter: str, period: date, amount: int) -> None:
    """Counts without a cap; a negative amount gives back what uncounted calls took."""
    session.execute(_ADD, {"account": account_id, "meter": meter, "period": period, "amount": amount})


def count_used(session: Session, account_id: int, meter: str, period: date) -> int:
    row = session.execute(
        sa.select(UsageCounter.used).where(
            UsageCounter.account_id == account_id, UsageCounter.meter == meter, UsageCounter.period == period
        )
    ).scalar_one_or_none()
    return row or 0


def select_used() -> sa.Select[str, int]:
    """The counters of the day `day` and of the month that starts on `month`: meter and number."""
    periods = sa.or_(
        sa.and_(UsageCounter.meter == API_CALLS, UsageCounter.period == sa.bindparam("month")),
        sa.and_(UsageCounter.meter != API_CALLS, UsageCounter.period == sa.bindparam("day")),
    )
    return sa.select(UsageCounter.meter, UsageCounter.used).where(periods)


def store_calls(session: Session, notes: Iterable[Note]) -> dict[tuple[int, date], int]:
    """Stores a batch of calls; returns each account's calls of the day so far, over all processes.

    Accounts deleted since the call are left out. Counters are taken in a fixed order, so batches never deadlock.
    """
    batch = list(notes)
    alive = set(
        session.execute(
            sa.text("select id from accounts where id = any(:ids) order by id for key share"),
            {"ids": sorted({n.account_id for n in batch})},
        ).scalars()
    )
    batch = [n for n in batch if n.account_id in alive]
    if not batch:
        return {}
    # An account that only asked what is used has a counter too, of 0: it called something on that day.
    counts = Counter[tuple[int, date]]()
    for note in batch:
        counts[note.account_id, note.at.date()] += note.tool != UNCOUNTED_TOOL
    rows = [
        {"account_id": account_id, "meter": TOOL_CALLS, "period": day, "used": used}
        for (account_id, day), used in sorted(counts.items())
    ]
    counters = bulk.write(session, UsageCounter, rows, _ADD_TO_COUNTER).all()
    bulk.write(session, ToolCall, [vars(n) for n in batch])  # 2 us of processor a call; row by row 28
    count_calls(session, ((n.at.date(), n.tool, n.outcome, n.milliseconds, n.client) for n in batch))
    return {(row.account_id, row.period): row.used for row in counters}
