"""A case that takes over one second of its own says so by the mark `slow`; the last lines tell what all of those took.

What counts is the processor time of the call, of this process and of programs that ended in the meantime: time by the
clock says as much about whatever else the machine does. A busy machine doubles processor time too, so here a case over
its second is only named and noted; `tests/performance/test_own_time.py` runs what was noted again, alone and with
`--judge-own-time`, and fails for what stays slow.
"""

import re
import resource
import time
from collections.abc import Generator
from typing import Any

import pytest

ALLOWED_SECONDS = 1.0
FAILING_SECONDS = 2 * ALLOWED_SECONDS
NOTED = "own_time/over"  # in pytest's cache: the cases that the last run found over their second
YARDSTICK_SECONDS = 0.025  # what `measure_yardstick` takes on the machine the second was set for
READS_SOURCES = re.compile("/tests/(?:house|spec)/")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--judge-own-time", action="store_true", help="fail cases that want the mark slow")


def read_processor_time() -> float:
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.process_time() + children.ru_utime + children.ru_stime


def measure_yardstick() -> float:
    began, texts = time.thread_time(), {}
    for number in range(400_000):
        texts[number % 1000] = str(number)
    return time.thread_time() - began


def judge(seconds: float, *, slow: bool, yardstick: float = YARDSTICK_SECONDS) -> str | None:
    """Returns why the case fails, or None. A machine whose yardstick takes longer allows as much more."""
    if slow or seconds <= FAILING_SECONDS * max(1.0, yardstick / YARDSTICK_SECONDS):
        return None
    return f"it took {seconds:.1f} s of processor: make it quicker, or mark it slow and say why next to the mark"


@pytest.hookimpl(trylast=True)  # after the rooms that mark what they hold
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """What runs programs as processes waits for their start, and what judges the sources reads all of them."""
    for item in items:
        starts = item.get_closest_marker("e2e") or item.get_closest_marker("node")
        measures = item.get_closest_marker("performance") or item.get_closest_marker("fuzz")
        if starts or measures or READS_SOURCES.search(item.path.as_posix()):
            item.add_marker(pytest.mark.slow)


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None, Any, Any]:
    began = read_processor_time()
    try:
        return (yield)
    finally:
        item.stash[SECONDS] = read_processor_time() - began


SECONDS = pytest.StashKey[float]()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: Any) -> Generator[None, Any, Any]:
    report = yield
    if call.when == "call":
        report.own_seconds = item.stash.get(SECONDS, 0.0)
        if report.passed and item.config.getoption("judge_own_time"):
            slow = item.get_closest_marker("slow") is not None
            if fault := judge(report.own_seconds, slow=slow, yardstick=measure_yardstick()):
                report.outcome, report.longrepr = "failed", fault
    return report


def pytest_terminal_summary(terminalreporter: Any, config: pytest.Config) -> None:
    calls = [report for found in terminalreporter.stats.values() for report in found if hasattr(report, "own_seconds")]
    slow = [report for report in calls if "slow" in report.keywords]
    unmarked = [report for report in calls if "slow" not in report.keywords]
    over = sorted((r.own_seconds, r.nodeid) for r in unmarked if r.own_seconds > ALLOWED_SECONDS)
    if calls and hasattr(config, "cache"):
        config.cache.set(NOTED, [name for _, name in over])
    if slow:
        clock, processor = sum(r.duration for r in slow), sum(r.own_seconds for r in slow)
        terminalreporter.write_line(
            f"{len(slow)} slow cases: {clock:.0f} s by the clock, {processor:.0f} s of processor"
        )
    if over:
        names = ", ".join(f"{name} ({seconds:.1f} s)" for seconds, name in reversed(over))
        terminalreporter.write_line(f"{len(over)} cases without the mark took over a second of processor: {names}")
