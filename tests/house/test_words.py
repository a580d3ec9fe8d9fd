"""Names and openings of the product: functions are verbs, locals are things, modules say what they are."""

import ast
import re
from collections import Counter

from tests.house.source import ROOMS, files, functions, product_trees, relative_name, suite_trees

VAGUE = {"found", "told", "made", "said", "asked", "known", "wanted", "seen", "kept", "given", "shown", "held"}
VAGUE |= {"left", "begun", "chosen", "drawn", "spelt", "heard", "tried", "caught", "sent"}
VERBS_IN_ED = frozenset({"feed", "seed", "embed", "need", "proceed", "exceed"})
PARTICIPLE = re.compile(r"_*([a-z]{2,}ed|" + "|".join(sorted(VAGUE)) + ")")
TEMPLATE = re.compile(r"\b(goes|go|comes|come) (in|out)\b", re.IGNORECASE)
PROSE = {".py", ".html", ".md", ".txt"}
DIALECT = re.compile(
    r"\b(?:anew|nobody|somebody|whoever|meanwhile|lately|beside|(?:is|are) away|just now|any more|goes on|gone on"
    r"|worded|had back|at hand|whole of)\b",
    re.IGNORECASE,
)
SEARCHABLE = {"shared/db/base.py: unscoped"}  # lifts the own-rows guard: one word that a reader can search for
PUBLISHED_FIELDS = {
    ("mcp_server/tools/portfolio.py", "held"),
    ("mcp_server/views/award_search.py", "asked"),
    ("mcp_server/tools/trip_plans.py", "asked"),
    ("mcp_server/views/card_recommendations.py", "held"),
    ("shared/reference/own_programs.py", "sent"),
    ("shared/services/search/provenance.py", "asked"),
}


def _is_participle(name: str) -> bool:
    return bool(PARTICIPLE.fullmatch(name)) and name.lstrip("_") not in VERBS_IN_ED


def _opening(tree: ast.Module) -> str:
    return (ast.get_docstring(tree) or "").split("\n\n")[0]


def test_plain_english_is_written() -> None:
    """The number may fall, never rise; the table of deploy/docs/contribute.md says what to write."""
    texts = {file: file.read_text(encoding="utf-8") for file in files(*ROOMS) if file.suffix in PROSE}
    turns = [f"{relative_name(file)}: {turn}" for file, text in texts.items() for turn in DIALECT.findall(text)]
    assert len(turns) <= 120, "\n".join(turns)


def test_functions_are_called_by_verbs_and_not_by_participles() -> None:
    names = [
        f"{module}: {function.name}"
        for module, tree in product_trees().items()
        for function in functions(tree)
        if _is_participle(function.name)
    ]
    assert set(names) == SEARCHABLE


def test_a_class_name_means_one_thing_in_a_program() -> None:
    """The number may fall, never rise. Left: each provider has a `Client`; rows and rules share nouns."""
    names = Counter(
        (module.split("/")[0], node.name)
        for module, tree in product_trees().items()
        for node in ast.walk(tree)
        if isinstance(node, ast.ClassDef)
    )
    twice = sorted(f"{program}: {name}" for (program, name), times in names.items() if times > 1)
    assert len(twice) <= 14, "\n".join(twice)


def test_locals_are_named_for_what_they_hold() -> None:
    names = [
        f"{module}:{node.lineno} {node.id}"
        for module, tree in product_trees().items()
        for node in ast.walk(tree)
        if isinstance(node, ast.Name)
        and isinstance(node.ctx, ast.Store)
        and node.id in VAGUE
        and (module, node.id) not in PUBLISHED_FIELDS
    ]
    assert names == []


def test_module_docstrings_say_what_a_module_is_and_not_what_goes_in_and_comes_out() -> None:
    modules = [name for name, tree in product_trees().items() if TEMPLATE.search(_opening(tree))]
    assert modules == []


def test_docstrings_of_test_modules_do_so_too() -> None:
    modules = [name for name, tree in suite_trees().items() if TEMPLATE.search(_opening(tree))]
    assert modules == []
