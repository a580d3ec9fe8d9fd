"""Schedules and their runs: the database is the queue of record, and these are the dispatcher's statements."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

import sqlalchemy as sa
from sqlalchemy import ForeignKey, Index, UniqueConstraint
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.orm import Mapped, Session, mapped_column

from shared.db import messages
from shared.db.base import Numbered, big, stamp
from shared.telemetry.traces import get_traceparent

OPEN_STATUSES = "('pending', 'running')"
CHECK_QUEUE, MAIL_QUEUE = "checks", "mail"
AWAITED, DUE = 0, 1  # lanes of a queue: a person's new settings and requests go before due work
# Reading a stranger's mail can take long; no other kind of run must wait behind it.
_QUEUE_OF_KIND = f"case kind when 'inbound_mail' then '{MAIL_QUEUE}' else '{CHECK_QUEUE}' end"


class Schedule(Numbered):
    """The next due time of something. Written in the transaction that writes its subject."""

    __tablename__ = "schedules"
    __table_args__ = (
        UniqueConstraint("kind", "subject_id"),
        Index("ix_schedules_due", "next_due_at", postgresql_where=sa.text("enabled")),
        Index("ix_schedules_awaited", "next_due_at", postgresql_where=sa.text("enabled and lane = 0")),
    )

    kind: Mapped[str]
    subject_id: Mapped[big]
    every: Mapped[timedelta]
    next_due_at: Mapped[datetime]
    enabled: Mapped[bool] = mapped_column(server_default=sa.true())
    lane: Mapped[int] = mapped_column(sa.SmallInteger, server_default="1")  # only of the next run
    traceparent: Mapped[str | None]  # of the call that set it, only for the next run


class JobRun(Numbered):
    """One occurrence of a schedule: at most one row per due moment; `attempt` is the fence of every later write."""

    __tablename__ = "job_runs"
    __table_args__ = (
        UniqueConstraint("schedule_id", "due_at"),
        Index("ix_job_runs_failed", "finished_at", postgresql_where=sa.text("status = 'failed'")),
        Index("ix_job_runs_open", "queue", "lane", "wake_at", postgresql_where=sa.text(f"status in {OPEN_STATUSES}")),
        sa.CheckConstraint("queue in ('checks', 'mail')", name="queue"),
        sa.CheckConstraint("status in ('pending', 'running', 'done', 'failed', 'skipped')", name="status"),
    )

    schedule_id: Mapped[int] = mapped_column(ForeignKey("schedules.id", ondelete="CASCADE"))
    due_at: Mapped[datetime]
    queue: Mapped[str] = mapped_column(server_default=CHECK_QUEUE)  # whose wake-ups claim it; depends on the kind
    lane: Mapped[int] = mapped_column(sa.SmallInteger, server_default="1")
    status: Mapped[str] = mapped_column(server_default="pending")
    attempt: Mapped[int] = mapped_column(server_default="0")
    handed: Mapped[int] = mapped_column(server_default="0")
    wake_at: Mapped[stamp]  # when the dispatcher looks at it again
    claimed_until: Mapped[datetime | None]  # not claimable before: a worker's lease, or a retry's delay
    started_at: Mapped[datetime | None]
    finished_at: Mapped[datetime | None]
    error: Mapped[str | None]
    traceparent: Mapped[str | None]  # the trace this run continues with; absent = it starts one


@dataclass(frozen=True)
class Claim:
    """A run taken by this worker; a later write counts only while `attempt` is still the row's."""

    id: int
    kind: str
    subject_id: int
    attempt: int
    queue: str = CHECK_QUEUE
    traceparent: str | None = None


@dataclass(frozen=True)
class RunResult:
    """The result of an attempt at a run: complete, or with a reason to retry, or a delay."""

    retry_reason: str | None = None
    put_off: timedelta | None = None


COMPLETE = RunResult()

# The database's clock decides what is due and whose lease is over, so that machines need not agree on the time.


def schedule(session: Session, kind: str, subject_id: int, every: timedelta, at: datetime | None = None) -> None:
    """Schedules it now or at the given time, then at an interval; an existing one is reset and switched on.

    Work due at once has its own lane: behind 100,000 due checks it would wait for all of them.
    """
    lane = AWAITED if at is None else DUE
    due = {"next_due_at": at or sa.func.now(), "traceparent": get_traceparent(), "lane": lane}
    first = insert(Schedule).values(kind=kind, subject_id=subject_id, every=every, **due)
    session.execute(
        first.on_conflict_do_update(
            index_elements=["kind", "subject_id"],
            set_={
                "every": first.excluded.every,
                "next_due_at": first.excluded.next_due_at,
                "enabled": True,
                "lane": first.excluded.lane,
                "traceparent": first.excluded.traceparent,
            },
        )
    )


def run_now(session: Session, kind: str, subject_id: int) -> int:
    """Adds a run without moving the schedule's phase; returns the run's id."""
    trace = sa.cast(get_traceparent(), sa.Text)
    its = sa.select(
        Schedule.id, sa.func.clock_timestamp(), sa.literal_column(_QUEUE_OF_KIND), sa.literal(AWAITED), trace
    ).where(Schedule.kind == kind, Schedule.subject_id == subject_id)
    columns = ["schedule_id", "due_at", "queue", "lane", "traceparent"]
    run = insert(JobRun).from_select(columns, its).returning(JobRun.id)
    return session.execute(run).scalar_one()


def ensure_schedule(session: Session, kind: str, every: timedelta, first: timedelta) -> None:
    """Makes a schedule of the service itself once; a restarted program only changes its interval."""
    new = insert(Schedule).values(kind=kind, subject_id=0, every=every, next_due_at=sa.func.now() + first)
    pace = {"every": new.excluded.every}
    session.execute(new.on_conflict_do_update(index_elements=["kind", "subject_id"], set_=pace))


def unschedule(session: Session, kind: str, subject_ids: Sequence[int]) -> None:
    session.execute(
        sa.update(Schedule).where(Schedule.kind == kind, Schedule.subject_id.in_(subject_ids)).values(enabled=False)
    )


def delete_schedules(session: Session, kind: str, subject_ids: Sequence[int]) -> None:
    """Deletes the schedules and runs of subjects that are being deleted."""
    session.execute(sa.delete(Schedule).where(Schedule.kind == kind, Schedule.subject_id.in_(subject_ids)))


def next_due(session: Session, kind: str, subject_ids: Sequence[int]) -> dict[int, datetime]:
    """When each subject is due next; those switched off are absent."""
    due_times = sa.select(Schedule.subject_id, Schedule.next_due_at).where(
        Schedule.kind == kind, Schedule.subject_id.in_(subject_ids), Schedule.enabled
    )
    return {subject: due for subject, due in session.execute(due_times)}  # noqa: C416 - a Row is no tuple to mypy


def _create_runs(which: str) -> sa.TextClause:
    return sa.text(f"""
with due as (
  select id, next_due_at, every, traceparent, lane, {_QUEUE_OF_KIND} as queue from schedules
  where enabled and next_due_at <= now() {which}
  order by next_due_at limit :n for update skip locked),
made as (
  insert into job_runs (schedule_id, due_at, queue, lane, traceparent, wake_at)
  select id, next_due_at, queue, lane, traceparent,
    case lane when {AWAITED} then now() else now() + make_interval(secs => :gather) end
  from due on conflict do nothing)
update schedules s set traceparent = null, lane = {DUE}, next_due_at = due.next_due_at
  + due.every * (1 + floor(extract(epoch from now() - due.next_due_at) / extract(epoch from due.every)))
from due where s.id = due.id""")  # noqa: S608 - of constants, as all statements here


_CREATE_AWAITED, _CREATE_DUE = _create_runs(f"and lane = {AWAITED}"), _create_runs("")


def create_due_runs(session: Session, limit: int = 500, gather: float = 0) -> int:
    """Makes runs of due schedules. Slots missed in an outage become one run, and the phase is kept.

    Due runs wake a worker after `gather` seconds; a busy one takes them at once. To begin a
    process for each run costs more than the checks.
    """
    values = {"n": limit, "gather": gather}
    awaited = _count(session.execute(_CREATE_AWAITED, values))
    if awaited == limit:
        return awaited
    return awaited + _count(session.execute(_CREATE_DUE, values | {"n": limit - awaited}))


# A wake-up continues with whatever is due, and each is a separate process: with 46 runs due each second, four
# wake-ups for them took 20 to 24 ms of all programs a run, and one takes 13 to 17, as busy as the machine was.
_RUNS_A_WAKE_UP = {CHECK_QUEUE: 50, MAIL_QUEUE: 1}  # a mail can take long, and so can a check a person waits for
# Due runs are left to the running wake-ups this long; then those count as held up.
_PATIENCE = timedelta(seconds=5)
_OPEN = f"from job_runs where queue = :queue and status in {OPEN_STATUSES} and wake_at <= now() order by lane, wake_at"
_HAND_OVER = sa.text(f"""
with line as (select lane, wake_at {_OPEN} limit :n * :each),
due as (select ceil(count(*) / (1.0 * :each)) - case when min(wake_at) > now() - :patience then :under_way else 0 end
  as wake_ups from line where lane <> {AWAITED}),
needed as (select greatest(0, wake_ups) + (select count(*) from line where lane = {AWAITED}) as wake_ups from due),
open as (select id {_OPEN} limit (select least(:n, wake_ups) from needed) for update skip locked)
update job_runs r set wake_at = now() + make_interval(secs => :ttl), handed = handed + 1
from open where r.id = open.id returning r.id, r.handed""")  # noqa: S608


_WAITING = sa.text(f"""
select name from (values ('{CHECK_QUEUE}'), ('{MAIL_QUEUE}')) queues (name)
where exists (select from job_runs where queue = name and status in {OPEN_STATUSES} and wake_at <= now())
union all select :deliveries
where exists (select from deliveries where status in {messages.OPEN_STATUSES} and wake_at <= now())""")  # noqa: S608


def list_waiting_queues(session: Session, deliveries: str) -> set[str]:
    """The queues with rows that wait for a wake-up; `deliveries` is the queue of messages."""
    return set(session.scalars(_WAITING, {"deliveries": deliveries}))


def hand_over_runs(
    session: Session, limit: int, ttl: float, under_way: int = 0, queue: str = CHECK_QUEUE
) -> list[tuple[str, int]]:
    """Runs that should be in the queue: new ones, or with a lost wake-up or a dead worker.

    Of a crowd that is due, only as many as there should be wake-ups alongside those `under_way`.
    """
    values = {"n": limit, "each": _RUNS_A_WAKE_UP[queue], "ttl": ttl, "queue": queue}
    rows = session.execute(_HAND_OVER, values | {"under_way": under_way, "patience": _PATIENCE}) if limit > 0 else ()
    return [(str(id), handed) for id, handed in rows]


def _claim(which: str) -> sa.TextClause:
    """One SQL text for each way, so that its plan is made once and cached."""
    return sa.text(f"""
with mine as (
  select id from job_runs where queue = :queue and status in {OPEN_STATUSES}
  and (claimed_until is null or claimed_until <= now()) {which} for update skip locked)
update job_runs r set status = 'running', attempt = attempt + 1, started_at = coalesce(r.started_at, now()),
  claimed_until = now() + make_interval(secs => :lease), wake_at = now() + make_interval(secs => :lease)
from mine, schedules s where r.id = mine.id and s.id = r.schedule_id
returning r.id, s.kind, s.subject_id, r.attempt, r.queue, r.traceparent""")  # noqa: S608


_NAMED, _NEXT = _claim("and id = :id"), _claim("order by lane, wake_at limit 1")
_AWAITED = _claim(f"and lane = {AWAITED} order by wake_at limit 1")
# Letters of the account served longest ago, but not while one of its letters is being read.
_LETTER = "schedules s join inbound_mails m on m.number = s.subject_id"
_FAIR = _claim(f"""and not exists (
    select from job_runs other join {_LETTER} on s.id = other.schedule_id
    where other.queue = :queue and other.status = 'running' and other.claimed_until > now()
    and m.account_id = (select m.account_id from {_LETTER} where s.id = job_runs.schedule_id))
  order by (select (coalesce(a.letters_wait_until > now(), false), lane, coalesce(a.letter_read_at, a.created_at))
    from {_LETTER} join accounts a on a.id = m.account_id where s.id = job_runs.schedule_id), wake_at limit 1""")  # noqa: S608


def claim_run(session: Session, lease: float, id: int | None = None, queue: str = CHECK_QUEUE) -> Claim | None:
    """Takes the named run of this queue, or else the longest waiting one, the first lane before others.

    Of letters, the one whose turn it is. None where another worker has it. Raises the fence.
    """
    values = {"lease": lease, "queue": queue}
    if id is not None:
        row = session.execute(_NAMED, values | {"id": id})
    else:
        row = session.execute(_FAIR if queue == MAIL_QUEUE else _NEXT, values)
    columns = row.one_or_none()
    return Claim(*columns) if columns else None


def claim_awaited_run(session: Session, lease: float) -> Claim | None:
    """As above, a check that a person waits for."""
    columns = session.execute(_AWAITED, {"lease": lease, "queue": CHECK_QUEUE}).one_or_none()
    return Claim(*columns) if columns else None


# Only a row this worker still has. Fixed text: a check is short, and putting a statement together took a sixth of it.
_MINE = "id = :id and attempt = :attempt and status = 'running'"
_HOLD = sa.text(f"select id from job_runs where {_MINE} for update")  # noqa: S608
_FINISH = sa.text(f"""
update job_runs set status = :status, error = :error, finished_at = now(), claimed_until = null
where {_MINE}""")  # noqa: S608
_RETRY = sa.text(f"""
update job_runs set status = 'pending', lane = {DUE}, error = :error,
  wake_at = now() + :wait, claimed_until = now() + :wait
where {_MINE}""")  # noqa: S608


def lock_run(session: Session, claim: Claim) -> bool:
    """Locks the run until the transaction ends; False when another worker took over."""
    return session.execute(_HOLD, _fence(claim)).scalar_one_or_none() is not None


def finish_run(session: Session, claim: Claim, status: str = "done", error: str | None = None) -> bool:
    """A fenced write; False when another worker took over."""
    return _count(session.execute(_FINISH, _fence(claim) | {"status": status, "error": error})) == 1


def retry_run(session: Session, claim: Claim, wait: timedelta, error: str) -> bool:
    """As above; it cannot be claimed before the wait is over."""
    return _count(session.execute(_RETRY, _fence(claim) | {"wait": wait, "error": error})) == 1


# The run is over; its schedule is due again after the wait, or as planned if that is sooner.
_PUT_OFF = sa.text(f"""
with mine as (
  update job_runs set status = 'skipped', finished_at = now(), claimed_until = null where {_MINE} returning schedule_id)
update schedules set next_due_at = least(next_due_at, now() + :wait) from mine where id = mine.schedule_id""")  # noqa: S608


def put_off_run(session: Session, claim: Claim, wait: timedelta) -> bool:
    """As above; no attempt is counted against it."""
    return _count(session.execute(_PUT_OFF, _fence(claim) | {"wait": wait})) == 1


def _fence(claim: Claim) -> dict[str, Any]:
    return {"id": claim.id, "attempt": claim.attempt}


def _count(result: Any) -> int:
    return int(result.rowcount)
