"""Due rows reach the queue once, whatever happens to dispatchers, the queue and its server."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from datetime import timedelta

import pytest
from rq import Queue
from rq.job import Job

from jobs import dispatcher
from jobs.queue import DELIVERIES, RUNS, queue
from shared.db.base import transaction
from shared.db.messages import Delivery, hand_over_deliveries
from shared.db.runs import AWAITED, DUE, JobRun, Schedule, create_due_runs, hand_over_runs
from shared.redis import connect
from shared.settings import settings
from tests.jobs.conftest import Post, add_schedule, change, past, rows
from tests.support.settings_and_clock import Configure

pytestmark = pytest.mark.usefixtures("clean")


def waiting(name: str = RUNS) -> list[Job]:
    return list(queue(name).get_jobs())


def test_a_due_schedule_becomes_one_run_and_one_wake_up_with_an_id_and_nothing_else() -> None:
    add_schedule(7)
    dispatcher.step()
    dispatcher.step()
    (run,) = rows(JobRun)
    (call,) = waiting()
    assert (run.status, run.handed, run.attempt) == ("pending", 1, 0)
    assert (call.func_name, call.args, call.kwargs) == ("jobs.runs.wake", [str(run.id)], {})
    assert call.id == f"checks-{run.id}-1"
    assert 0 < call.ttl <= 60


def test_a_delivery_is_woken_on_its_own_queue(post: Post) -> None:
    delivery = post()
    dispatcher.step()
    (call,) = waiting(DELIVERIES)
    assert (call.func_name, call.args) == ("jobs.deliver.wake", [delivery])


@pytest.mark.spec("s3.route_monitor.checked_every_six_hours")
@pytest.mark.spec("s6.2.route_monitor_email")
def test_the_phase_is_kept_and_missed_slots_collapse_into_one_run() -> None:
    add_schedule(7, every=timedelta(hours=6))
    change(Schedule, next_due_at=past(3600 * 21))
    (before,) = rows(Schedule)
    dispatcher.step()
    (after,) = rows(Schedule)
    assert after.next_due_at - before.next_due_at == timedelta(hours=24)
    assert len(rows(JobRun)) == 1


def test_what_is_switched_off_or_not_yet_due_stays_quiet() -> None:
    add_schedule(1)
    add_schedule(2)
    change(Schedule, enabled=False)
    add_schedule(3)
    change(Schedule, next_due_at=past(-60))
    dispatcher.step()
    assert rows(JobRun) == []


def test_eight_dispatchers_at_once_hand_each_row_over_once() -> None:
    for subject in range(40):
        add_schedule(subject)

    def together(_: int) -> list[tuple[str, int]]:
        with transaction() as session:
            create_due_runs(session, 10)
        with transaction() as session:
            return hand_over_runs(session, 10, 60)

    with ThreadPoolExecutor(8) as pool:
        handed = [row for batch in pool.map(together, range(16)) for row in batch]
    assert len(rows(JobRun)) == 40
    assert len(handed) == len(set(handed)) == 40


def test_no_more_is_handed_over_than_workers_can_soon_hear() -> None:
    for subject in range(60):
        add_schedule(subject)
    dispatcher.step()
    dispatcher.step()
    assert len(waiting()) == 2
    assert len(rows(JobRun)) == 60
    queue(RUNS).empty()
    dispatcher.step()
    assert len(waiting()) == 2
    assert sorted(run.handed for run in rows(JobRun)) == [0] * 56 + [1] * 4


def add_due(count: int) -> None:
    for subject in range(1000, 1000 + count):
        add_schedule(subject, kind="later")
    change(Schedule, lane=DUE)


def test_runs_that_fell_due_share_wake_ups_and_those_a_person_waits_for_have_their_own() -> None:
    add_due(60)
    add_schedule(1)
    add_schedule(2)
    with transaction() as session:
        create_due_runs(session)
    with transaction() as session:
        handed = {int(id) for id, _ in hand_over_runs(session, 10, 60)}
    lanes = [run.lane for run in rows(JobRun) if run.id in handed]
    assert sorted(lanes) == [AWAITED, AWAITED, DUE, DUE]


@pytest.mark.parametrize("count", [1, 40])
def test_a_few_runs_that_fell_due_are_one_wake_up(count: int) -> None:
    add_due(count)
    dispatcher.step()
    assert len(waiting()) == 1
    assert len(rows(JobRun)) == count


def test_messages_that_wait_share_wake_ups(post: Post) -> None:
    for number in range(12):
        post(f"event-{number}")
    with transaction() as session:
        assert len(hand_over_deliveries(session, 10, 60)) == 2
    with transaction() as session:
        assert len(hand_over_deliveries(session, 10, 60)) == 1  # of the ten that are left


def begin_work(name: str) -> None:
    """The wake-ups that wait are taken by workers, which go on with them."""
    for call in waiting(name):
        queue(name).remove(call.id)
        connect().zadd(queue(name).started_job_registry.key, {f"{call.id}:1": 10**11})


def test_what_falls_due_is_left_to_the_wake_up_under_way_unless_that_is_held_up() -> None:
    add_due(60)
    dispatcher.step()
    assert len(waiting()) == 2
    begin_work(RUNS)
    dispatcher.step()
    assert waiting() == []
    change(JobRun, wake_at=past(4))
    dispatcher.step()
    assert waiting() == []
    change(JobRun, wake_at=past(6))
    dispatcher.step()
    assert len(waiting()) == 2


def test_what_a_person_waits_for_has_its_wake_up_beside_those_under_way() -> None:
    add_due(5)
    dispatcher.step()
    begin_work(RUNS)
    add_schedule(1)
    dispatcher.step()
    (call,) = waiting()
    assert {run.id: run.lane for run in rows(JobRun)}[int(call.args[0])] == AWAITED


def test_messages_are_left_to_the_wake_up_under_way_unless_that_is_held_up(post: Post) -> None:
    post("event-1")
    dispatcher.step()
    begin_work(DELIVERIES)
    post("event-2")
    dispatcher.step()
    assert waiting(DELIVERIES) == []
    change(Delivery, wake_at=past(2))
    dispatcher.step()
    assert len(waiting(DELIVERIES)) == 1


def test_a_lost_queue_is_filled_again_from_the_rows(post: Post) -> None:
    add_schedule(7)
    post()
    dispatcher.step()
    connect().flushall()
    dispatcher.step()
    assert (waiting(), waiting(DELIVERIES)) == ([], [])  # still believed
    change(JobRun, wake_at=past())
    change(Delivery, wake_at=past())
    dispatcher.step()
    assert [call.id[-2:] for call in (*waiting(), *waiting(DELIVERIES))] == ["-2", "-2"]


def test_the_remains_of_a_dead_worker_do_not_block_the_next_wake_up() -> None:
    add_schedule(7)
    dispatcher.step()
    (call,) = waiting()
    call.set_status("started")
    call.save()
    queue(RUNS).remove(call.id)
    change(JobRun, wake_at=past())
    dispatcher.step()
    assert [other.id for other in waiting()] == [f"checks-{rows(JobRun)[0].id}-2"]


def test_while_the_queue_is_away_no_row_is_marked_as_handed_over(configure: Configure) -> None:
    add_schedule(7)
    there = settings().redis_url
    configure(REDIS_URL="redis://127.0.0.1:1/0")
    connect.cache_clear()
    assert dispatcher._survive_outage(None) == "the queue (Redis) is down"
    configure(REDIS_URL=there)
    connect.cache_clear()
    assert rows(JobRun)[0].handed == 0
    assert dispatcher._survive_outage("away") is None
    assert rows(JobRun)[0].handed == 1


def test_a_dead_delivery_worker_is_noticed(post: Post) -> None:
    post()
    change(Delivery, status="claimed", attempt=1, claimed_until=past(), wake_at=past())
    with transaction() as session:
        assert len(hand_over_deliveries(session, 10, 60)) == 1


@contextmanager
def started(**environment: str) -> Iterator["subprocess.Popen[str]"]:
    program = subprocess.Popen(
        [sys.executable, "-m", "jobs", "dispatcher"],
        env={**os.environ, "OUTBOX_DIR": "/nonexistent", **environment},
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        yield program
    finally:
        program.kill()
        program.communicate()


def until(program: "subprocess.Popen[str]", words: str) -> None:
    """Reads what the program says up to the line that holds these words; it fails when the program ends first."""
    assert program.stderr is not None
    assert any(words in line for line in program.stderr)


@pytest.mark.slow  # starts the program
def test_missing_settings_are_reported_together() -> None:
    with started(DATABASE_URL="mysql://x", SECRET_KEYS="", MAIL_BACKEND="letter") as program:
        _, said = program.communicate(timeout=90)
    assert program.returncode == 1
    assert "DATABASE_URL: must be a postgresql:// address" in said
    assert "MAIL_BACKEND" in said
    assert "Traceback" not in said


@pytest.mark.slow  # starts the program
def test_the_program_survives_an_outage_says_so_once_and_ends_cleanly_when_asked() -> None:
    with started(REDIS_URL="redis://127.0.0.1:1/0", DISPATCHER_INTERVAL_SECONDS="0.05") as program:
        until(program, "the queue (Redis) is down, trying again")
        program.send_signal(signal.SIGTERM)
        _, rest = program.communicate(timeout=90)
    assert rest == ""
    assert program.returncode == 0


@pytest.mark.slow  # starts the program
def test_a_database_that_is_away_is_waited_for() -> None:
    with started(DATABASE_URL="postgresql://x@127.0.0.1:1/x") as program:
        until(program, "dispatcher: the database is down")
        program.send_signal(signal.SIGTERM)
        program.communicate(timeout=90)
    assert program.returncode == 0


def test_a_round_asks_the_queue_only_about_what_waits(monkeypatch: pytest.MonkeyPatch, post: Post) -> None:
    """How many workers serve it and what they have under way: of a quiet service that was half of its work."""
    asked: list[str] = []

    def note(asked_about: Queue) -> int:
        asked.append(asked_about.name)
        return 1

    monkeypatch.setattr(dispatcher, "free_slots", note)
    dispatcher.step()
    assert asked == []
    add_schedule(7)
    dispatcher.step()
    post()
    dispatcher.step()
    assert asked == [RUNS, DELIVERIES]
