"""Rows that jobs work on, and the queue emptied by real workers in this process."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
import sqlalchemy as sa
from rq import SimpleWorker

from jobs import dispatcher, runs
from jobs.queue import ENTRIES, queue
from mcp_server.toolkit.context import Caller
from shared import clock
from shared.db.accounts import Account
from shared.db.base import transaction
from shared.db.messages import Delivery, Notification
from shared.db.runs import JobRun, Schedule, schedule
from shared.outbox.enqueue import tell
from shared.redis import connect
from tests.shared.outbox.conftest import mailbox, phones  # noqa: F401 - fixtures used here too
from tests.shared.outbox.test_messages import OPTION, found
from tests.support.people import account


@pytest.fixture
def alice(clean: None) -> Caller:
    return account("alice", email_confirmed_at=clock.now())


Post = Callable[..., str]


@pytest.fixture
def post(alice: Caller) -> Post:
    """post(key) -> the id of a new delivery to Alice."""

    def write(key: str = "event-1") -> str:
        with transaction() as session:
            row = session.get_one(Account, alice.account_id)
            tell(session, row, "route_monitor_match", found(OPTION), dedupe_key=key, mail=True)
            session.flush()
            return str(session.scalars(sa.select(Delivery.id).where(Delivery.dedupe_key == key)).one())

    return write


def work() -> None:
    """Real workers empty the real queue and end."""
    SimpleWorker([queue(name) for name in ENTRIES], connection=connect(), serializer="json").work(burst=True)


def add_schedule(subject: int, kind: str = "tick", every: timedelta = timedelta(hours=6)) -> None:
    with transaction() as session:
        schedule(session, kind, subject, every)


def change(row: type[Any], **values: Any) -> None:
    """All rows of a kind at once, such as making them due."""
    with transaction() as session:
        session.execute(sa.update(row).values(**values))


def rows(kind: type[Any]) -> list[Any]:
    with transaction() as session:
        return list(session.scalars(sa.select(kind).order_by(kind.id)))


def past(seconds: float = 1) -> Any:
    return sa.func.now() - timedelta(seconds=seconds)


def statuses() -> list[str]:
    return [run.status for run in rows(JobRun)]


def notices() -> list[Notification]:
    with transaction() as session:
        return list(session.scalars(sa.select(Notification).order_by(Notification.created_at)))


def forget_answers() -> None:
    """No answer of a source is left in the cache."""
    for name in connect().scan_iter("award:*:reading:*"):
        connect().delete(name)


def due() -> None:
    """Every schedule is due now and worked on."""
    change(Schedule, next_due_at=past())
    dispatcher.step()
    for run in rows(JobRun):
        runs.wake(str(run.id))
