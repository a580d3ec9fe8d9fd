"""Watches of award seats that are looked at soon: what each asks for, and when it was last checked."""

from collections.abc import Sequence
from datetime import date, datetime, timedelta
from typing import NamedTuple

import sqlalchemy as sa
from sqlalchemy.orm import Session

from shared.db.runs import OPEN_STATUSES

MOST = 3000  # to read, the soonest due; a plan then chooses from a few hundred
KINDS = "('route_monitor', 'flight_alert')"


class DueWatch(NamedTuple):
    """`origin` and `destination` are an airport or a city with several."""

    kind: str
    id: int
    account_id: int
    origin: str
    destination: str
    earliest: date
    latest: date
    airlines: list[str] | None
    looked_at: datetime | None


def _select(mine: str, schedules: str) -> sa.TextClause:
    """Two texts, so that the plan of each is made once and cached."""
    return sa.text(f"""
with {mine} soon as (
  select s.kind, s.subject_id from {schedules}
  where s.enabled and s.next_due_at <= now() + :ahead and s.kind in {KINDS} order by s.next_due_at limit :most),
waiting as (
  select s.kind, s.subject_id from {schedules} join job_runs r on r.schedule_id = s.id
  where r.queue = 'checks' and r.status in {OPEN_STATUSES} and s.kind in {KINDS} order by r.wake_at limit :most),
due as (select * from waiting union select * from soon)
select due.kind, m.id, m.account_id, m.origin, m.destination, m.earliest_date, m.latest_date, m.airlines,
  m.last_checked_at
from due join route_monitors m on due.kind = 'route_monitor' and m.id = due.subject_id
join accounts a on a.id = m.account_id
where m.cancelled_at is null and m.paused_at is null and m.synthetic = :synthetic and a.disabled_at is null
union all
select due.kind, f.id, f.account_id, f.departure, f.destination, f.date_range_start, f.date_range_end,
  array[f.airline], f.last_checked_at
from due join flight_alerts f on due.kind = 'flight_alert' and f.id = due.subject_id
join accounts a on a.id = f.account_id
where f.active and f.paused_at is null and f.synthetic = :synthetic and a.disabled_at is null""")  # noqa: S608


_OF_EVERYBODY = _select("", "schedules s")
_OF_ONE = _select(
    """mine as (
  select 'route_monitor' as kind, id from route_monitors where account_id = :account and cancelled_at is null
  union all select 'flight_alert', id from flight_alerts where account_id = :account and active),""",
    "mine join schedules s on s.kind = mine.kind and s.subject_id = mine.id",
)


def list_due_watches(session: Session, ahead: timedelta, account_id: int | None) -> list[DueWatch]:
    """Watches whose run waits or is due within this time, of one account or else of everyone.

    Includes claimed ones: the check that asks first gets the others' answers along with its own.
    """
    values = {"ahead": ahead, "most": MOST, "synthetic": session.info["synthetic"]}
    whose = {} if account_id is None else {"account": account_id}
    rows = session.execute(_OF_EVERYBODY if account_id is None else _OF_ONE, values | whose)
    return [DueWatch(*row) for row in rows]


# Rows locked by another worker are left out: they are being brought forward already.
_BRING_FORWARD = sa.text("""
update schedules set next_due_at = now() where id in (
  select id from schedules where kind = :kind and subject_id = any(:ids) and enabled
  and next_due_at > now() and next_due_at <= now() + every / 2 order by id for update skip locked)""")


def bring_forward(session: Session, kind: str, ids: Sequence[int]) -> None:
    """Makes those due now that would be checked within half their interval; none gets slower by that."""
    session.execute(_BRING_FORWARD, {"kind": kind, "ids": list(ids)})
