"""python -m tests.bench.planner: calls of a source a day for 10,000 watches, asked one by one and planned together.

Virtual time, one process, a private Valkey: the client, the planner, the cache and the counting are the product's own;
the source is made up and pages as the real one. After six hours in which watches find together, six are counted; where
calls are short, the whole day that follows.
"""

import argparse
import os
import secrets
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path

import anyio

from deploy.local.private_servers import Valkey
from tests.bench.watch_world import EVERY, START, World, count_apart, describe, draw_watches, standing_in

DAY = timedelta(days=1)


@contextmanager
def _surroundings() -> Iterator[None]:
    with tempfile.TemporaryDirectory(prefix="award_bench_") as folder:
        home = Path(folder)
        home.chmod(0o755)
        valkey = Valkey(home, durable=False).start()
        os.environ.update(
            DATABASE_URL="postgresql://nobody@127.0.0.1:1/none",
            REDIS_URL=valkey.url,
            SECRET_KEYS=secrets.token_hex(16),
            SERVICE_CLIENT_SECRET=secrets.token_hex(16),
            AWARD_BACKEND="live",
            SEATS_AERO_API_KEY="bench",
        )
        try:
            yield
        finally:
            valkey.stop()


def run_world(watches: int, calls_a_day: int, length: timedelta) -> World:
    """A round to find together, and then the time that is counted."""
    from shared.redis import connect

    connect().flushall()
    world = World(draw_watches(watches), calls_a_day=calls_a_day)

    async def go() -> None:
        await world.run_until(START + EVERY)
        world.source.searches.clear()
        world.put_off = 0
        await world.run_until(START + EVERY + length)

    with standing_in(world):
        anyio.run(go)
    return world


def measure_together(watches: int) -> None:
    started = time.perf_counter()
    before = count_apart(World(draw_watches(watches)), START)
    print(f"one by one: {before.calls} calls a day ({before.questions} questions)", flush=True)
    world = run_world(watches, 10**9, EVERY)
    calls = 4 * world.source.calls
    print(f"together:   {calls} calls a day, {calls / before.calls:.3f} of them; {describe(world, START + EVERY)}")
    print(f"            {time.perf_counter() - started:.0f} s", flush=True)


def measure_shortage(watches: int, calls_a_day: int) -> None:
    started = time.perf_counter()
    short = run_world(watches, calls_a_day, DAY)
    print(f"with {calls_a_day} a day: {short.source.calls} calls; {describe(short, START + EVERY)}")
    print(f"            {time.perf_counter() - started:.0f} s")


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.bench.planner", description=__doc__)
    parser.add_argument("--watches", type=int, default=10_000)
    parser.add_argument("--calls", type=int, default=1_000, help="of a day, in the case in which they are short")
    parser.add_argument("--case", choices=("together", "short"), help="one of the two alone")
    given = parser.parse_args()
    with _surroundings():
        if given.case != "short":
            measure_together(given.watches)
        if given.case != "together":
            measure_shortage(given.watches, given.calls)


if __name__ == "__main__":
    main()
