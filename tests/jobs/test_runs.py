"""Runs are claimed by one worker at a time, taken over from dead ones, retried with growing waits, and end visibly."""

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from typing import Any

import pytest
from sqlalchemy.orm import Session

from jobs import dispatcher, queue, runs
from shared import clock
from shared.db.accounts import ServiceFact
from shared.db.base import transaction
from shared.db.runs import COMPLETE, Claim, JobRun, RunResult, claim_run
from tests.jobs.conftest import add_schedule, change, past, rows, statuses, work

pytestmark = pytest.mark.usefixtures("clean")
LEASE = 150


@pytest.fixture
def ticks() -> Iterator[list[Claim]]:
    """A kind of run that notes each attempt here and writes one row of effect per run."""
    seen: list[Claim] = []

    def tick(claim: Claim) -> Callable[[Session], RunResult]:
        seen.append(claim)

        def finish(session: Session) -> RunResult:
            session.add(ServiceFact(name=f"tick {claim.id}", value=str(claim.attempt)))
            return COMPLETE

        return finish

    runs.HANDLERS["tick"] = tick
    yield seen
    del runs.HANDLERS["tick"]


def failing(error: Exception | None = None, again: str | None = None) -> Any:
    def check(_claim: Claim) -> Callable[[Session], RunResult]:
        if error:
            raise error
        return lambda _session: RunResult(again)

    return check


def effects() -> list[str]:
    with transaction() as session:
        return sorted(name for (name,) in session.query(ServiceFact.name) if name.startswith("tick "))


def claim(id: int | None = None) -> Claim | None:
    with transaction() as session:
        return claim_run(session, LEASE, id)


def test_a_run_passes_from_schedule_over_the_queue_to_its_effect(ticks: list[Claim]) -> None:
    add_schedule(7)
    dispatcher.step()
    work()
    (run,) = rows(JobRun)
    assert (run.status, run.attempt, run.error) == ("done", 1, None)
    assert run.started_at <= run.finished_at
    assert [(c.kind, c.subject_id) for c in ticks] == [("tick", 7)]
    assert effects() == [f"tick {run.id}"]


def test_one_wake_up_works_through_the_whole_backlog(ticks: list[Claim]) -> None:
    for subject in range(30):
        add_schedule(subject)
    dispatcher.step()
    assert runs.wake(str(rows(JobRun)[0].id)) == 30
    assert statuses() == ["done"] * 30
    work()  # the other wake-ups find nothing left
    assert len(ticks) == 30


def test_a_wake_up_ends_in_time_for_a_worker_to_stop(ticks: list[Claim], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(queue.DRAIN_SECONDS, queue.RUNS, 0.0)
    for subject in range(3):
        add_schedule(subject)
    dispatcher.step()
    assert runs.wake(str(rows(JobRun)[0].id)) == 1
    assert sorted(statuses()) == ["done", "pending", "pending"]


def test_a_wake_up_for_a_run_that_is_held_or_done_does_nothing(ticks: list[Claim]) -> None:
    add_schedule(7)
    dispatcher.step()
    (run,) = rows(JobRun)
    assert claim(run.id) is not None
    assert runs.wake(str(run.id)) == 0
    change(JobRun, status="done")
    assert runs.wake(str(run.id)) == 0
    assert runs.wake("999999") == 0
    assert ticks == []


def test_eight_workers_at_once_claim_each_run_once() -> None:
    for subject in range(24):
        add_schedule(subject)
    dispatcher.step()
    with ThreadPoolExecutor(8) as pool:
        claimed = [c for c in pool.map(lambda _: claim(), range(40)) if c]
    assert len({c.id for c in claimed}) >= 20  # a row locked by a neighbour is passed over, not waited for
    assert len(claimed) == len({c.id for c in claimed})
    assert {c.attempt for c in claimed} == {1}


def test_the_fence_stands_at_the_claim_so_waiting_in_the_queue_never_uses_up_attempts(ticks: list[Claim]) -> None:
    add_schedule(7)
    for _ in range(8):
        queue.queue(queue.RUNS).empty()
        dispatcher.step()
        change(JobRun, wake_at=past())
    (run,) = rows(JobRun)
    assert (run.handed, run.attempt) == (8, 0)
    work()
    assert [c.attempt for c in ticks] == [1]


def test_a_slow_worker_that_was_overtaken_writes_nothing() -> None:
    add_schedule(7)
    dispatcher.step()
    (run,) = rows(JobRun)

    def overtaken(claim_: Claim) -> Callable[[Session], RunResult]:
        change(JobRun, claimed_until=past())
        assert claim(claim_.id) is not None  # another worker takes over in the meantime

        def finish(session: Session) -> RunResult:
            session.add(ServiceFact(name="late", value="must not appear"))
            return COMPLETE

        return finish

    runs.HANDLERS["tick"] = overtaken
    try:
        runs.wake(str(run.id))
    finally:
        del runs.HANDLERS["tick"]
    assert effects() == []
    (run,) = rows(JobRun)
    assert (run.status, run.attempt) == ("running", 2)


def test_the_run_of_a_dead_worker_is_handed_over_and_taken_over(ticks: list[Claim]) -> None:
    add_schedule(7)
    dispatcher.step()
    (run,) = rows(JobRun)
    assert claim(run.id) is not None  # and then that worker dies
    change(JobRun, claimed_until=past(), wake_at=past())
    dispatcher.step()
    work()
    assert [c.attempt for c in ticks] == [2]
    assert statuses() == ["done"]


@pytest.mark.parametrize("kind", [failing(RuntimeError("boom")), failing(again="no source answered")])
def test_a_failed_attempt_waits_longer_each_time_and_the_fifth_ends_it_visibly(kind: Any) -> None:
    runs.HANDLERS["tick"] = kind
    add_schedule(7)
    dispatcher.step()
    waits: list[float] = []
    for _ in range(4):
        runs.wake(str(rows(JobRun)[0].id))
        (run,) = rows(JobRun)
        assert run.status == "pending"
        assert run.error
        assert claim(run.id) is None  # a stray wake-up cannot shorten the wait
        waits.append(round((run.claimed_until - clock.now()) / timedelta(minutes=1)))
        change(JobRun, claimed_until=past(), wake_at=past())
    runs.wake(str(run.id))
    (run,) = rows(JobRun)
    del runs.HANDLERS["tick"]
    assert waits == [1, 5, 30, 120]
    assert (run.status, run.attempt) == ("failed", 5)
    assert run.finished_at is not None


def test_a_run_whose_workers_keep_dying_is_given_up(ticks: list[Claim]) -> None:
    add_schedule(7)
    dispatcher.step()
    change(JobRun, attempt=5, status="running", claimed_until=past(), wake_at=past())
    dispatcher.step()
    work()
    (run,) = rows(JobRun)
    assert (run.status, run.error) == ("failed", "its workers were lost")
    assert ticks == []


def test_an_effect_that_cannot_be_written_leaves_no_half_of_itself(ticks: list[Claim]) -> None:
    add_schedule(7)
    dispatcher.step()
    (run,) = rows(JobRun)
    with transaction() as session:
        session.add(ServiceFact(name=f"tick {run.id}", value="already there"))
    runs.wake(str(run.id))
    (run,) = rows(JobRun)
    assert (run.status, run.error) == ("pending", "IntegrityError")
    assert effects() == [f"tick {run.id}"]
