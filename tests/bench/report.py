"""What a run says on the terminal."""

from tests.bench.goals import COSTS, GOALS
from tests.bench.results import Result, compare, median

HEAD = f"{'':28}{'conc.':>6}{'CPU us/req':>12}{'req/s':>10}{'p50 ms':>9}{'p99 ms':>9}  ratio, of what"


def _verdict(reached: bool) -> str:
    return "reached" if reached else "MISSED"


def _print_figures(result: Result) -> None:
    print(HEAD)
    for (name, concurrency), figures in sorted(result.figures.items(), key=lambda item: item[0][1]):
        numbers = [median(figures, of) for of in ("cpu_us", "per_second", "p50_ms", "p99_ms")]
        times = "{:>12.0f}{:>10.0f}{:>9.2f}{:>9.2f}".format(*numbers)
        beside = result.ratio(name, concurrency)
        words = f"  {beside:.2f}, {result.beside[name]}" if beside else ""
        print(f"{name:28}{concurrency:>6}{times}{words}")


def _print_goals(result: Result) -> list[bool]:
    """Each that was measured; true where it was reached."""
    reached = []
    print("\nGoals (processor time of FastMCP's to ours):")
    for goal in GOALS:
        if (measured := goal.measured(result)) is not None:
            reached.append(measured >= goal.bound)
            print(f"  {goal.words}: {measured:.2f}  [at least {goal.bound:g}: {_verdict(reached[-1])}]")
    if not result.machine["fastmcp"]:
        print("  not measured: FastMCP is not installed here (deploy/docs/contribute.md says how)")
    return reached


def _print_costs(result: Result) -> list[bool]:
    reached = []
    for words, cost in result.costs.items():
        most = COSTS.get(words)
        if most is not None:
            reached.append(cost <= most)
        print(f"  {words}: {cost:.1f}" + (f"  [at most {most:g}: {_verdict(reached[-1])}]" if most else ""))
    return reached


def print_result(result: Result) -> bool:
    """The tables; true when every goal that was measured is reached."""
    machine = result.machine
    print(f"Load by {machine['load_tool']}; {machine['cores']} cores, server on one, load on the others; load average")
    print(f"{machine['load_average']} at the start; medians of the rounds. Commit {machine['commit']}.\n")
    _print_figures(result)
    return all([*_print_goals(result), *_print_costs(result)])


def print_changes(now: Result, before: Result) -> bool:
    """Each ratio next to that of the earlier run; true when none is worse by more than a tenth."""
    print(f"\nAgainst {before.taken_at} (commit {before.machine.get('commit')}): before, now, factor (above 1: better)")
    changes = list(compare(now, before))
    for change in changes:
        mark = "  WORSE" if change.is_worse else ""
        print(f"  {change.words:60}{change.before:>9.2f}{change.now:>9.2f}{change.factor:>8.2f}{mark}")
    return not any(change.is_worse for change in changes)
