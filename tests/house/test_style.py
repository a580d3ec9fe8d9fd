"""The house style, counted: sizes of functions and files, names of modules, openings and stray addresses."""

import ast
import re
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.house.source import (
    ROOT,
    TOP,
    count_lines,
    files,
    functions,
    product_texts,
    product_trees,
    relative_name,
    suite_texts,
)

LEFT_BY_TOOLS = {"build", "uv.lock", "award_travel.egg-info", "node_modules"}
TEXTS = {".py", ".toml", ".md", ".txt", ".yaml", ".yml", ".html", ".css", ".csv", ".json", ".ini", ".example", ""}
FORBIDDEN_NAMES = re.compile(r"(utils?|helpers?|common|core|misc|managers?|base.*)")
ALLOWED_NAMES = {"shared/db/base.py"}
REGISTRY_HOSTS = re.compile(
    r"files\.python" + r"hosted\.org|py" + r"pi\.org/simple|registry\.npm" + r"js\.org|deb\.deb" + r"ian\.org"
)
MACHINE_PATHS = re.compile("/(?:" + "wo" + "rk|fa" + "rm)/|/ro" + "ot/|/tmp/(?:research|studio|bash_jobs)")
UNFINISHED = re.compile(r"\b(TO" + r"DO|FIX" + r"ME|XX" + r"X|not implemented yet)\b")
MAX_FUNCTION_LINES = 60
MAX_FILE_LINES = 600


def test_the_top_level_holds_the_agreed_entries_only() -> None:
    entries = {path.name for path in ROOT.iterdir() if not path.name.startswith(".")}
    assert entries - LEFT_BY_TOOLS == TOP


def test_no_function_is_longer_than_sixty_lines() -> None:
    lengths = [
        (f"{name}: {function.name}", count_lines(function))
        for name, tree in product_trees().items()
        for function in functions(tree)
    ]
    assert [f"{name} has {length} lines" for name, length in lengths if length > MAX_FUNCTION_LINES] == []


@pytest.mark.parametrize("texts", [product_texts, suite_texts], ids=["product", "tests"])
def test_no_file_is_longer_than_six_hundred_lines(texts: Callable[[], dict[str, str]]) -> None:
    lengths = {name: text.count("\n") for name, text in texts().items()}
    assert [f"{name}: {n} lines" for name, n in lengths.items() if n > MAX_FILE_LINES] == []


def _list_names_used(tree: ast.AST) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
            yield node.id
        elif isinstance(node, ast.Attribute):
            yield node.attr


def test_a_small_function_with_one_caller_stands_in_it() -> None:
    """The number may fall, never rise. Left are those passed as a value, and those whose line would be too long."""
    used = Counter(name for tree in product_trees().values() for name in _list_names_used(tree))
    small = [
        f"{module}: {node.name}"
        for module, tree in product_trees().items()
        for node in tree.body
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        and node.name.startswith("_")
        and not node.decorator_list
        and count_lines(node) <= 4
        and used[node.name] == 1
    ]
    assert len(small) <= 229, "\n".join(small)


def test_a_small_module_has_a_reason() -> None:
    """The number may fall, never rise. Left are entries, adapters, single tables, and words that many rooms share."""
    small = [name for name, text in product_texts().items() if text.count("\n") < 40 and Path(name).stem[:2] != "__"]
    assert len(small) <= 100, "\n".join(small)


def test_no_module_has_a_name_that_says_nothing() -> None:
    names = [
        name for name in product_texts() if FORBIDDEN_NAMES.fullmatch(Path(name).stem) and name not in ALLOWED_NAMES
    ]
    assert names == []


def test_every_module_opens_with_one_sentence() -> None:
    """Door plates (package docstrings) may say more."""
    openings = {name: ast.get_docstring(tree) or "" for name, tree in product_trees().items()}
    unlike = [n for n, opening in openings.items() if not opening.split("\n\n")[0].strip().endswith((".", ":", "`"))]
    assert unlike == []


def test_nothing_in_the_product_is_unfinished() -> None:
    lines = [f"{name}: {line.strip()}" for name, text in product_texts().items() for line in text.splitlines()]
    assert [line for line in lines if UNFINISHED.search(line)] == []


@pytest.mark.parametrize("stray", [REGISTRY_HOSTS, MACHINE_PATHS], ids=["registry hosts", "machine paths"])
def test_no_file_names_an_address_that_is_no_part_of_the_product(stray: re.Pattern[str]) -> None:
    lines = []
    for path in files():
        if path.suffix in TEXTS and path.name != "wheels.toml":
            text = path.read_text(encoding="utf-8", errors="replace")
            lines += [
                f"{relative_name(path)}: {line.strip()[:100]}" for line in text.splitlines() if stray.search(line)
            ]
    assert lines == []
