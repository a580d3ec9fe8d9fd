"""Chaos tests of the job programs: they are killed at random (seeded), then the fate of each message is counted."""

import os
import random
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Collection
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import psycopg
import redis

from tests.chaos import watched_subjects
from tests.support.mail_server import Mailbox, mail_server

LEASE, WAKE = 6, 3
RQ = str(Path(sys.executable).with_name("rq"))


@dataclass
class Report:
    """What the database and the mail server say when all is quiet again."""

    blows: dict[str, int] = field(default_factory=dict)
    runs: int = 0
    unfinished: int = 0
    failed: int = 0
    checks: int = 0  # lines of the check log: one per finished run of a monitor
    all_runs: int = 0
    outcomes: dict[str, int] = field(default_factory=dict)
    too_early: int = 0  # runs closer to each other than their interval
    notices: dict[str, int] = field(default_factory=dict)
    deliveries: int = 0
    sent: int = 0
    uncertain: int = 0
    uncertain_received: int = 0  # of those, what the server took
    uncertain_shown: int = 0  # of those, what the inbox tells of
    lost: int = 0  # notices of watches without a delivery
    mails: int = 0
    mailed_twice: int = 0
    mailed_unknown: int = 0  # mails the rows know nothing of
    sent_unseen: int = 0  # rows that say sent, of which the server saw nothing
    attempts: int = 0  # the most any run needed
    quiet_after: float = 0.0

    def lines(self) -> str:
        return ", ".join(f"{name} {value}" for name, value in asdict(self).items())


@dataclass
class Fleet:
    """Two dispatchers and three workers, each started again when it is gone."""

    environment: dict[str, str]
    log: Any
    programs: dict[str, "subprocess.Popen[bytes]"] = field(default_factory=dict)
    spared: Collection[str] = ()  # names of programs that are never struck

    def keep_up(self) -> None:
        commands = {f"dispatcher {n}": [sys.executable, "-m", "jobs", "dispatcher"] for n in range(2)}
        worker = [RQ, "worker", "-u", self.environment["REDIS_URL"], "-S", "json", "-q", "-w", "jobs.worker.Worker"]
        commands |= {f"worker {n}": [*worker, "deliveries", "checks", "mail"] for n in range(3)}
        for name, command in commands.items():
            if name not in self.programs or self.programs[name].poll() is not None:
                self.programs[name] = subprocess.Popen(
                    command, env=self.environment, stdout=self.log, stderr=self.log, start_new_session=True
                )

    def named(self, kind: str, dice: random.Random) -> "subprocess.Popen[bytes]":
        struck = sorted(set(self.programs) - set(self.spared))
        return self.programs[dice.choice([name for name in struck if name.startswith(kind)])]

    def end(self) -> None:
        for program in self.programs.values():
            program.terminate()
        for program in self.programs.values():
            try:
                program.wait(timeout=10)
            except subprocess.TimeoutExpired:
                program.kill()
                program.wait()


def children(pid: int) -> list[int]:
    """The processes a worker forked, with the second ones on a backlog that those forked."""
    table = subprocess.run(["ps", "-A", "-o", "pid=,ppid="], capture_output=True, text=True, check=True).stdout
    pairs = [tuple(map(int, line.split())) for line in table.splitlines()]
    found = [pid]
    for one in found:
        found += [child for child, parent in pairs if parent == one]
    return found[1:]


def kill(*pids: int) -> bool:
    for pid in pids:
        try:
            os.kill(pid, signal.SIGKILL)
        except ProcessLookupError:
            continue
    return bool(pids)


def list_blows(fleet: Fleet, dice: random.Random, flush: Callable[[], None]) -> dict[str, Callable[[], bool]]:
    def worker_and_child() -> bool:
        pid = fleet.named("worker", dice).pid
        return kill(*children(pid), pid)

    def child() -> bool:
        return kill(*children(fleet.named("worker", dice).pid))

    def one_of_its_children() -> bool:
        forked = children(fleet.named("worker", dice).pid)
        return kill(*dice.sample(forked, min(1, len(forked))))

    def worker() -> bool:
        return kill(fleet.named("worker", dice).pid)

    def dispatcher() -> bool:
        return kill(fleet.named("dispatcher", dice).pid)

    def queue() -> bool:
        flush()
        return True

    return {f.__name__: f for f in (worker_and_child, child, one_of_its_children, worker, dispatcher, queue)}


def run_with_faults(
    database_url: str,
    redis_url: str,
    folder: Path,
    *,
    rounds: int,
    seed: int,
    number: int = 4,
    calm: tuple[float, float] = (0.3, 0.9),
    more_blows: dict[str, Callable[[], bool]] | None = None,
) -> Report:
    """Runs the programs under so many blows, each after some seconds of calm, lets them become quiet, and counts."""
    dice, report, pause = random.Random(seed), Report(), threading.Event()
    with (
        mail_server() as box,
        psycopg.connect(database_url, autocommit=True) as database,
        open(folder / "programs.log", "ab") as log,
    ):
        watched_subjects.plant(database, number)
        fleet = Fleet(build_environment(database_url, redis_url, box), log)
        queue = redis.Redis.from_url(redis_url)
        blows = list_blows(fleet, dice, queue.flushdb) | (more_blows or {})
        try:
            # Programs that are still starting have no work to lose.
            wait_for_quiet(lambda: read_number(database, CHECKS) >= number, fleet, pause)
            for _ in range(rounds):
                fleet.keep_up()
                with suppress(redis.RedisError):
                    watched_subjects.delays(queue)
                for _ in range(2):
                    pause.wait(dice.uniform(*calm) / 2)
                    watched_subjects.renew(database, dice)
                name = dice.choice(sorted(blows))
                report.blows[name] = report.blows.get(name, 0) + blows[name]()
            database.execute("update schedules set enabled = false")
            report.quiet_after = wait_for_quiet(lambda: not read_number(database, OPEN), fleet, pause)
        finally:
            fleet.end()
            queue.close()
        count_fates(database, box, report)
    return report


def build_environment(database_url: str, redis_url: str, box: Mailbox) -> dict[str, str]:
    return os.environ | {
        "DATABASE_URL": database_url,
        "REDIS_URL": redis_url,
        "JOB_LEASE_SECONDS": str(LEASE),
        "WAKE_UP_SECONDS": str(WAKE),
        "DISPATCHER_INTERVAL_SECONDS": "0.1",
        "GATHER_SECONDS": "0",
        "DELAY_CHECK_INTERVAL_SECONDS": str(round(watched_subjects.EVERY)),
        "MAIL_BACKEND": "smtp",
        "SMTP_PORT": str(box.port),
        "SMTP_SECURITY": "none",
        "AWARD_BACKEND": "sandbox",
    }


CHECKS = "select count(*) from route_monitor_checks"
OPEN = """select (select count(*) from job_runs where status in ('pending', 'running'))
 + (select count(*) from deliveries where status in ('pending', 'claimed', 'handing_over'))"""


def read_number(database: "psycopg.Connection[Any]", question: str) -> int:
    row = database.execute(question).fetchone()
    return int(row[0] or 0) if row else 0


def wait_for_quiet(done: Callable[[], bool], fleet: Fleet, pause: threading.Event) -> float:
    """The seconds it took; given up after two minutes, which the counts then show."""
    since = time.monotonic()
    while not done() and time.monotonic() - since < 120:
        fleet.keep_up()
        pause.wait(0.1)
    return round(time.monotonic() - since, 1)


_QUESTIONS = {
    "runs": """select count(*) from job_runs
      where schedule_id in (select id from schedules where kind = 'route_monitor')""",
    "all_runs": "select count(*) from job_runs",
    "unfinished": OPEN,
    "failed": "select count(*) from job_runs where status = 'failed'",
    "checks": CHECKS,
    "too_early": """select count(*) from (
        select due_at - lag(due_at) over (partition by schedule_id order by due_at) gap, every
        from job_runs r join schedules s on s.id = r.schedule_id) x
      where gap < every - interval '1 millisecond'""",
    "lost": f"""select count(*) from notifications n where kind in {watched_subjects.KINDS}
      and not exists (select from deliveries d where d.notification_id = n.id)""",
    "uncertain_shown": """select count(*) from deliveries d join notifications n
      on n.dedupe_key = 'delivery:' || d.id || ':uncertain' where d.status = 'uncertain'""",
    "deliveries": "select count(*) from deliveries",
    "sent": "select count(*) from deliveries where status = 'sent'",
    "uncertain": "select count(*) from deliveries where status = 'uncertain'",
    "attempts": "select max(attempt) from job_runs",
}


def count_fates(database: "psycopg.Connection[Any]", box: Mailbox, report: Report) -> None:
    for name, question in _QUESTIONS.items():
        setattr(report, name, read_number(database, question))
    report.outcomes = dict(database.execute("select outcome, count(*) from route_monitor_checks group by 1").fetchall())
    report.notices = dict(database.execute("select kind, count(*) from notifications group by 1").fetchall())
    known = {str(id): status for id, status in database.execute("select id, status from deliveries")}
    mailed = [id.removeprefix("<").partition("@")[0] for id in box.ids]
    report.mails = len(mailed)
    report.mailed_twice = len(mailed) - len(set(mailed))
    report.mailed_unknown = sum(known.get(id) not in ("sent", "uncertain") for id in mailed)
    report.uncertain_received = sum(known.get(id) == "uncertain" for id in mailed)
    report.sent_unseen = len({id for id, status in known.items() if status == "sent"} - set(mailed))
