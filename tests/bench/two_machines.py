"""python -m tests.bench.two_machines: two machines of every program, one PostgreSQL and one Valkey.

Each machine has a tool server, a web host, a pool of workers and a dispatcher, with 1, 2 and 4 processes each. They
share the cores of this machine, so what is compared is the processor time of a call and of a check. It has to stay flat
next to that of a call to the SDK's server as it comes, because more processes than cores make any call dearer. Every
call that writes leaves one row, every due watch is checked once, every mail goes out once; and what one machine
changes, the other knows within two seconds. About six minutes; the addresses are those of this machine alone.
"""

import argparse
import json
import os
import tempfile
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import psycopg
import redis

from tests.bench.goals import BARE
from tests.bench.load import Shot, fire
from tests.bench.machine import describe
from tests.bench.machines import Machine, Stores, build_machines, links, stores
from tests.bench.scenarios import Scenario, scenarios
from tests.bench.stage import PROGRAMS, ROOT, _account_with_token, add_account
from tests.bench.staleness import KNOWN_WITHIN, measure_changes
from tests.support.mail_server import Mailbox, mail_server

FLAT = 1.25  # times the processor time with one process each, and times what the SDK's server takes more
SERVERS, JOBS = ("mcp_server", "auth_server"), ("worker", "dispatcher")
CALLS = (BARE, "list_my_cards", "get_award_release_window", "add_card")
CONNECTIONS, SECONDS = 8, 3.0
# Of load before each measurement, for each process: one that was just forked copies pages and plans its statements.
# With eight processes list_my_cards took 1.15 ms for the first two thousand calls, and 0.83 from then on.
WARM_SECONDS = 2.0
ROUNDS = (
    3  # the least of them counts: on a machine that others used too, a call or check cost up to three times as much
)
MONITORS = 120
_ACCOUNTS = """insert into accounts (public_id, email, email_confirmed_at)
 select 'acc_w' || n, 'w' || n || '@example.test', now() from generate_series(1, %(number)s) n"""
_MONITORS = """insert into route_monitors (account_id, synthetic, origin, destination, earliest_date, latest_date,
   cabin)
 select (select id from accounts where public_id = 'acc_w' || 1 + n %% 60), true, 'LHR',
   (array['JFK', 'LAX', 'BOS', 'HND'])[1 + n %% 4], current_date + 30 + n / 4, current_date + 37 + n / 4, 'business'
 from generate_series(0, %(number)s - 1) n"""
_SCHEDULES = """insert into schedules (kind, subject_id, every, next_due_at)
 select 'route_monitor', id, interval '6 hours', now() + interval '1 day' from route_monitors"""
# Forgetting what was told makes every open seat news again, so that each round mails.
_DUE = (
    "delete from route_monitor_keys",
    "delete from mailed_seats",
    "update schedules set next_due_at = now() where kind = 'route_monitor'",
)
_OPEN = """select (select count(*) from schedules where kind = 'route_monitor' and next_due_at <= now())
 + (select count(*) from job_runs where status in ('pending', 'running'))
 + (select count(*) from deliveries where status in ('pending', 'claimed', 'handing_over'))"""


@dataclass
class Level:
    """What was seen with so many processes of each program on each machine. Times are of the processor, in ms."""

    processes: int
    calls_a_second: dict[str, float] = field(default_factory=dict)
    call_ms: dict[str, float] = field(default_factory=dict)
    stores_ms: dict[str, float] = field(default_factory=dict)
    checks_a_second: float = 0
    check_ms: float = 0
    check_stores_ms: float = 0
    mails: int = 0
    faults: list[str] = field(default_factory=list)

    def line(self) -> str:
        calls = ", ".join(
            f"{name} {ms:.2f} + {self.stores_ms[name]:.2f} ms at {self.calls_a_second[name]:.0f}/s"
            for name, ms in self.call_ms.items()
        )
        checks = f"a check {self.check_ms:.1f} + {self.check_stores_ms:.1f} ms at {self.checks_a_second:.0f}/s"
        return f"{self.processes} processes (programs + stores): {calls}; {checks}, {self.mails} mails; {self.faults}"


@dataclass
class Stage:
    shelf: Stores
    machines: list[Machine]
    box: Mailbox
    database: "psycopg.Connection[Any]"
    scenarios: dict[str, Scenario]

    def one(self, question: str) -> int:
        row = self.database.execute(question).fetchone()
        return int(row[0] or 0) if row else 0

    def expect(self, level: Level, what: str, found: int, wanted: int) -> None:
        if found != wanted:
            level.faults.append(f"{what}: {found} instead of {wanted}")


@contextmanager
def stage() -> Iterator[Stage]:
    with tempfile.TemporaryDirectory(prefix="award_machines_") as home, ExitStack() as stack:
        folder = Path(home)
        folder.chmod(0o755)
        found = stack.enter_context(links())
        shelf = stack.enter_context(stores(folder, found))
        box = stack.enter_context(mail_server(host="0.0.0.0"))
        mail = {"MAIL_BACKEND": "smtp", "SMTP_PORT": str(box.port), "SMTP_SECURITY": "none"}
        secrets = {"SECRET_KEYS": "x" * 32, "SERVICE_CLIENT_SECRET": "x" * 32, "AWARD_BACKEND": "sandbox"}
        quick = {"TOOL_CALLS_PER_MINUTE": "1000000000"}
        quick |= {"TOOL_CALLS_PER_DAY": "1000000000", "DISPATCHER_INTERVAL_SECONDS": "0.2", "GATHER_SECONDS": "0"}
        machines = build_machines(folder, found, shelf, **mail, **secrets, **quick)
        os.environ.update(machines[0].environment | shelf.addresses("127.0.0.1"))
        for machine in machines:
            stack.callback(machine.stop)
        token = _account_with_token()
        url = os.environ["MCP_URL"].removesuffix("/mcp")
        known = scenarios(dict.fromkeys(PROGRAMS, url), token, add_account("writer"))
        database = stack.enter_context(psycopg.connect(shelf.postgres.url(), autocommit=True))
        for statement, number in ((_ACCOUNTS, 60), (_MONITORS, MONITORS)):
            database.execute(statement, {"number": number})
        database.execute(_SCHEDULES)
        yield Stage(shelf, machines, box, database, {one.name: one for one in known})


def _load_both(on: Stage, name: str, shot: Shot, seconds: float) -> tuple[int, float]:
    """Requests answered and how many a second, of a load on each machine at the same time."""
    urls = [one.bare_url if name == BARE else one.tools_url for one in on.machines]
    with ThreadPoolExecutor(2) as threads:
        made = [threads.submit(fire, shot.at(f"{url}/mcp"), CONNECTIONS, seconds, int) for url in urls]
        samples = [one.result() for one in made]
    if wrong := sum(sample.wrong for sample in samples):
        raise SystemExit(f"{wrong} wrong answers: {shot.body[:100]}")
    return sum(sample.requests for sample in samples), sum(sample.per_second for sample in samples)


def measure_calls(on: Stage, level: Level) -> None:
    for name in CALLS:
        _load_both(on, name, on.scenarios[name].ready(CONNECTIONS), WARM_SECONDS * level.processes)
        rounds = [_measure_round(on, level, name) for _ in range(ROUNDS)]
        level.call_ms[name], level.stores_ms[name] = (min(cost) for cost in list(zip(*rounds, strict=True))[:2])
        level.calls_a_second[name] = max(speed for *_, speed in rounds)


def _measure_round(on: Stage, level: Level, name: str) -> tuple[float, float, float]:
    """The milliseconds of the programs' and the stores' processors that a call costs, and calls a second."""
    servers = ("bare",) if name == BARE else SERVERS
    shot, before = on.scenarios[name].ready(CONNECTIONS), _cpu(on, servers)
    requests, speed = _load_both(on, name, shot, SECONDS)
    programs, kept = (1e3 * (after - then) / requests for after, then in zip(_cpu(on, servers), before, strict=True))
    if name == "add_card":
        on.expect(level, "cards stored", on.one("select count(*) from cards where name like 'Bench %'"), requests)
    return programs, kept, speed


def _cpu(on: Stage, names: tuple[str, ...]) -> tuple[float, float]:
    return sum(machine.cpu_seconds(*names) for machine in on.machines), on.shelf.cpu_seconds()


def _check_all(on: Stage) -> float:
    """Makes every watch due and waits until nothing is open; the seconds it took."""
    with redis.Redis.from_url(on.shelf.valkey.url) as queue:
        for name in queue.scan_iter("award:sandbox:reading:*"):
            queue.delete(name)
    last = on.one("select coalesce(max(id), 0) from job_runs")
    for statement in _DUE:
        on.database.execute(statement)
    until = time.monotonic() + 300
    while on.one(_OPEN):
        if time.monotonic() > until:
            raise SystemExit("not all was checked in five minutes")
        threading.Event().wait(0.5)
    took = f"select extract(epoch from max(finished_at) - min(due_at)) * 1000 from job_runs where id > {last}"
    return on.one(took) / 1e3


def measure_checks(on: Stage, level: Level) -> None:
    _check_all(on)  # warm
    counts = "select count(*) from route_monitor_checks", "select count(*) from deliveries where status = 'sent'"
    checks, sent, mails = *map(on.one, counts), len(on.box.ids)
    rounds = [_time_checks(on) for _ in range(ROUNDS)]
    level.check_ms, level.check_stores_ms = (min(cost) for cost in list(zip(*rounds, strict=True))[:2])
    level.checks_a_second = max(speed for *_, speed in rounds)
    level.mails = len(on.box.ids) - mails
    on.expect(level, "checks", on.one(counts[0]) - checks, ROUNDS * MONITORS)
    on.expect(level, "mails", level.mails, on.one(counts[1]) - sent)
    on.expect(level, "different mails", len(set(on.box.ids)), len(on.box.ids))


def _time_checks(on: Stage) -> tuple[float, float, float]:
    """The milliseconds of the programs' and the stores' processors that a check costs, and checks a second."""
    before, seconds = _cpu(on, JOBS), _check_all(on)
    programs, kept = (1e3 * (after - then) / MONITORS for after, then in zip(_cpu(on, JOBS), before, strict=True))
    return programs, kept, MONITORS / seconds


def measure_level(on: Stage, processes: int) -> Level:
    level = Level(processes)
    for machine in on.machines:
        machine.start(processes)
    for machine in on.machines:
        machine.await_ready()
    measure_calls(on, level)
    measure_checks(on, level)
    print(level.line(), flush=True)
    return level


def judge(levels: list[Level], changes: dict[str, float]) -> list[str]:
    """What is wrong, one line each."""
    first, faults = levels[0], [f"{level.processes} processes: {fault}" for level in levels for fault in level.faults]
    for level in levels[1:]:
        costs = {name: (first.call_ms[name], cost) for name, cost in level.call_ms.items()}
        plain, crowded = costs.pop(BARE)
        allowed = FLAT * max(1, crowded / plain)
        costs["a check"] = first.check_ms, level.check_ms
        faults += [
            f"{level.processes} processes: {name} costs {now / then:.2f} times as much as with {first.processes}"
            for name, (then, now) in costs.items()
            if now > allowed * then
        ]
    return faults + [f"{what} is known after {took:.1f} s" for what, took in changes.items() if took > KNOWN_WITHIN]


def run(processes: list[int]) -> tuple[list[Level], dict[str, float]]:
    levels = []
    with stage() as on:
        for number in processes:
            levels.append(measure_level(on, number))
            if number != processes[-1]:
                for machine in on.machines:
                    machine.stop()
        changes = measure_changes(on.machines, on.scenarios["list_my_cards"].shot)
    for what, took in changes.items():
        print(f"{what}: the other machine's last answer without it came after {took:.2f} s")
    return levels, changes


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.bench.two_machines", description=__doc__)
    parser.add_argument("--processes", type=int, nargs="+", default=[1, 2, 4], help="of each program on each machine")
    given = parser.parse_args()
    machine, taken_at = describe(), datetime.now(UTC).isoformat(timespec="seconds")
    levels, changes = run(given.processes)
    told = {"taken_at": taken_at, "machine": machine, "levels": [asdict(one) for one in levels], "changes": changes}
    path = ROOT / "build" / "bench" / f"machines-{taken_at[:19].replace(':', '')}.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(told, indent=1) + "\n", encoding="utf-8")
    faults = judge(levels, changes)
    print(*(f"MISSED {fault}" for fault in faults), f"Kept in {path}", sep="\n")
    raise SystemExit(1 if faults else 0)


if __name__ == "__main__":
    main()
