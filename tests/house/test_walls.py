"""The walls between the rooms: import contracts, no import circles, and a door plate at each room."""

import ast
import subprocess
import sys
from collections.abc import Iterator

from tests.house.source import ROOMS, ROOT, product_texts, product_trees

LINTER = "import sys; from importlinter.cli import lint_imports; sys.exit(lint_imports(no_cache=True, verbose=False))"


def test_every_import_contract_is_kept() -> None:
    done = subprocess.run(
        [sys.executable, "-c", LINTER], cwd=ROOT, capture_output=True, encoding="utf-8", timeout=120, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_every_room_says_at_its_door_what_it_is_for() -> None:
    doors = [p for room in ROOMS for p in ROOT.glob(f"{room}/**/__init__.py")]
    silent = [
        str(p.relative_to(ROOT)) for p in doors if not ast.get_docstring(ast.parse(p.read_text(encoding="utf-8")))
    ]
    assert len(doors) > 10
    assert silent == []


def _imported_modules(tree: ast.AST, modules: set[str]) -> Iterator[str]:
    """Modules of the product that one names, also inside functions and for types alone."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name in modules)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            for alias in node.names:
                whole = f"{node.module}.{alias.name}"
                if whole in modules or node.module in modules:
                    yield whole if whole in modules else node.module


def _reachable(start: str, graph: dict[str, set[str]]) -> set[str]:
    reached, waiting = {start}, [start]
    while waiting:
        new = graph.get(waiting.pop(), set()) - reached
        reached |= new
        waiting += new
    return reached


def _build_graph() -> dict[str, set[str]]:
    """The modules that each module of the product imports."""
    trees = {
        name.removesuffix(".py").replace("/", ".").removesuffix(".__init__"): tree
        for name, tree in product_trees().items()
    }
    return {name: set(_imported_modules(tree, set(trees))) - {name} for name, tree in trees.items()}


def test_no_modules_import_each_other_in_a_circle() -> None:
    graph = _build_graph()
    reached = {name: _reachable(name, graph) for name in graph}
    circles = {" <-> ".join(sorted(other for other in reached[name] if name in reached[other])) for name in graph}
    assert sorted(circle for circle in circles if " <-> " in circle) == []


def test_a_module_that_one_other_of_its_folder_imports_goes_into_it() -> None:
    """The number may fall, never rise: what is left are programs loaded late, and files that would be too long."""
    graph = _build_graph()
    lines = {name.removesuffix(".py").replace("/", "."): text.count("\n") for name, text in product_texts().items()}
    importers = {name: [other for other in graph if name in graph[other]] for name in graph}
    doors = [
        f"{name} -> {others[0]}"
        for name, others in importers.items()
        if len(others) == 1
        and others[0].rpartition(".")[0] == name.rpartition(".")[0]
        and lines.get(name, 600) + lines.get(others[0], 600) <= 600
    ]
    assert len(doors) <= 24, "\n".join(doors)
