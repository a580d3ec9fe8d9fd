"""Checks that fell due wait a moment for others before a worker is woken; what a person waits for does not."""

from datetime import timedelta

import pytest

from jobs import dispatcher
from jobs.queue import RUNS, queue
from shared import clock
from shared.db.base import transaction
from shared.db.runs import JobRun, claim_run, schedule
from tests.jobs.conftest import add_schedule, change, past, rows, statuses
from tests.support.settings_and_clock import Configure

pytestmark = pytest.mark.usefixtures("clean")


@pytest.fixture(autouse=True)
def _gathering(configure: Configure) -> None:
    configure(GATHER_SECONDS=60)


def _fall_due(subject: int) -> None:
    with transaction() as session:
        schedule(session, "tick", subject, timedelta(hours=6), clock.now() - timedelta(days=1))
    dispatcher.step()


def test_one_worker_is_woken_for_what_fell_due_meanwhile() -> None:
    for subject in range(3):
        _fall_due(subject)
    assert (statuses(), queue(RUNS).count) == (["pending"] * 3, 0)
    change(JobRun, wake_at=past())
    dispatcher.step()
    assert queue(RUNS).count == 1
    assert sorted(run.handed for run in rows(JobRun)) == [0, 0, 1]


def test_a_worker_that_works_already_goes_on_with_it_at_once() -> None:
    _fall_due(1)
    with transaction() as session:
        claim = claim_run(session, 60)
    assert claim is not None
    assert claim.subject_id == 1


def test_what_a_person_waits_for_wakes_a_worker_at_once() -> None:
    _fall_due(1)
    add_schedule(2)
    dispatcher.step()
    assert queue(RUNS).count == 1
