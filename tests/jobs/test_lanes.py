"""What a person waits for goes before what fell due, however much of that there is."""

from datetime import timedelta

import pytest
import sqlalchemy as sa

from jobs import deliver, dispatcher, runs
from shared import clock
from shared.db.base import engine, transaction
from shared.db.runs import (
    _NEXT,
    AWAITED,
    COMPLETE,
    DUE,
    JobRun,
    Schedule,
    claim_run,
    create_due_runs,
    retry_run,
    run_now,
)
from shared.db.runs import schedule as set_schedule
from shared.domain.retries import wait_after
from tests.jobs.conftest import Post, add_schedule, change, past, rows

pytestmark = pytest.mark.usefixtures("clean")
BACKLOG = 700  # more than one round of the dispatcher makes


def make_backlog(count: int = BACKLOG) -> None:
    """Schedules that ran before and are due again."""
    with transaction() as session:
        session.execute(
            sa.text(
                "insert into schedules (kind, subject_id, every, next_due_at)"
                " select 'tick', n, interval '6 hours', now() - interval '1 hour' from generate_series(1, :n) n"
            ),
            {"n": count},
        )


def claim_subjects(most: int) -> list[int]:
    with transaction() as session:
        claims = [claim_run(session, 60) for _ in range(most)]
    return [claim.subject_id for claim in claims if claim]


def test_a_new_watch_is_claimed_before_the_whole_backlog() -> None:
    make_backlog()
    dispatcher.step()
    add_schedule(9_000)
    dispatcher.step()
    first, second = claim_subjects(2)
    assert (first, second < BACKLOG + 1) == (9_000, True)  # and those that fell due are not forgotten


def test_a_run_somebody_asked_for_goes_first_too() -> None:
    make_backlog(10)
    dispatcher.step()
    with transaction() as session:
        run_now(session, "tick", 7)
    assert claim_subjects(1) == [7]


def test_only_the_first_run_of_a_schedule_has_the_lane() -> None:
    add_schedule(1)
    dispatcher.step()
    change(Schedule, next_due_at=past())
    dispatcher.step()
    assert [run.lane for run in rows(JobRun)] == [AWAITED, DUE]


def test_what_is_due_later_has_no_lane_of_its_own() -> None:
    with transaction() as session:
        set_schedule(session, "tick", 1, timedelta(hours=6), at=clock.now() - timedelta(days=1))
        assert create_due_runs(session) == 1
    assert [run.lane for run in rows(JobRun)] == [DUE]


def test_a_run_that_failed_waits_among_the_others() -> None:
    add_schedule(1)
    dispatcher.step()
    with transaction() as session:
        claim, wait = claim_run(session, 60), wait_after(1)
        assert claim
        assert wait
        retry_run(session, claim, wait, "no source answered")
    assert [run.lane for run in rows(JobRun)] == [DUE]


def test_the_next_run_is_found_by_the_index_of_open_runs_alone() -> None:
    make_backlog(5_000)
    with transaction() as session:
        create_due_runs(session, 5_000)
    add_schedule(30_000)
    dispatcher.step()
    read = sa.text("explain (analyze, format json) " + _NEXT.text)
    with engine().begin() as connection:
        connection.execute(sa.text("analyze job_runs"))
        plan = connection.execute(read, {"queue": runs.RUNS, "lease": 60}).scalar_one()
    text = str(plan)
    assert "ix_job_runs_open" in text
    assert "'Sort'" not in text


def test_a_new_watch_is_checked_between_two_messages(post: Post, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(runs, "LOOK_SECONDS", 0.0)
    monkeypatch.setitem(runs.HANDLERS, "tick", lambda _claim: lambda _session: COMPLETE)
    make_backlog(1)
    add_schedule(2)
    dispatcher.step()
    sent = [post(f"event-{n}") for n in range(2)]
    assert deliver.wake() == len(sent)
    assert {run.lane: run.status for run in rows(JobRun)} == {AWAITED: "done", DUE: "pending"}
