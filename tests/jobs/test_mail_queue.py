"""Forwarded mails have their own queue: however long they take to read, messages leave and checks are made."""

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import hypothesis
import pytest
import sqlalchemy as sa
from hypothesis import HealthCheck, given
from hypothesis import strategies as st

from jobs import dispatcher, runs
from jobs.queue import DELIVERIES, DRAIN_SECONDS, ENTRIES, MAIL, RUNS, free_slots, queue
from shared.db.base import engine, transaction
from shared.db.inbound_mail import InboundMail, store_mail
from shared.db.messages import Delivery
from shared.db.run_kinds import RunKind
from shared.db.runs import _NEXT, COMPLETE, JobRun, Schedule, claim_run, hand_over_runs, run_now
from shared.domain.plans import Plan
from shared.domain.senders import Judgement, Trust
from shared.domain.watch_kinds import ROUTE_MONITOR
from shared.redis import connect
from shared.services.bookings.inbound_mail import ReadMail, settle
from shared.settings import settings
from tests.conftest import empty_tables
from tests.jobs.conftest import Post, add_schedule, change, past, rows
from tests.jobs.test_worker import kill_with_children, until
from tests.support.people import account
from tests.support.settings_and_clock import Configure

pytestmark = pytest.mark.usefixtures("clean")
GATE = "test:gate"


def _plant(mails: int, checks: int = 0) -> None:
    for subject in range(mails):
        add_schedule(subject, RunKind.INBOUND_MAIL)
    for subject in range(checks):
        add_schedule(999_000 + subject, ROUTE_MONITOR.run)  # their monitors are gone: nothing to do


def _statuses(queue_name: str) -> list[str]:
    return [run.status for run in rows(JobRun) if run.queue == queue_name]


def test_a_run_is_in_the_queue_of_its_kind_however_it_was_made() -> None:
    _plant(mails=1, checks=1)
    with transaction() as session:
        run_now(session, RunKind.INBOUND_MAIL, 0)
        run_now(session, ROUTE_MONITOR.run, 999_000)
    assert sorted(run.queue for run in rows(JobRun)) == ["checks", "mail"]
    dispatcher.step()
    kinds = {schedule.id: schedule.kind for schedule in rows(Schedule)}
    queues = {(kinds[run.schedule_id], run.queue) for run in rows(JobRun)}
    assert queues == {(RunKind.INBOUND_MAIL, MAIL), (ROUTE_MONITOR.run, RUNS)}


def test_a_wake_up_claims_runs_of_its_own_queue_alone() -> None:
    _plant(mails=2, checks=2)
    dispatcher.step()
    ids = {name: [run.id for run in rows(JobRun) if run.queue == name] for name in (MAIL, RUNS)}
    for mine, other in ((MAIL, RUNS), (RUNS, MAIL)):
        with transaction() as session:
            assert claim_run(session, 60, ids[other][0], mine) is None  # even one that is named
            claims = [claim_run(session, 60, queue=mine) for _ in range(3)]
        assert [claim and (claim.id, claim.queue) for claim in claims] == [*((id, mine) for id in ids[mine]), None]


def test_mails_wait_in_a_queue_that_takes_no_slot_of_the_others(post: Post) -> None:
    _plant(mails=20)
    dispatcher.step()
    assert [call.func_name for call in queue(MAIL).get_jobs()] == ["jobs.runs.read_mail"] * 2
    _plant(mails=0, checks=1)
    post()
    dispatcher.step()
    assert [queue(name).count for name in ENTRIES] == [1, 1, 2]


def test_a_mail_whose_reader_died_is_handed_over_to_the_queue_of_mail() -> None:
    _plant(mails=1)
    dispatcher.step()
    with transaction() as session:
        assert claim_run(session, 60, queue=MAIL)
    change(JobRun, claimed_until=past(), wake_at=past())
    with transaction() as session:
        assert hand_over_runs(session, 10, 60) == []
        assert len(hand_over_runs(session, 10, 60, queue=MAIL)) == 1


def test_a_wake_up_for_mail_soon_leaves_its_worker_to_other_queues(monkeypatch: pytest.MonkeyPatch) -> None:
    assert DRAIN_SECONDS[MAIL] <= 2
    monkeypatch.setitem(DRAIN_SECONDS, MAIL, 0.0)
    monkeypatch.setitem(runs.HANDLERS, RunKind.INBOUND_MAIL, lambda _claim: lambda _session: COMPLETE)
    _plant(mails=3)
    dispatcher.step()
    assert runs.read_mail() == 1
    monkeypatch.setitem(DRAIN_SECONDS, MAIL, 60.0)
    assert runs.read_mail() == 2


@dataclass
class Line:
    """Accounts with letters that wait, in order of their arrival."""

    accounts: dict[str, int] = field(default_factory=dict)

    def add(self, name: str, letters: int, **columns: Any) -> None:
        self.accounts[name] = account(name, Plan.PREMIUM, **columns).account_id
        with transaction() as session:
            for n in range(letters):
                facts = {"from_domain": "", "subject": "", "raw": b"x", "digest": f"{name} {n}"}
                assert store_mail(session, account_id=self.accounts[name], **facts)

    def claim(self) -> str | None:
        """Whose letter comes next; it is being read from then on."""
        with transaction() as session:
            claim = claim_run(session, 60, queue=MAIL)
            number = claim and claim.subject_id
            owner = session.scalar(sa.select(InboundMail.account_id).where(InboundMail.number == number))
        return next((name for name, id in self.accounts.items() if id == owner), None)

    def settle(self, *, slow: bool = False) -> None:
        """The letter that is being read has been read."""
        with transaction() as session:
            run = session.scalars(sa.select(JobRun).where(JobRun.status == "running")).one()
            number = session.get_one(Schedule, run.schedule_id).subject_id
            settle(session, number, ReadMail("unreadable", Judgement(Trust.NONE, ""), slow))


@pytest.fixture
def line() -> Line:
    return Line()


def test_letters_of_the_account_served_longest_ago_come_first_and_one_of_each_at_a_time(line: Line) -> None:
    line.add("many", 4)
    line.add("one", 1)
    dispatcher.step()
    order = []
    for _ in range(2):
        order.append(line.claim())
        line.settle()
    line.add("late", 1)
    dispatcher.step()
    order += [line.claim(), line.claim()]
    assert order == ["many", "one", "many", "late"]
    assert line.claim() is None  # the other letters of the account wait until the one that is being read is settled


@given(st.lists(st.tuples(st.sampled_from("abc"), st.booleans()), min_size=1, max_size=6))
@hypothesis.settings(max_examples=8, deadline=None, suppress_health_check=list(HealthCheck))
def test_whose_letter_took_long_comes_after_all_others(letters: list[tuple[str, bool]]) -> None:
    empty_tables()
    line, slow = Line(), dict(letters)
    for name in slow:
        line.add(name, 2)
    dispatcher.step()
    for _ in slow:
        line.settle(slow=slow[str(line.claim())])
    line.add("new", 1)
    dispatcher.step()
    order = []
    while (name := line.claim()) is not None:
        order.append(name)
        line.settle()
    assert [slow.get(name, False) for name in order] == sorted(slow.get(name, False) for name in order)
    assert sorted(order) == sorted([*slow, "new"])


def _register(**workers: str) -> None:
    """Workers, each with its queues, as RQ notes them."""
    for name, queues in workers.items():
        for served in queues.split():
            connect().sadd(f"rq:workers:{served}", f"rq:worker:{name}")


@pytest.mark.parametrize(
    ("shared_workers", "readers", "slots"),
    [(0, 0, 2), (0, 1, 2), (0, 3, 6), (1, 0, 1), (2, 0, 1), (3, 0, 1), (4, 0, 2), (5, 0, 2), (2, 3, 4)],
)
def test_mail_is_read_on_half_of_the_workers_that_have_other_work_too(
    shared_workers: int, readers: int, slots: int
) -> None:
    _register(**{f"s{n}": "deliveries checks mail" for n in range(shared_workers)})
    _register(**{f"r{n}": "mail" for n in range(readers)}, other="deliveries checks")
    assert free_slots(queue(MAIL)) == slots
    assert free_slots(queue(DELIVERIES)) == free_slots(queue(RUNS)) == 2 * (shared_workers + 1)


def test_a_mail_under_way_takes_the_place_of_one_that_waits() -> None:
    _register(**{f"s{n}": "deliveries checks mail" for n in range(4)})
    call = queue(MAIL).enqueue("jobs.runs.read_mail", "1")
    assert free_slots(queue(MAIL)) == 1
    queue(MAIL).remove(call.id)
    connect().zadd(queue(MAIL).started_job_registry.key, {f"{call.id}:1": 10**11})
    assert free_slots(queue(MAIL)) == 1


def test_a_check_is_found_without_looking_at_the_mails_before_it() -> None:
    add_schedule(1, RunKind.INBOUND_MAIL)
    dispatcher.step()
    waiting = sa.text(
        "insert into job_runs (schedule_id, due_at, wake_at, queue)"
        " select schedule_id, due_at - make_interval(secs => n), now() - interval '1 day', 'mail'"
        " from job_runs, generate_series(1, 20000) n"
    )
    with transaction() as session:
        session.execute(waiting)
    _plant(mails=0, checks=1)
    dispatcher.step()
    read = sa.text("explain (analyze, format json) " + _NEXT.text)
    with engine().begin() as connection:
        connection.execute(sa.text("analyze job_runs"))
        plan = connection.execute(read, {"queue": RUNS, "lease": 60}).scalar_one()
    (search,) = [node for node in _walk_plan(plan[0]["Plan"]) if node.get("Index Name") == "ix_job_runs_open"]
    assert "queue = " in search["Index Cond"]
    assert search.get("Rows Removed by Filter", 0) == 0


def _walk_plan(node: dict[str, Any]) -> list[dict[str, Any]]:
    return [node, *(below for part in node.get("Plans", ()) for below in _walk_plan(part))]


# A program of the service in which reading any mail waits until the test lets it go on.
_SLOW_READER = f"""
import sys, redis
from jobs import runs
from shared.db.runs import COMPLETE
from shared.settings import settings

def read(claim):
    redis.Redis.from_url(settings().redis_url).blpop({GATE!r}, 120)
    return lambda session: COMPLETE

runs.HANDLERS["inbound_mail"] = read
"""
_POOL_OF_ONE = [_SLOW_READER + "from jobs.__main__ import main; main()", "worker", "-n", "1"]
_RQ = _SLOW_READER + "from rq.cli import main; main()"


def _stock_worker(*queues: str) -> list[str]:
    return [_RQ, "worker", "-u", settings().redis_url, "-S", "json", "-w", "jobs.worker.Worker", *queues]


@contextmanager
def _started(command: list[str]) -> Iterator[None]:
    program = subprocess.Popen([sys.executable, "-c", *command], env=os.environ, stderr=subprocess.DEVNULL)
    try:
        yield
    finally:
        kill_with_children(program)
        program.wait()


@pytest.mark.running_clock  # workers are separate programs
@pytest.mark.slow  # real workers start
@pytest.mark.parametrize("way", ["a pool of one", "two workers of all queues", "a worker and a reader"])
def test_messages_leave_and_checks_are_made_while_every_mail_hangs(
    post: Post, configure: Configure, tmp_path: Path, way: str
) -> None:
    configure(OUTBOX_DIR=tmp_path)
    commands = {
        "a pool of one": [_POOL_OF_ONE],
        "two workers of all queues": [_stock_worker(DELIVERIES, RUNS, MAIL)] * 2,
        "a worker and a reader": [_stock_worker(DELIVERIES, RUNS), _stock_worker(MAIL)],
    }[way]
    with ExitStack() as stack:
        for command in commands:
            stack.enter_context(_started(command))
        until(lambda: connect().scard("rq:workers") == 2 and bool(connect().scard(f"rq:workers:{MAIL}")))
        _plant(mails=20)
        dispatcher.step()
        until(lambda: "running" in _statuses(MAIL))
        for number in range(3):  # one after the other, so that a worker would turn to the next mail between them
            post(f"event-{number}")
            add_schedule(999_000 + number, ROUTE_MONITOR.run)
            until(lambda: _step_until({row.status for row in rows(Delivery)} == {"sent"}))
            until(lambda: _step_until(set(_statuses(RUNS)) == {"done"}))
        assert _statuses(MAIL).count("running") == 1
        assert "done" not in _statuses(MAIL)
        connect().rpush(GATE, *range(20))
        until(lambda: _step_until(_statuses(MAIL) == ["done"] * 20))


def _step_until(is_done: bool) -> bool:
    dispatcher.step()
    return is_done


def _reads_after_a_round() -> bool:
    dispatcher.step()
    return _statuses(MAIL) == ["done"]


@pytest.mark.running_clock  # workers are separate programs
@pytest.mark.slow  # real workers start, and the one that reads is shot
def test_a_mail_whose_reader_was_killed_is_read_by_the_next(tmp_path: Path, configure: Configure) -> None:
    configure(OUTBOX_DIR=tmp_path)
    _plant(mails=1)
    with _started(_stock_worker(MAIL)):
        dispatcher.step()
        until(lambda: _statuses(MAIL) == ["running"])
    change(JobRun, claimed_until=past(), wake_at=past())
    with _started(_stock_worker(MAIL)):
        connect().rpush(GATE, *["go"] * 9)  # Redis may hand one to the reader that was shot
        until(_reads_after_a_round)  # not the first, perhaps: the wake-up that was shot still counts
    (run,) = rows(JobRun)
    assert run.attempt == 2
