"""The house style, counted: every file of the product goes in; sizes, names, openings and stray addresses come out."""

import ast
import re
import statistics
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
ROOMS = ("mcp_server", "auth_server", "shared", "jobs", "deploy")
TOP = {"pyproject.toml", "README.md", "LICENSE", "tests", *ROOMS}
LEFT_BY_TOOLS = {"build", "uv.lock", "award_travel.egg-info", "node_modules"}
TEXTS = {".py", ".toml", ".md", ".txt", ".yaml", ".yml", ".html", ".css", ".csv", ".json", ".ini", ".example", ""}
FORBIDDEN_NAMES = re.compile(r"(utils?|helpers?|common|core|misc|managers?|base.*)")
ALLOWED_NAMES = {"shared/db/base.py"}
REGISTRY_HOSTS = re.compile(
    r"files\.python" + r"hosted\.org|py" + r"pi\.org/simple|registry\.npm" + r"js\.org|deb\.deb" + r"ian\.org"
)
MACHINE_PATHS = re.compile("/(?:" + "wo" + "rk|fa" + "rm)/|/ro" + "ot/|/tmp/(?:research|studio|bash_jobs)")
UNFINISHED = re.compile(r"\b(TO" + r"DO|FIX" + r"ME|XX" + r"X|not implemented yet)\b")


def _files(*tops: str) -> Iterator[Path]:
    for top in tops or TOP | {".ci", ".gitignore"}:
        found = [ROOT / top] if (ROOT / top).is_file() else (ROOT / top).rglob("*")
        for path in found:
            parts = set(path.relative_to(ROOT).parts)
            if path.is_file() and not parts & {"__pycache__", "node_modules", "versions", ".hypothesis"}:
                yield path


def _name(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def _code() -> dict[str, str]:
    return {_name(p): p.read_text(encoding="utf-8") for p in _files(*ROOMS) if p.suffix == ".py"}


def _tests() -> dict[str, str]:
    return {_name(p): p.read_text(encoding="utf-8") for p in _files("tests") if p.suffix == ".py"}


def _functions(text: str) -> Iterator[tuple[str, int]]:
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield node.name, (node.end_lineno or node.lineno) - node.lineno + 1


def test_the_top_level_holds_the_agreed_entries_only() -> None:
    seen = {path.name for path in ROOT.iterdir() if not path.name.startswith(".")}
    assert seen - LEFT_BY_TOOLS == TOP


def test_no_function_is_longer_than_sixty_lines() -> None:
    long = [f"{name}: {f} has {n} lines" for name, text in _code().items() for f, n in _functions(text) if n > 60]
    assert long == []


def test_the_median_function_is_short() -> None:
    lengths = [length for text in _code().values() for _, length in _functions(text)]
    assert statistics.median(lengths) <= 12


@pytest.mark.parametrize(("files", "limit"), [(_code, 400), (_tests, 600)])
def test_no_file_is_over_its_limit(files: object, limit: int) -> None:
    texts: dict[str, str] = files()  # type: ignore[operator]
    assert [f"{name}: {n} lines" for name, text in texts.items() if (n := text.count("\n")) > limit] == []


def test_no_module_has_a_name_that_says_nothing() -> None:
    named = [name for name in _code() if FORBIDDEN_NAMES.fullmatch(Path(name).stem) and name not in ALLOWED_NAMES]
    assert named == []


def test_every_module_opens_with_one_sentence() -> None:
    """Door plates (package docstrings) may say more."""
    openings = {name: ast.get_docstring(ast.parse(text)) or "" for name, text in _code().items()}
    unlike = [n for n, said in openings.items() if not said.split("\n\n")[0].strip().endswith((".", ":", "`"))]
    assert unlike == []


def test_nothing_in_the_product_is_unfinished() -> None:
    lines = [f"{name}: {line.strip()}" for name, text in _code().items() for line in text.splitlines()]
    assert [line for line in lines if UNFINISHED.search(line)] == []


@pytest.mark.parametrize("stray", [REGISTRY_HOSTS, MACHINE_PATHS], ids=["registry hosts", "machine paths"])
def test_no_file_names_an_address_that_is_no_part_of_the_product(stray: re.Pattern[str]) -> None:
    found = []
    for path in _files():
        if path.suffix in TEXTS and path.name != "wheels.toml":
            text = path.read_text(encoding="utf-8", errors="replace")
            found += [f"{_name(path)}: {line.strip()[:100]}" for line in text.splitlines() if stray.search(line)]
    assert found == []


def _asserts(test: ast.AST) -> bool:
    for node in ast.walk(test):
        if isinstance(node, ast.Assert):
            return True
        if isinstance(node, ast.Call) and re.search(
            r"raises|warns|assert|check|expect|must|fail", ast.unparse(node.func)
        ):
            return True
    return False


def test_every_test_asserts_something() -> None:
    silent = []
    for name, text in _tests().items():
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name.startswith("test_"):
                silent += [] if _asserts(node) else [f"{name}: {node.name}"]
    assert silent == []


@pytest.mark.parametrize("word", [r"^\s*time\.sleep\(", r"pytest\.(mark\.)?(skip|xfail)\b"])
def test_no_test_sleeps_is_skipped_or_expected_to_fail(word: str) -> None:
    assert [n for n, text in _tests().items() if n != _name(Path(__file__)) and re.search(word, text, re.M)] == []
