"""python -m tests.bench.engine: how many watches a second a dispatcher and a pool of workers check, and the cost.

A private database that keeps every commit, a private queue, monitors that are all due at once, over the sandbox. Round
after round makes them due again: in the first every open seat is news and is mailed, in later ones nearly none. The
processor time is that of the programs alone, so it says more than the rate when others use the machine; how fast the
machine is at that moment is told before each round by twenty million additions on each of two cores.

With `--due` only so many of the monitors are due in a round, spread over all. With `--spread` they are not due at once
but evenly over so many seconds, as on any day: a million every six hours are 2,778 a minute. With `--backlog` so many
runs are open at the end, and a watch is made again behind them: how long until it is checked.
"""

import argparse
import os
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from datetime import date, timedelta
from pathlib import Path
from typing import Any

import psycopg

from deploy.local.private_servers import Postgres, Valkey
from tests.bench.process_costs import cpu_seconds
from tests.bench.stage import ROOT

AT_LEAST = 50.0
NEW_WATCHES = 5  # made behind a backlog, one after the other
# Eight origins and ten destinations serve 24,000 questions, then others do: longer windows had larger answers.
_FROM = "{LHR,CDG,FRA,AMS,MAD,MUC,ZRH,DUB,MAN,EDI,BCN,FCO,MXP,LIS,CPH,ARN,OSL,HEL,VIE,BRU,ATH,IST,WAW,BER}"
_TO = (
    "{JFK,LAX,ORD,BOS,SFO,MIA,IAD,SEA,HND,SIN,EWR,DFW,ATL,DEN,PHL,CLT,IAH,PHX,NRT,BKK,"
    "YYZ,YVR,YUL,MEX,GRU,EZE,SCL,BOG,DOH,DXB,HKG,ICN,TPE,KUL,SYD,MEL,AKL,DEL,BOM,JNB}"
)
_AIRLINES = ("null::text[]", "'{BA}'", "'{AA,BA,UA}'")
_ON_SALE = 300  # first days


@dataclass(frozen=True)
class Due:
    """The monitors of a round: so many, every nth, over so many seconds."""

    count: int
    nth: int
    seconds: int = 0


@dataclass(frozen=True)
class Round:
    """What one round over all monitors took."""

    checks: int
    mails: int
    seconds: float
    cpu: dict[str, float]
    loop: float  # seconds of the additions

    @property
    def rate(self) -> float:
        return self.checks / self.seconds

    def line(self) -> str:
        each = ", ".join(f"{name} {1000 * seconds / self.checks:.1f}" for name, seconds in self.cpu.items())
        words = f"{self.checks} checks, {self.mails} mails, {self.seconds:.1f} s: {self.rate:.0f} checks/s"
        all_ = 1000 * sum(self.cpu.values()) / self.checks
        return f"{words}; CPU ms a check: {each}, all {all_:.1f}; the additions take {self.loop:.2f} s"


_ADD = "import time; began = time.perf_counter(); sum(range(2 * 10**7)); print(time.perf_counter() - began)"


def _loop() -> float:
    """Of two at once, one for each core, the slower: cores that share their strength are slower when both are busy."""
    both = [subprocess.Popen([sys.executable, "-c", _ADD], stdout=subprocess.PIPE, text=True) for _ in range(2)]
    return max(float(one.communicate()[0]) for one in both)


def _fill(database: "psycopg.Connection[Any]", monitors: int, sharing: int, days: int) -> None:
    """Accounts of five monitors each; `sharing` monitors watch each route and window."""
    database.execute(
        "insert into accounts (public_id, email, email_confirmed_at)"
        " select 'acc_' || n, n || '@example.test', now() from generate_series(0, %s) n",
        (monitors // 5,),
    )
    database.execute(
        f"""insert into route_monitors (account_id, synthetic, origin, destination, earliest_date, latest_date, cabin,
          airlines)
        select (select min(id) from accounts) + n / 5, true, ('{_FROM}'::text[])[1 + q %% 8 + 8 * (places %% 3)],
          ('{_TO}'::text[])[1 + q / 8 %% 10 + 10 * (places / 3 %% 4)],
          current_date + 20 + first, current_date + 19 + first + %(days)s + places / 12,
          'business', case q %% 3 when 0 then {_AIRLINES[0]} when 1 then {_AIRLINES[1]} else {_AIRLINES[2]} end
        from (select n, q, q / 80 %% {_ON_SALE} first, q / 80 / {_ON_SALE} places
          from (select n, n / %(sharing)s q from generate_series(0, %(monitors)s - 1) n) x) y""",
        {"days": days, "sharing": sharing, "monitors": monitors},
    )
    database.execute(
        "insert into schedules (kind, subject_id, every, next_due_at) select 'route_monitor', id, interval '6 hours',"
        " now() + interval '1 day' from route_monitors"
    )


@contextmanager
def _programs(folder: Path, postgres: Postgres, valkey: Valkey) -> Iterator[dict[str, int]]:
    """Name and process of everything whose work counts."""
    lines = {name: [sys.executable, "-m", "jobs", name] for name in ("dispatcher", "worker")}
    told = os.environ | {"DATABASE_URL": postgres.url(), "REDIS_URL": valkey.url, "OUTBOX_DIR": str(folder / "mails")}
    with ExitStack() as stack, (folder / "log").open("ab") as log:
        running = {
            name: subprocess.Popen(line, cwd=ROOT, env=told, stdout=log, stderr=log) for name, line in lines.items()
        }
        for program in running.values():
            stack.callback(program.wait, 60)
            stack.callback(program.terminate)
        assert postgres.process
        assert valkey.process
        pids = {name: program.pid for name, program in running.items()}
        yield pids | {"database": postgres.process.pid, "queue": valkey.process.pid}


def _one(database: "psycopg.Connection[Any]", question: str) -> Any:
    row = database.execute(question).fetchone()
    return row[0] if row else None


def _round(database: "psycopg.Connection[Any]", valkey: Valkey, pids: dict[str, int], due: Due) -> Round:
    """So many due at once, with no answer left over; waits until all is checked and mailed."""
    import redis

    with redis.Redis.from_url(valkey.url) as queue:
        for name in queue.scan_iter("award:sandbox:reading:*"):
            queue.delete(name)
    loop, before, pause = _loop(), {name: cpu_seconds(pid) for name, pid in pids.items()}, threading.Event()
    mails = _one(database, "select count(*) from deliveries")
    last = _one(database, "select coalesce(max(id), 0) from job_runs")
    database.execute(
        "update schedules set next_due_at = now() + %s * (id / %s %% %s) * interval '1 second' / %s"
        " where kind = 'route_monitor' and id %% %s = 0",
        (due.seconds, due.nth, due.count, due.count, due.nth),
    )
    monitors = due.count
    until = time.monotonic() + 900
    its = f"job_runs r join schedules s on s.id = r.schedule_id and s.kind = 'route_monitor' where r.id > {last}"
    left = f"select {monitors} - count(*) from {its} and status in ('done', 'failed')"
    open_mails = "select count(*) from deliveries where status not in ('sent', 'failed', 'uncertain')"
    while _one(database, left) or _one(database, open_mails):
        if time.monotonic() > until:
            raise SystemExit("not all was checked in a quarter of an hour")
        pause.wait(1)  # its own questions are no work of the engine
    spent = {name: cpu_seconds(pid) - before[name] for name, pid in pids.items()}
    took = f"select extract(epoch from max(finished_at) - min(due_at)) from {its}"
    mails = _one(database, "select count(*) from deliveries") - mails
    return Round(monitors, mails, float(_one(database, took)), spent, loop)


def _wait_for_new_watches(database: "psycopg.Connection[Any]", backlog: int) -> list[float]:
    """Seconds until each of some new watches is checked, while so many runs are open."""
    from shared.db.base import transaction
    from shared.db.route_monitors import RouteMonitor
    from shared.db.runs import schedule

    database.execute(
        "insert into job_runs (schedule_id, due_at) select id, now() - interval '1 minute' from schedules"
        " where kind = 'route_monitor' order by id limit %s",
        (backlog,),
    )
    threading.Event().wait(3)  # every worker is at it
    account, seconds = _one(database, "select min(id) from accounts"), []
    for _ in range(NEW_WATCHES):
        began, day = time.monotonic(), date.today() + timedelta(days=50)
        with transaction() as session:
            watch = RouteMonitor(
                account_id=account, origin="LHR", destination="JFK", earliest_date=day, latest_date=day
            )
            session.add(watch)
            session.flush()
            schedule(session, "route_monitor", watch.id, timedelta(hours=6))
        while not _one(database, f"select count(*) from route_monitor_checks where monitor_id = {watch.id}"):
            threading.Event().wait(0.05)
        seconds.append(time.monotonic() - began)
    left = _one(database, "select count(*) from job_runs where status in ('pending', 'running')")
    print(f"new watches behind {left} open runs: checked after {', '.join(f'{s:.1f}' for s in seconds)} s")
    return seconds


@contextmanager
def _stage(
    monitors: int, sharing: int, days: int
) -> Iterator[tuple["psycopg.Connection[Any]", Valkey, dict[str, int]]]:
    from shared.db.schema import upgrade

    with tempfile.TemporaryDirectory(prefix="award_engine_") as home, ExitStack() as stack:
        folder = Path(home)
        folder.chmod(0o755)
        (folder / "mails").mkdir()
        postgres, valkey = Postgres(folder).start(), Valkey(folder).start()
        stack.callback(postgres.stop)
        stack.callback(valkey.stop)
        postgres.create_database()
        os.environ.update(SECRET_KEYS="x" * 32, SERVICE_CLIENT_SECRET="x" * 32, AWARD_BACKEND="sandbox")
        os.environ.update(DATABASE_URL=postgres.url(), REDIS_URL=valkey.url)
        upgrade(postgres.url().replace("postgresql://", "postgresql+psycopg://"))
        database = stack.enter_context(psycopg.connect(postgres.url(), autocommit=True))
        _fill(database, monitors, sharing, days)
        database.execute("analyze")
        pids = stack.enter_context(_programs(folder, postgres, valkey))
        threading.Event().wait(5)  # the programs are up
        yield database, valkey, pids


def measure(given: argparse.Namespace) -> list[Round]:
    nth = max(1, given.monitors // (given.due or given.monitors))
    with _stage(given.monitors, given.sharing, given.days) as (database, valkey, pids):
        ids = "select count(*) from schedules where kind = 'route_monitor' and id"
        due = Due(_one(database, f"{ids} % {nth} = 0"), nth, given.spread)
        done = []
        for number in range(given.rounds):
            done.append(_round(database, valkey, pids, due))
            print(f"round {number + 1}: {done[-1].line()}", flush=True)
        for outcome, count in database.execute("select outcome, count(*) from route_monitor_checks group by 1"):
            print(f"outcome {outcome}: {count}")
        if failed := _one(database, "select count(*) from job_runs where status = 'failed'"):
            print(f"failed: {failed}")
        if given.backlog:
            _wait_for_new_watches(database, given.backlog)
    return done


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.bench.engine", description=__doc__)
    parser.add_argument("--monitors", type=int, default=3_000)
    parser.add_argument("--sharing", type=int, default=1, help="how many monitors watch each route and window")
    parser.add_argument("--days", type=int, default=8, help="days of a window")
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--due", type=int, help="how many of the monitors are due in a round; all unless named")
    parser.add_argument("--spread", type=int, default=0, help="seconds over which those of a round fall due")
    parser.add_argument(
        "--backlog", type=int, default=0, help="open runs behind which a watch is made again at the end"
    )
    given = parser.parse_args()
    rounds = measure(given)
    if given.spread:
        return  # the pace was given
    slowest = min(rounds, key=lambda one: one.rate)
    print(f"slowest round {slowest.rate:.0f} checks/s [at least {AT_LEAST:.0f}: ", end="")
    print("reached]" if slowest.rate >= AT_LEAST else "MISSED]")
    raise SystemExit(0 if slowest.rate >= AT_LEAST else 1)


if __name__ == "__main__":
    main()
