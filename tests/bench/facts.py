"""python -m tests.bench.facts: times the reviewed facts in this process and prints each beside a dictionary read.

Processor time, the best of several runs, so that the neighbours of the machine count little.
"""

import time
from collections.abc import Callable
from itertools import product

from shared import clock
from shared.domain.transfers import find_paths
from shared.reference.load import Reference, load

HOPS, NEEDED = 3, 50_000
RUNS = 5
# What must be reached, in microseconds.
PATHS_US, PRICE_US, LOAD_US = 2_000, 200, 400_000


def best(work: Callable[[], object], times: int, runs: int = RUNS) -> float:
    """Microseconds of processor time for one call: the best run of several."""
    found = []
    for _ in range(runs):
        started = time.process_time()
        for _ in range(times):
            work()
        found.append((time.process_time() - started) / times * 1e6)
    return min(found)


def dictionary_us() -> float:
    table = {str(number): number for number in range(1_000)}
    return best(lambda: table["500"], 1_000_000)


def paths_us(known: Reference) -> tuple[float, float, str]:
    """The mean over all pairs of programmes, the dearest pair, and which that is."""
    routes = known.routes(clock.today())
    goals = {edge.target for edges in routes.values() for edge in edges}
    each = {
        (start, goal): best(lambda start=start, goal=goal: find_paths(routes, start, goal, NEEDED, HOPS), 3, 2)
        for start, goal in product(routes, goals)
        if start != goal
    }
    dearest = max(each, key=lambda pair: each[pair])
    again = best(lambda: find_paths(routes, *dearest, NEEDED, HOPS), 20)
    return sum(each.values()) / len(each), again, " to ".join(dearest)


def price_us(known: Reference) -> tuple[float, float]:
    """A price that was asked before, and one that was not: every programme, some routes, through the charts."""
    asked = [(p, "LHR", "JFK") for p in known.programs] + [(p, "LAX", "HND") for p in known.programs]
    plain = known.route_price.__wrapped__

    def fresh() -> None:
        for program, origin, destination in asked:
            plain(program, "JL", origin, destination, clock.today())

    fresh()  # distances and zones are remembered for good
    known.route_price("cathay-asia-miles", "CX", "HKG", "LHR")
    again = best(lambda: known.route_price("cathay-asia-miles", "CX", "HKG", "LHR"), 20_000)
    return again, best(fresh, 10) / len(asked)


def main() -> None:
    started = time.process_time()
    known = load().reference
    first = (time.process_time() - started) * 1e6  # with the airports of the world, as a new process has it
    unit = dictionary_us()
    mean, worst, pair = paths_us(known)
    again, fresh = price_us(known)
    figures = [
        ("plain dictionary read", unit, None),
        ("reference set loaded, first time in a process", first, LOAD_US),
        (f"find_paths, {HOPS} hops, mean of all pairs", mean, PATHS_US),
        (f"find_paths, {HOPS} hops, dearest pair ({pair})", worst, PATHS_US),
        ("award price, asked before", again, PRICE_US),
        ("award price, through the charts", fresh, PRICE_US),
    ]
    print(f"{'':75}{'CPU us':>12}{'dict reads':>14}")
    missed = False
    for words, took, most in figures:
        reached = most is None or took <= most
        missed = missed or not reached
        verdict = "" if most is None else f"  [at most {most}: {'reached' if reached else 'MISSED'}]"
        print(f"{words:75}{took:>12.2f}{took / unit:>14.0f}{verdict}")
    raise SystemExit(missed)


if __name__ == "__main__":
    main()
