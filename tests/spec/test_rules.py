"""Rules of the specification against the marks on tests: no rule is without a test, no mark without its rule."""

import ast
import tomllib
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

TESTS = Path(__file__).parent.parent
RULES: list[dict[str, Any]] = tomllib.loads((TESTS / "spec" / "rules.toml").read_text(encoding="utf-8"))["rule"]
BY_ID = {rule["id"]: rule for rule in RULES}


def marked(tree: ast.AST) -> Iterator[str]:
    """The rules named by `mark.spec("...", ...)` anywhere in a test file: decorators, parameters, module marks."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "spec":
            for argument in node.args:
                assert isinstance(argument, ast.Constant), f"line {node.lineno}: a rule is named by a plain string"
                yield str(argument.value)


def marks() -> dict[str, set[str]]:
    found: dict[str, set[str]] = defaultdict(set)
    for path in sorted(TESTS.rglob("test_*.py")):
        for rule in marked(ast.parse(path.read_text(encoding="utf-8"))):
            found[rule].add(str(path.relative_to(TESTS)))
    return found


def test_every_rule_is_entered_once_and_in_full() -> None:
    assert len(BY_ID) == len(RULES) == 348
    for rule in RULES:
        assert rule["text"].endswith(".")
        assert rule["section"]


def test_every_status_carries_what_it_needs() -> None:
    for rule in RULES:
        extra = set(rule) - {"id", "section", "text", "status"}
        assert extra == {"done": set(), "open": {"issue"}, "decided-otherwise": {"why"}}[rule["status"]], rule["id"]
        assert rule.get("issue", 3) in range(3, 7), f"{rule['id']} waits for an issue that is not open"
        assert len(rule.get("why", "x" * 20)) >= 20


def test_every_done_rule_has_a_test() -> None:
    done = {rule["id"] for rule in RULES if rule["status"] == "done"}
    assert done - set(marks()) == set()


def test_every_mark_names_a_done_rule() -> None:
    wrong = {rule: files for rule, files in marks().items() if BY_ID.get(rule, {}).get("status") != "done"}
    assert wrong == {}
