"""Of each day the calls and the accounts that called, and of how many accounts it is the last such day.

Anyone who called in the last N days has a last day of calls among them: so one row of each day tells how many accounts
called in any number of days. To count them in 1.3 million counters of two weeks took most of 0.3 s.
"""

import datetime as dt
from collections.abc import Collection, Mapping

import sqlalchemy as sa
from sqlalchemy.orm import Mapped, Session, mapped_column

from shared.db.base import Base

Changes = Mapping[dt.date, tuple[int, int, int]]  # of each day what is added: calls, accounts, accounts_last


class DailyCalls(Base):
    """Calls of a day (UTC), accounts that made any, and those of them that made none after it."""

    __tablename__ = "daily_calls"

    day: Mapped[dt.date] = mapped_column(primary_key=True)
    calls: Mapped[int]
    accounts: Mapped[int]
    accounts_last: Mapped[int]


# A counter of calls is one account and one of its days.
_COUNTERS = "from usage_counters as c where c.meter = 'tool_calls'"
_LOCK = sa.text("lock table daily_calls in share row exclusive mode")
_ADD = """
insert into daily_calls (day, calls, accounts, accounts_last)
 select day, sum(calls), sum(accounts), sum(accounts_last) from changes group by day order by day
on conflict (day) do update set calls = daily_calls.calls + excluded.calls,
 accounts = daily_calls.accounts + excluded.accounts,
 accounts_last = daily_calls.accounts_last + excluded.accounts_last"""
_COUNT_NEW = sa.text(f"""
with new as (
 select * from unnest(cast(:account_ids as bigint[]), cast(:account_days as date[])) as n (account_id, day)),
newest as (select account_id, max(day) as day from new group by 1),
moves as (select n.day, (select max(c.period) {_COUNTERS} and c.account_id = n.account_id
   and not exists (select from new where new.account_id = c.account_id and new.day = c.period)) as before
  from newest as n),
changes as (
 select day, 0 as calls, count(*) as accounts, 0 as accounts_last from new group by day
 union all select day, 0, 0, count(*) from moves where before is null or before < day group by day
 union all select before, 0, 0, -count(*) from moves where before < day group by before)
{_ADD}""")  # noqa: S608 - of constants
_CHANGE = sa.text(f"""
with changes as (select * from unnest(cast(:days as date[]), cast(:calls as integer[]), cast(:accounts as integer[]),
 cast(:accounts_last as integer[])) as d (day, calls, accounts, accounts_last))
{_ADD}""")  # noqa: S608
_OF_ACCOUNTS = sa.text(f"""
select day, cast(sum(calls) as integer), cast(sum(accounts) as integer), cast(sum(accounts_last) as integer) from (
 select cast(timezone('UTC', at) as date) as day, count(*) as calls, 0 as accounts, 0 as accounts_last
  from tool_calls where account_id = any(:accounts) group by 1
 union all select period, 0, count(*), 0 {_COUNTERS} and account_id = any(:accounts) group by 1
 union all select max(period), 0, 0, 1 {_COUNTERS} and account_id = any(:accounts) group by account_id) as figures
group by day""")  # noqa: S608


def count_by_day(session: Session, calls: Mapping[dt.date, int], new: Collection[tuple[int, dt.date]]) -> None:
    """Adds calls, and of accounts the days that are `new` among their counters.

    Of two programs that store first calls of one account, on two days, the second must see the counter of the first.
    """
    if new:
        session.execute(_LOCK)
        account_ids, days = zip(*new, strict=True)
        session.execute(_COUNT_NEW, {"account_ids": list(account_ids), "account_days": list(days)})
    change(session, less={}, more={day: (number, 0, 0) for day, number in calls.items()})


def read_of_accounts(session: Session, account_ids: Collection[int]) -> Changes:
    """What these accounts, whose rows are locked, add to the figures."""
    rows = session.execute(_OF_ACCOUNTS, {"accounts": list(account_ids)})
    return {day: (calls, accounts, last) for day, calls, accounts, last in rows}


def change(session: Session, less: Changes, more: Changes) -> None:
    rows = [(day, *(-number for number in numbers)) for day, numbers in less.items()]
    rows += [(day, *numbers) for day, numbers in more.items()]
    if rows:
        columns = zip(("days", "calls", "accounts", "accounts_last"), zip(*rows, strict=True), strict=True)
        session.execute(_CHANGE, {name: list(values) for name, values in columns})


# The last counter of each account is the first of a key read backwards: no other counter is read for it.
_LAST_DAYS = f"""select last.period as day, 0 as calls, 0 as accounts, count(*) as accounts_last
  from accounts, lateral (select c.period {_COUNTERS} and c.account_id = accounts.id order by c.period desc limit 1)
   as last where last.period >= :oldest group by 1"""  # noqa: S608
_CALLS = "select day, sum(calls) as calls, 0 as accounts, 0 as accounts_last from tool_call_counts where day >= :oldest"
_WRONG_DAYS = sa.text(f"""
select day from ({_CALLS} group by 1 union all {_LAST_DAYS}
 union all select day, -calls, 0, -accounts_last from daily_calls where day >= :oldest) as figures
group by day having sum(calls) <> 0 or sum(accounts_last) <> 0 order by day""")  # noqa: S608
_RECOUNTS = (
    sa.text("delete from daily_calls where day >= :oldest"),
    sa.text(f"""
with changes as ({_CALLS} group by 1 union all {_LAST_DAYS}
 union all select period, 0, count(*), 0 {_COUNTERS} and period >= :oldest group by 1)
{_ADD}"""),
)


def find_wrong_days(session: Session, oldest: dt.date) -> list[dt.date]:
    """Where calls, or accounts by their last day, differ from what is kept of them."""
    return list(session.scalars(_WRONG_DAYS, {"oldest": oldest}))


def recount(session: Session, oldest: dt.date) -> None:
    for statement in _RECOUNTS:
        session.execute(statement, {"oldest": oldest})
