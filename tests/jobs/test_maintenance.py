"""Maintenance and the background programs: nothing is handed over or claimed, and mail is deferred."""

import asyncio

import pytest

from jobs import deliver, dispatcher, runs, smtp_listener
from jobs.queue import DELIVERIES, RUNS, queue
from shared.db.base import engine, transaction
from shared.db.maintenance import WATCH, end_maintenance
from shared.db.messages import Delivery
from shared.db.runs import JobRun
from shared.services.operations.workers import find_dispatcher_age
from tests.jobs.conftest import Post, add_schedule, rows
from tests.support.maintenance import Maintain, maintain

__all__ = ["maintain"]


def _end() -> None:
    with transaction() as session:
        end_maintenance(session)
    WATCH.refresh(engine())


def test_what_falls_due_waits_and_is_handed_over_afterwards(maintain: Maintain, post: Post) -> None:
    post()
    add_schedule(7)
    maintain()
    dispatcher.step()
    assert (queue(RUNS).count, queue(DELIVERIES).count, rows(JobRun)) == (0, 0, [])
    assert find_dispatcher_age() is not None  # it lives all the same
    _end()
    dispatcher.step()
    assert (queue(RUNS).count, queue(DELIVERIES).count) == (1, 1)


def test_a_worker_that_was_woken_before_takes_nothing(maintain: Maintain, post: Post) -> None:
    post()
    add_schedule(7)
    dispatcher.step()
    maintain()
    assert (runs.wake(), runs.read_mail(), deliver.wake()) == (0, 0, 0)
    assert [run.status for run in rows(JobRun)] == ["pending"]
    assert {delivery.status for delivery in rows(Delivery)} == {"pending"}


def test_mail_is_deferred_before_and_after_its_text(maintain: Maintain) -> None:
    maintain()
    mailboxes = smtp_listener.Mailboxes()
    envelope = smtp_listener.Envelope()
    steps = (
        mailboxes.handle_RCPT(None, None, envelope, "a@in.example.test", []),  # type: ignore[arg-type]
        mailboxes.handle_DATA(None, None, envelope),  # type: ignore[arg-type]
    )
    answers = [asyncio.run(step) for step in steps]
    assert [answer[:9] for answer in answers] == ["451 4.3.2"] * 2
    assert envelope.rcpt_tos == []


def test_a_wake_up_ends_after_the_row_at_hand(maintain: Maintain, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is under way when maintenance begins is finished; no other row is begun."""
    for number in (7, 8):
        add_schedule(number)
    dispatcher.step()
    monkeypatch.setitem(runs.HANDLERS, "tick", lambda _: _begin_meanwhile(maintain))
    assert runs.wake() == 1
    assert sorted(run.status for run in rows(JobRun)) == ["done", "pending"]


def _begin_meanwhile(maintain: Maintain) -> runs.Finish:
    maintain()
    return lambda session: runs.RunResult()
