"""Figures of calls put right: without an account that goes, and of days that a program counted otherwise."""

import datetime as dt
from collections.abc import Sequence

import sqlalchemy as sa
from sqlalchemy.orm import Session

from shared import clock
from shared.db import daily_calls
from shared.db.base import Base
from shared.db.call_figures import UNKNOWN, CallCount, CallTime, ClientCount, list_keys
from shared.db.call_spans import FIGURES, SPAN_MODELS, forget_spans
from shared.domain.call_times import STEPS
from shared.domain.day_spans import WINDOW

_DAY = "cast(timezone('UTC', at) as date)"
_OF_SPANS = f"""tool_calls join (select distinct day, days from tool_span_counts) as s
 on {_DAY} >= s.day and {_DAY} < s.day + s.days"""  # noqa: S608 - of constants
_STEP = "(cast(:steps as integer[]))[width_bucket(greatest(milliseconds, 0), :steps)]"
# Of each table what a call is counted by, next to its day.
_KEYS: dict[type[Base], str] = {
    CallCount: "tool, outcome",
    CallTime: f"tool, {_STEP} as milliseconds",
    ClientCount: f"coalesce(client, '{UNKNOWN}') as client",
}
_TABLES = [model.__tablename__ for model in FIGURES] + ["daily_calls"]
# Programs that have stored calls and not counted them yet wait here, and add to what was counted without them.
_LOCK = sa.text(f"lock table {', '.join(_TABLES)} in share row exclusive mode")
_WRONG_DAYS = sa.text("""
select coalesce(counted.day, kept.day) from
 (select day, sum(calls) as calls from tool_call_counts where day >= :day group by 1) as counted
 full join (select cast(timezone('UTC', at) as date) as day, count(*) as calls from tool_calls
 where at >= :start group by 1) as kept on kept.day = counted.day
where counted.calls is distinct from kept.calls order by 1""")


def _run(session: Session, text: str, **values: object) -> None:
    """With those of the values that the text names."""
    named = {name: value for name, value in values.items() if f":{name}" in text}
    session.execute(sa.text(text), named)


def take_out_calls(session: Session, account_id: int) -> None:
    """Before the account, whose row is locked, goes with its calls. A number that becomes 0 may stay: it changes no
    sum."""
    session.execute(_LOCK)
    for model, span in SPAN_MODELS.items():
        _subtract(session, account_id, model, f"{_DAY} as day, {_KEYS[model]}", "tool_calls")
        _subtract(session, account_id, span, f"s.day, s.days, {_KEYS[model]}", _OF_SPANS)
    daily_calls.change(session, less=daily_calls.read_of_accounts(session, [account_id]), more={})


def _subtract(session: Session, account_id: int, model: type[Base], keys: str, rows: str) -> None:
    table, names = model.__tablename__, list_keys(model)
    same = " and ".join(f"{table}.{name} = gone.{name}" for name in names)
    by = ", ".join(str(number + 1) for number in range(len(names)))
    gone = f"select {keys}, count(*) as calls from {rows} where account_id = :account group by {by}"  # noqa: S608
    text = f"update {table} set calls = {table}.calls - gone.calls from ({gone}) as gone where {same}"  # noqa: S608
    _run(session, text, account=account_id, steps=list(STEPS))


def recount(session: Session, since: dt.date) -> list[dt.date]:
    """Counts again the days since then whose figures and calls differ, and the accounts of days; returns these days.

    A program of an earlier release, which runs next to this one during an upgrade, stores calls, deletes accounts and
    joins them, and counts nothing of that or counts no accounts. Those that it deleted called on any day.
    """
    if not _find_wrong_days(session, since):
        return []
    session.execute(_LOCK)
    wrong = _find_wrong_days(session, since)
    for day in _find_uncounted_days(session, since):
        _count_day(session, day)
    daily_calls.recount(session, _find_oldest())
    return wrong


def _find_oldest() -> dt.date:
    """No statistics are of days before."""
    return clock.today() - dt.timedelta(days=WINDOW - 1)


def _find_uncounted_days(session: Session, since: dt.date) -> Sequence[dt.date]:
    return session.scalars(_WRONG_DAYS, {"day": since, "start": _start(since)}).all()


def _find_wrong_days(session: Session, since: dt.date) -> list[dt.date]:
    wrong = daily_calls.find_wrong_days(session, _find_oldest())
    return sorted({*_find_uncounted_days(session, since), *wrong})


def _count_day(session: Session, day: dt.date) -> None:
    forget_spans(session, [day])
    values = {"day": day, "start": _start(day), "end": _start(day + dt.timedelta(days=1)), "steps": list(STEPS)}
    for model, keys in _KEYS.items():
        session.execute(sa.delete(model).where(model.__table__.c.day == day))
        by = ", ".join(str(number + 2) for number in range(len(list_keys(model)) - 1))
        calls = f"select :day, {keys}, count(*) from tool_calls where at >= :start and at < :end group by {by}"  # noqa: S608
        _run(session, f"insert into {model.__tablename__} {calls}", **values)


def _start(day: dt.date) -> dt.datetime:
    return dt.datetime.combine(day, dt.time(), dt.UTC)
