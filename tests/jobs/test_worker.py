"""The documented worker commands on the real queue: the pool, RQ's own worker, and that with our preloading class."""

import json
import os
import signal
import subprocess
import sys
import threading
import time
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest
from rq import Worker as RqWorker
from rq.serializers import JSONSerializer
from rq.worker import WorkerStatus

from jobs import dispatcher, worker
from jobs.queue import DELIVERIES, ENTRIES, MAIL, RUNS, NotOurs, queue
from shared.db.messages import Delivery
from shared.db.runs import JobRun
from shared.redis import connect
from shared.services.operations import workers
from shared.settings import settings
from tests.jobs.conftest import Post, add_schedule, rows, work
from tests.support.mail_server import Mailbox
from tests.support.settings_and_clock import Configure

pytestmark = pytest.mark.running_clock  # workers are separate programs

RQ = Path(sys.executable).with_name("rq")
WARM = ("-w", "jobs.worker.Worker")


def command(*options: str) -> list[str]:
    return [str(RQ), "worker", "-u", settings().redis_url, "-S", "json", *options, "deliveries", "checks", "mail"]


def run(*options: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        command("--burst", *options), env=os.environ, capture_output=True, text=True, check=True, timeout=90
    )


def children(pid: int) -> list[int]:
    """Its children and theirs: what does the work is in its own process group."""
    table = subprocess.run(["ps", "-A", "-o", "pid=,ppid="], capture_output=True, text=True, check=True).stdout
    pairs = [tuple(map(int, line.split())) for line in table.splitlines()]
    family = [pid]
    for one in family:
        family += [child for child, parent in pairs if parent == one]
    return family[1:]


def kill_with_children(program: "subprocess.Popen[str]") -> None:
    program.send_signal(signal.SIGSTOP)  # it starts no more, and no child learns that its parent has gone
    for pid in children(program.pid):
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
    program.kill()


@contextmanager
def started(*options: str) -> Iterator["subprocess.Popen[str]"]:
    worker = subprocess.Popen(command(*options), env=os.environ, stderr=subprocess.PIPE, text=True)
    try:
        yield worker
    finally:
        worker.kill()
        worker.communicate()


@pytest.mark.slow  # starts programs
@pytest.mark.parametrize("options", [(), WARM])
def test_the_documented_command_works_on_our_queues(
    post: Post, configure: Configure, tmp_path: Path, options: tuple[str, ...]
) -> None:
    configure(OUTBOX_DIR=tmp_path)
    post()
    add_schedule(999_999, kind="route_monitor")  # its monitor is gone, so the check has nothing to do
    dispatcher.step()
    said = run(*options).stderr
    assert [row.status for row in rows(Delivery)] == ["sent"]
    assert [row.status for row in rows(JobRun)] == ["done"]
    assert len(list(tmp_path.iterdir())) == 1
    assert "Traceback" not in said


@pytest.mark.slow  # starts programs
def test_a_worker_with_a_backlog_ends_with_nothing_left(clean: None, configure: Configure, tmp_path: Path) -> None:
    configure(OUTBOX_DIR=tmp_path)
    for subject in range(12):
        add_schedule(999_000 + subject, kind="route_monitor")
    dispatcher.step()
    said = run(*WARM).stderr
    assert [row.status for row in rows(JobRun)] == ["done"] * 12
    assert "Traceback" not in said


def until(condition: Callable[[], bool]) -> None:
    """Waits, at most 60 s."""
    limit, pause = time.monotonic() + 60, threading.Event()
    while not condition():
        assert time.monotonic() < limit
        pause.wait(0.01)


@contextmanager
def pool(processes: int) -> Iterator["subprocess.Popen[str]"]:
    """The documented command, with its workers registered."""
    line = [sys.executable, "-m", "jobs", "worker", "-n", str(processes)]
    program = subprocess.Popen(line, env=os.environ, stderr=subprocess.DEVNULL, stdout=subprocess.DEVNULL, text=True)
    try:
        until(lambda: len(worker_pids(program)) == processes + max(1, processes // 2))
        yield program
    finally:
        kill_with_children(program)
        program.wait()


def worker_pids(pool: "subprocess.Popen[str]") -> list[int]:
    family = children(pool.pid)
    return [worker.pid for worker in RqWorker.all(connection=connect()) if worker.pid in family]


def _serving_pids(pool: "subprocess.Popen[str]", name: str) -> list[int]:
    mine = worker_pids(pool)
    return [worker.pid for worker in RqWorker.all(queue=queue(name)) if worker.pid in mine]


@pytest.mark.slow  # a pool of two workers starts, and one of them is shot
def test_a_pool_replaces_a_worker_that_was_killed(clean: None, configure: Configure, tmp_path: Path) -> None:
    configure(OUTBOX_DIR=tmp_path)
    with pool(2) as program:
        before = {name: set(_serving_pids(program, name)) for name in (RUNS, MAIL)}
        assert [len(before[name]) for name in (RUNS, MAIL)] == [2, 1]
        for name in (RUNS, MAIL):
            os.kill(next(iter(before[name])), signal.SIGKILL)
        for name, pids in before.items():
            until(lambda name=name, pids=pids: len(set(_serving_pids(program, name)) - pids) == 1)
        for subject in range(5):
            add_schedule(999_000 + subject, kind="route_monitor")
        dispatcher.step()
        until(lambda: [row.status for row in rows(JobRun)] == ["done"] * 5)
        program.send_signal(signal.SIGTERM)
        assert program.wait(timeout=90) == 0


@pytest.mark.slow  # starts programs
def test_a_pool_without_settings_says_which_and_ends() -> None:
    bare = {k: v for k, v in os.environ.items() if k not in ("SECRET_KEYS", "DATABASE_URL")}
    line = [sys.executable, "-m", "jobs", "worker"]
    ended = subprocess.run(line, env=bare, capture_output=True, text=True, timeout=90, check=False)
    assert ended.returncode == 1
    assert ended.stderr.count("DATABASE_URL: is not set") == 1
    assert "Traceback" not in ended.stderr


@pytest.mark.slow  # a worker starts, is shot with its child in the middle of a mail, and is replaced
def test_a_worker_killed_with_its_child_loses_nothing(post: Post, mailbox: Mailbox, tmp_path: Path) -> None:
    with started(*WARM) as worker:
        mailbox.during = lambda: kill_with_children(worker)
        first = post("event-1")
        dispatcher.step()
        worker.wait(timeout=90)
    mailbox.during = None
    second = post("event-2")
    until(_wakes_a_delivery)  # a second later: the wake-up that was shot still counts
    work()
    assert len(mailbox.taken) == 2
    assert {str(row.id): row.status for row in rows(Delivery)} == {first: "handing_over", second: "sent"}


def _wakes_a_delivery() -> bool:
    dispatcher.step()
    return queue(DELIVERIES).count > 0


@pytest.mark.slow  # starts programs
def test_a_worker_without_settings_says_which_and_ends() -> None:
    bare = {k: v for k, v in os.environ.items() if k not in ("SECRET_KEYS", "DATABASE_URL")}
    ended = subprocess.run(command("--burst", *WARM), env=bare, capture_output=True, text=True, timeout=90, check=False)
    assert ended.returncode == 1
    assert "DATABASE_URL: is not set" in ended.stderr
    assert "SECRET_KEYS: is not set" in ended.stderr
    assert "Traceback" not in ended.stderr


def test_a_worker_that_takes_up_facts_is_busy_so_that_no_signal_to_end_is_lost(
    monkeypatch: pytest.MonkeyPatch, clean: None
) -> None:
    seen: list[str] = []
    mine = worker.Worker([queue(RUNS)], connection=connect(), serializer="json")
    monkeypatch.setattr(worker, "_refresh_facts", lambda: seen.append(mine.get_state()))
    for part in ("fork_work_horse", "monitor_work_horse"):
        monkeypatch.setattr(RqWorker, part, lambda *_: None)
    mine.execute_job(queue(RUNS).enqueue("jobs.runs.wake", "1"), queue(RUNS))
    assert seen == [WorkerStatus.BUSY]


@pytest.mark.parametrize(
    "field", ["func_name", "success_callback_name", "failure_callback_name", "stopped_callback_name"]
)
@pytest.mark.parametrize("entry", ["os.abort", "jobs.worker.run", "jobs.deliver.wake.__class__", "builtins.exec"])
def test_a_job_that_someone_else_wrote_runs_nothing(
    monkeypatch: pytest.MonkeyPatch, clean: None, field: str, entry: str
) -> None:
    """Whoever can write to Redis wakes the workers, and no more."""
    imported: list[str] = []
    monkeypatch.setattr(worker, "_prepare", lambda: None)
    for module in ("rq.job", "jobs.queue"):
        monkeypatch.setattr(f"{module}.import_attribute", lambda name: imported.append(name) or print)
    written = queue(RUNS).enqueue(ENTRIES[RUNS], "1")
    connect().hset(written.key, field, entry)
    if field == "func_name":
        connect().hset(written.key, "data", zlib.compress(json.dumps([entry, None, ["1"], {}]).encode()))
    mine = worker.Worker([queue(RUNS)], connection=connect(), serializer="json")
    job = mine.job_class.fetch(written.id, connection=connect(), serializer=JSONSerializer)
    with suppress(NotOurs):
        job.perform()
    assert [job.success_callback, job.failure_callback, job.stopped_callback] == [None] * 3
    assert sorted(set(imported)) == ([] if field == "func_name" else [ENTRIES[RUNS]])


@pytest.mark.slow  # a worker starts, waits, and finishes the mail under way
def test_a_worker_told_to_end_finishes_the_message_under_way(post: Post, mailbox: Mailbox) -> None:
    with started(*WARM) as worker:
        mailbox.during = lambda: worker.send_signal(signal.SIGTERM)
        post()
        dispatcher.step()
        assert worker.wait(timeout=90) == 0
    assert [row.status for row in rows(Delivery)] == ["sent"]
    assert len(mailbox.taken) == 1


@contextmanager
def _dispatching() -> Iterator["subprocess.Popen[bytes]"]:
    line = [sys.executable, "-m", "jobs", "dispatcher"]
    program = subprocess.Popen(line, env=os.environ, stderr=subprocess.DEVNULL)
    try:
        yield program
    finally:
        program.kill()
        program.wait()


@pytest.mark.slow  # a pool and a dispatcher start, and each is stopped until it counts as silent
def test_a_stopped_program_is_silent_and_a_living_one_outlives_a_redis_that_lost_everything(
    clean: None, configure: Configure, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    configure(OUTBOX_DIR=tmp_path)
    monkeypatch.setattr(workers, "LIFE_SECONDS", workers.BEAT_SECONDS + 3)

    def count() -> tuple[int, int, int]:
        """Living workers and dispatchers, and silent programs."""
        programs = workers.list_programs()
        living = [program.kind for program in programs if program.is_living]
        return living.count("worker"), living.count("dispatcher"), sum(p.is_silent for p in programs)

    with pool(1) as program, _dispatching() as waker:
        until(lambda: count() == (2, 1, 0))
        connect().flushdb()
        until(lambda: count() == (2, 1, 0))
        assert {worker.pid for worker in workers.list_programs()} == {*worker_pids(program), waker.pid}
        assert len(_serving_pids(program, MAIL)) == 1  # RQ knows them again too
        (reader,) = _serving_pids(program, MAIL)
        for pid in (reader, waker.pid):
            os.kill(pid, signal.SIGSTOP)
        until(lambda: count() == (1, 0, 2))
        assert workers.count_workers(MAIL) == 0
        assert workers.find_dispatcher_age() is None
        for pid in (reader, waker.pid):
            os.kill(pid, signal.SIGCONT)
        until(lambda: count() == (2, 1, 0))
        for ending in (program, waker):
            ending.send_signal(signal.SIGTERM)
        assert [ending.wait(timeout=60) for ending in (program, waker)] == [0, 0]
        assert workers.list_programs() == []
