"""python -m tests.bench: starts every program, loads them in turn, prints the figures as ratios and whether they reach.

The goals compare our tools with the same work on FastMCP (`peer.py`); the bare SDK tool and the echo are limits to look
at. Rounds are interleaved, every second one backwards, so that a busy minute of the machine falls on all; each figure
is the median of its rounds, each ratio that of a round with itself, by processor time a request, because it moves least
with the neighbours. Loopback only; about seven minutes. The result is kept in a file, and --against compares it with an
earlier one.
"""

import argparse
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import httpx

from tests.bench.goals import GOALS
from tests.bench.load import Shot, fire
from tests.bench.machine import describe
from tests.bench.process_costs import measure_costs, wanted_costs
from tests.bench.report import print_changes, print_result
from tests.bench.results import Figure, Figures, Result, load
from tests.bench.scenarios import Scenario, concurrencies, scenarios, select
from tests.bench.stage import ROOT, Program, add_account, pin_load, present, programs

FOLDER = ROOT / "build" / "bench"
UNEQUAL = {"message", "data_mode", "notice", "report_url", "card_id", "created_at", "updated_at"}


def say(words: str) -> None:
    """One line that is written over, for people who watch."""
    if sys.stderr.isatty():
        print(f"\r{words:<70}\r", end="", file=sys.stderr, flush=True)


def measure(program: Program, scenario: Scenario, concurrency: int, seconds: float) -> Figure:
    shot = scenario.ready(concurrency)
    if "Authorization" in shot.headers and not shot.seeds:
        _send_once(shot)  # the bearer is looked up now: once in half a minute, not in each second that is measured
    before = program.cpu_seconds()
    sample = fire(shot, concurrency, seconds, pin_load)
    used = program.cpu_seconds() - before
    if not sample.requests and seconds < 30:  # a slow program on a busy machine: it gets longer to answer once
        return measure(program, scenario, concurrency, seconds * 4)
    if sample.wrong or not sample.requests:
        raise SystemExit(f"{scenario.name}: {sample.wrong} wrong answers: {shot.body[:100]}")
    return Figure(used / sample.requests * 1e6, sample.per_second, sample.p50_ms, sample.p99_ms, sample.requests)


def choose(parts: list[str]) -> tuple[set[str], set[str]]:
    """The scenarios asked for, by name, and the programs they need."""
    chosen = select(scenarios(dict.fromkeys(present(), ""), "", ""), parts)
    needed = {one.program for one in chosen}
    return {one.name for one in chosen}, needed | ({"auth"} if "ours" in needed or wanted_costs(parts) else set())


def _check_answers(known: dict[str, Scenario]) -> None:
    """Ours and FastMCP's hold the same fields, and the same values where the call itself does not make them anew."""
    for name, theirs in ((goal.ours, known.get(goal.theirs)) for goal in GOALS if goal.ours in known):
        if theirs is None or name == "tools/list":
            continue
        ours, other = (_read_answer(one) for one in (known[name], theirs))
        if ours != other:
            raise SystemExit(f"{name} answers otherwise on FastMCP:\n{ours}\n{other}")


def _read_answer(scenario: Scenario) -> Any:
    shot = scenario.ready(1)
    _send_once(shot)  # the second write of a row finds what the first left, whoever wrote before
    return _leave_out(_send_once(shot).json()["result"]["structuredContent"])


def _send_once(shot: Shot) -> httpx.Response:
    body = shot.body.replace("NUMBER", "77")
    return httpx.post(shot.url, headers=shot.headers, content=body, trust_env=False, timeout=60)


def _leave_out(value: Any) -> Any:
    """Without words, labels of the sandbox, and what is new in each row that is written."""
    if isinstance(value, list):
        return [_leave_out(part) for part in value]
    if isinstance(value, dict):
        return {name: _leave_out(part) for name, part in value.items() if name not in UNEQUAL}
    return value


def measure_rounds(running: dict[str, Program], todo: list[tuple[Scenario, int]], given: argparse.Namespace) -> Figures:
    figures: Figures = {(one.name, concurrency): [] for one, concurrency in todo}
    for one in {one.name: one for one, _ in todo}.values():
        measure(running[one.program], one, 4, 1)  # warm, and every answer tried once before anything counts
    _check_answers({one.name: one for one, _ in todo})
    for number in range(given.rounds):
        for one, concurrency in todo if number % 2 == 0 else reversed(todo):
            say(f"round {number + 1}, concurrency {concurrency}, {one.name}")
            figures[one.name, concurrency].append(measure(running[one.program], one, concurrency, given.seconds))
    say("")
    return figures


def run(given: argparse.Namespace) -> Result:
    machine, taken_at = describe(), datetime.now(UTC).isoformat(timespec="seconds")
    parts = given.only.split(",") if given.only else []
    names, needed = choose(parts)
    with programs(needed) as (running, token):
        urls = dict.fromkeys(present(), "") | {name: program.url for name, program in running.items()}
        every = scenarios(urls, token, add_account("writer"))
        chosen = [one for one in every if one.name in names]
        todo = [(one, at) for one in chosen for at in given.at or concurrencies(one.name)]
        figures = measure_rounds(running, todo, given)
        costs = measure_costs(parts, every)
    return Result(taken_at, machine, figures, {one.name: one.beside for one in chosen}, costs)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.bench", description=__doc__)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=1, help="of each measurement")
    parser.add_argument("--only", default="", help="parts of names of scenarios, start or memory")
    parser.add_argument("--at", type=int, nargs="+", help="how many ask at once; otherwise as the goals say")
    parser.add_argument("--save", type=Path, help="the file of the result; otherwise one by date in build/bench")
    parser.add_argument("--against", type=Path, help="the file of an earlier result")
    given = parser.parse_args()
    before = load(given.against) if given.against else None
    result = run(given)
    path = given.save or FOLDER / f"{result.taken_at[:19].replace(':', '')}.json"
    result.save(path)
    reached = print_result(result)
    print(f"\nKept in {path}")
    kept = print_changes(result, before) if before else True
    raise SystemExit(0 if reached and kept else 1)


if __name__ == "__main__":
    main()
