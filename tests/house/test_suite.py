"""Rules for the tests themselves: each asserts, none sleeps, none depends on the hour or the speed of a machine."""

import ast
import re
from collections.abc import Iterator

import pytest

from tests.house.source import functions, suite_texts, suite_trees

HERE = "tests/house/test_suite.py"
ASSERTING_CALLS = re.compile(r"raises|warns|assert|check|expect|must|fail")
# rooms that measure time, and what tells which cases are slow
MEASURING = (
    "tests/performance/",
    "tests/bench/",
    "tests/chaos/",
    "tests/support/own_time.py",
    "tests/support/test_own_time.py",
)
STOPWATCHES = {"perf_counter", "perf_counter_ns", "process_time", "thread_time"}
WAITING = {"monotonic", "current_time"}  # for limits of waiting; a difference of two is a stopwatch again


def _asserts(test: ast.AST) -> bool:
    return any(
        isinstance(node, ast.Assert)
        or (isinstance(node, ast.Call) and ASSERTING_CALLS.search(ast.unparse(node.func)) is not None)
        for node in ast.walk(test)
    )


def test_every_test_asserts_something() -> None:
    silent = [
        f"{name}: {function.name}"
        for name, tree in suite_trees().items()
        for function in functions(tree)
        if function.name.startswith("test_") and not _asserts(function)
    ]
    assert silent == []


@pytest.mark.parametrize("word", [r"^\s*time\.sleep\(", r"pytest\.(mark\.)?(skip|xfail)\b"])
def test_no_test_sleeps_is_skipped_or_expected_to_fail(word: str) -> None:
    assert [name for name, text in suite_texts().items() if name != HERE and re.search(word, text, re.M)] == []


def _calls_at_import(node: ast.AST) -> Iterator[ast.Call]:
    """Calls made when the module is imported: also those of decorators, default arguments and class bodies."""
    if isinstance(node, ast.If) and ast.unparse(node.test) == "__name__ == '__main__'":
        return
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
        now = [*node.args.defaults, *filter(None, node.args.kw_defaults), *getattr(node, "decorator_list", ())]
    else:
        now = list(ast.iter_child_nodes(node))
        if isinstance(node, ast.Call):
            yield node
    for child in now:
        yield from _calls_at_import(child)


def _names_of_the_clock(tree: ast.Module) -> set[str]:
    """`clock.`, and functions of the module that ask the clock, directly or through each other."""
    askers = {"clock."}
    while True:
        more = {
            function.name
            for function in tree.body
            if isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef)
            and function.name not in askers
            and any(_asks(call, askers) for call in ast.walk(function) if isinstance(call, ast.Call))
        }
        if not more:
            return askers
        askers |= more


def _asks(call: ast.Call, askers: set[str]) -> bool:
    name = ast.unparse(call.func)
    return name in askers or name.startswith("clock.")


def test_no_module_takes_a_day_from_the_clock_at_import() -> None:
    constants = []
    for name, tree in suite_trees().items():
        askers = _names_of_the_clock(tree)
        constants += [f"{name}:{call.lineno}" for call in _calls_at_import(tree) if _asks(call, askers)]
    assert constants == []


def _last_name(node: ast.expr) -> str:
    return ast.unparse(node).rpartition(".")[2]


def _is_stopwatch(node: ast.AST) -> bool:
    if isinstance(node, ast.Attribute | ast.Name):
        return _last_name(node) in STOPWATCHES
    return (
        isinstance(node, ast.BinOp)
        and isinstance(node.op, ast.Sub)
        and isinstance(node.left, ast.Call)
        and _last_name(node.left.func) in WAITING
    )


def test_bounds_of_time_stand_in_the_performance_tests_alone() -> None:
    timed = [
        f"{name}:{node.lineno}"
        for name, tree in suite_trees().items()
        if not name.startswith(MEASURING)
        for node in ast.walk(tree)
        if _is_stopwatch(node)
    ]
    assert timed == []
