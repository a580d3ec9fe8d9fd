"""Runs and messages for operators: failed and waiting ones, repeating a run, resending a message."""

import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

import sqlalchemy as sa
from sqlalchemy.orm import Session

from shared.db.accounts import Account
from shared.db.messages import Delivery
from shared.db.runs import JobRun, Schedule, run_now

UNSENT = ("failed", "uncertain")  # messages that may be written again


@dataclass(frozen=True)
class RunLine:
    id: int
    kind: str
    subject_id: int
    status: str
    attempt: int
    due_at: datetime
    finished_at: datetime | None
    error: str | None


@dataclass(frozen=True)
class MessageLine:
    """A message without its facts. `account` is the public id."""

    id: UUID
    account: str
    event: str
    channel: str
    recipient: str
    status: str
    attempt: int
    created_at: datetime
    error: str | None


def _select_runs() -> sa.Select[int, str, int, str, int, datetime, datetime | None, str | None]:
    columns = (JobRun.id, Schedule.kind, Schedule.subject_id, JobRun.status, JobRun.attempt, JobRun.due_at)
    return sa.select(*columns, JobRun.finished_at, JobRun.error).join(Schedule, Schedule.id == JobRun.schedule_id)


def list_runs(
    session: Session, statuses: Sequence[str], kind: str | None, limit: int, *, offset: int = 0
) -> list[RunLine]:
    """Runs, the newest first; failed ones by their own index."""
    fits = (JobRun.status.in_(statuses), sa.true() if kind is None else Schedule.kind == kind)
    newest = _select_runs().where(*fits).order_by(JobRun.finished_at.desc().nulls_first(), JobRun.id.desc())
    return [RunLine(*row) for row in session.execute(newest.limit(limit).offset(offset))]


def find_failed_run(session: Session, run_id: int) -> RunLine | None:
    row = session.execute(_select_runs().where(JobRun.id == run_id, JobRun.status == "failed")).one_or_none()
    return RunLine(*row) if row else None


def repeat_run(session: Session, run_id: int) -> tuple[int, str] | None:
    """Starts a failed run's work again in a new run; returns it and its kind, or None if no such run failed."""
    failed = sa.select(Schedule.kind, Schedule.subject_id).join(JobRun, JobRun.schedule_id == Schedule.id)
    row = session.execute(failed.where(JobRun.id == run_id, JobRun.status == "failed")).one_or_none()
    return (run_now(session, row.kind, row.subject_id), row.kind) if row else None


def _select_messages() -> sa.Select[UUID, str, str, str, str, str, int, datetime, str | None]:
    columns = (Delivery.id, Account.public_id, Delivery.event, Delivery.channel, Delivery.recipient, Delivery.status)
    rows = sa.select(*columns, Delivery.attempt, Delivery.created_at, Delivery.error)
    return rows.join(Account, Account.id == Delivery.account_id)


def list_messages(
    session: Session, statuses: Sequence[str], account: str | None, limit: int, *, offset: int = 0
) -> list[MessageLine]:
    """Messages, the newest first; needs a session that sees everyone."""
    fits = (Delivery.status.in_(statuses), sa.true() if account is None else Account.public_id == account)
    newest = _select_messages().where(*fits).order_by(Delivery.created_at.desc(), Delivery.id)
    return [MessageLine(*row) for row in session.execute(newest.limit(limit).offset(offset))]


def find_unsent_message(session: Session, message_id: UUID) -> MessageLine | None:
    """A message that failed or may not have arrived."""
    fits = (Delivery.id == message_id, Delivery.status.in_(UNSENT))
    row = session.execute(_select_messages().where(*fits)).one_or_none()
    return MessageLine(*row) if row else None


def repeat_message(session: Session, message_id: UUID) -> tuple[UUID, str] | None:
    """Writes a failed or uncertain message again; returns its new id and its account's public id.

    The old row keeps its end: a worker that still has it changes nothing. None where there is no such message,
    or its facts are gone.
    """
    old = session.get(Delivery, message_id)
    if old is None or old.status not in UNSENT or not old.facts:
        return None
    account = session.get_one(Account, old.account_id)
    names = ("account_id", "synthetic", "notification_id", "channel", "recipient", "event", "facts")
    new = Delivery(**{name: getattr(old, name) for name in names})
    new.dedupe_key = f"{old.dedupe_key}:again:{secrets.token_hex(4)}"
    session.add(new)
    session.flush()
    return new.id, account.public_id
