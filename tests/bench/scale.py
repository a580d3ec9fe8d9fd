"""python -m tests.bench.scale: what a call costs amid a million bookings, against amid a thousand.

Two databases on one private server: 200 accounts with 1,000 bookings, and 200,000 accounts with 1,000,000 of each kind.
--accounts and --rows set the size of the large one; --service-rows adds so many calls, runs, checks, messages and
prices seen (a thousand to the small one), and calls that read them, and says how long statistics take.
The same person keeps the same rows in both. Two programs, one on each database, take turns in calling the same tools;
each round is compared with itself, so that a busy minute of the machine falls on both. About four minutes.
"""

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from deploy.local.private_servers import Postgres, Valkey
from tests.bench.stage import ROOT

LISTS: tuple[str, ...] = (
    "list_flight_bookings",
    "list_hotel_bookings",
    "list_my_cards",
    "list_my_vouchers",
    "list_lounge_visits",
)
LISTS += ("list_trips", "get_portfolio", "list_upcoming_deadlines")
CALLS: dict[str, dict[str, Any]] = {name: {} for name in LISTS}
# What reads rows of the service's own, of which the person has as many in both.
CALLS |= {
    "get_usage": {},
    "list_route_monitors": {},
    "list_flights": {"origin": "LHR", "destination": "JFK"},
    "explore_destinations": {"origin": "LHR", "cabin": "business"},
}
STATISTICS, AT_MOST_MS = "admin_mcp_usage_stats", 300
AT_MOST = 1.3
Sizes = dict[str, tuple[int, int, int]]
SETS = 6  # of belongings the person keeps: 18 legs, 12 stays, 6 cards, ...
# accounts, then copies of the person's rows by table: 18 legs 56,000 times are a million.
SIZES = {"small": (200, 1_000, 1_000), "large": (200_000, 1_000_000, 1_000)}  # the last: rows of the service's own
PER_ACCOUNT = ("cards", "vouchers", "lounge_visits", "trips", "notifications", "search_records")


def _surroundings(folder: Path) -> tuple[Postgres, Valkey]:
    postgres, valkey = Postgres(folder, durable=False).start(), Valkey(folder, durable=False).start()
    os.environ.update(
        REDIS_URL=valkey.url, SECRET_KEYS="x" * 32, SERVICE_CLIENT_SECRET="x" * 32, AWARD_BACKEND="sandbox"
    )
    return postgres, valkey


def fill(accounts: int, bookings: int, service_rows: int) -> None:
    """The database this process is told of: one person, and a crowd around them."""
    from sqlalchemy.orm import Session

    from shared.db.base import engine, transaction
    from shared.db.schema import upgrade
    from shared.settings import settings
    from tests.bench.service_rows import TABLES, write_figures, write_service_rows
    from tests.mcp_server.tools.owned_rows import rows_of_every_kind, store_rows
    from tests.support.bulk_accounts import crowd
    from tests.support.late_indexes import build_indexes_late
    from tests.support.people import account

    upgrade(settings().database_url)
    who = account("bench")
    with transaction(who.account_id) as session:
        for number in range(SETS):
            store_rows(session, rows_of_every_kind(number))
    copies = {"flight_bookings": bookings // (3 * SETS), "hotel_bookings": bookings // (2 * SETS)}
    copies |= dict.fromkeys(PER_ACCOUNT, accounts // SETS)
    large = ("flight_bookings", "hotel_bookings", "usage_counters", *TABLES)
    with Session(engine()) as session, build_indexes_late(engine(), large):
        write_service_rows(session, who.account_id, accounts, service_rows)
        crowd(session, who.account_id, accounts, copies)
    with Session(engine()) as session:
        write_figures(session)


def work(calls: int) -> None:
    """For each line that comes in: the microseconds of a call of each list, one line out."""
    import anyio

    import mcp_server.tools  # noqa: F401 - registers every tool
    from mcp_server.calls.dispatch import dispatch
    from mcp_server.toolkit.context import Caller
    from shared.domain.plans import Plan

    who = Caller(1, "acc_bench", Plan.PREMIUM, True, "bench", "Bench")

    async def one(name: str) -> float:
        times = []
        for _ in range(calls):
            started = time.perf_counter()
            made = await dispatch(name, CALLS.get(name, {}), who, "mcp")
            times.append((time.perf_counter() - started) * 1e6)
            assert made.status == "ok", made.data
        return statistics.median(times)

    async def rounds() -> None:
        for _line in sys.stdin:
            print(*[await one(name) for name in (*CALLS, STATISTICS)], flush=True)

    anyio.run(rounds)


def _itself(database: str, *words: str, **more: Any) -> "subprocess.Popen[str]":
    line = [sys.executable, "-m", "tests.bench.scale", *words]
    told = os.environ | {"DATABASE_URL": database, "TOOL_CALLS_PER_DAY": "1000000000"}
    return subprocess.Popen(line, cwd=ROOT, env=told, text=True, **more)


@contextmanager
def workers(postgres: Postgres, calls: int, sizes: Sizes) -> Iterator[dict[str, "subprocess.Popen[str]"]]:
    """One program on each database, both filled."""
    made = {}
    for name, size in sizes.items():
        postgres.create_database(name)
        started = time.monotonic()
        if _itself(postgres.url(name), "--fill", *map(str, size)).wait(3600):
            raise SystemExit(f"{name} could not be filled")
        words = "{:,} accounts, {:,} bookings of each kind, {:,} calls, runs, checks, messages and prices".format(*size)
        print(f"{name}: {words}, {time.monotonic() - started:.0f} s")
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
        made[name] = _itself(postgres.url(name), "--work", str(calls), **pipes)
    yield made
    for worker in made.values():
        assert worker.stdin
        worker.stdin.close()
        worker.wait(30)


def _turn(worker: "subprocess.Popen[str]") -> list[float]:
    assert worker.stdin
    assert worker.stdout
    worker.stdin.write("go\n")
    worker.stdin.flush()
    return [float(word) for word in worker.stdout.readline().split()]


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.bench.scale", description=__doc__)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--calls", type=int, default=60)
    parser.add_argument("--accounts", type=int, default=SIZES["large"][0])
    parser.add_argument("--rows", type=int, default=SIZES["large"][1])
    parser.add_argument("--service-rows", type=int, default=SIZES["large"][2])
    parser.add_argument("--fill", type=int, nargs=3, help=argparse.SUPPRESS)
    parser.add_argument("--work", type=int, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.fill:
        fill(*given.fill)
    elif given.work:
        work(given.work)
    else:
        sizes = SIZES | {"large": (given.accounts, given.rows, given.service_rows)}
        raise SystemExit(0 if measure(given.rounds, given.calls, sizes) else 1)


def measure(rounds: int, calls: int, sizes: Sizes) -> bool:
    with tempfile.TemporaryDirectory(prefix="award_scale_") as folder:
        Path(folder).chmod(0o755)
        servers = _surroundings(Path(folder))
        try:
            with workers(servers[0], calls, sizes) as made:
                for worker in made.values():
                    _turn(worker)  # warm
                pairs = [(_turn(made["small"]), _turn(made["large"])) for _ in range(rounds)]
        finally:
            for server in servers:
                server.stop()
    return report(pairs)


def report(pairs: list[tuple[list[float], list[float]]]) -> bool:
    """Prints what each list cost; true when none costs more than it may."""
    print(f"\n{'':28}{'small us':>10}{'large us':>10}{'ratio':>8}")
    reached = True
    for number, name in enumerate(CALLS):
        small, large = (statistics.median(pair[side][number] for pair in pairs) for side in (0, 1))
        ratio = statistics.median(pair[1][number] / pair[0][number] for pair in pairs)
        reached &= ratio <= AT_MOST
        verdict = "reached" if ratio <= AT_MOST else "MISSED"
        print(f"{name:28}{small:>10.0f}{large:>10.0f}{ratio:>8.2f}  [at most {AT_MOST}: {verdict}]")
    slowest = statistics.median(large[-1] for _, large in pairs) / 1000
    print(f"{STATISTICS:28}{'':>10}{slowest:>7.0f} ms  [at most {AT_MOST_MS} ms]")
    return reached and slowest <= AT_MOST_MS


if __name__ == "__main__":
    main()
