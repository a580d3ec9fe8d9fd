"""The files of the checkout as the house tests read them: product and tests, as texts and syntax trees."""

import ast
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path

ROOT = Path(__file__).parents[2]
ROOMS = ("mcp_server", "auth_server", "shared", "jobs", "deploy")
TOP = {"pyproject.toml", "README.md", "LICENSE", "tests", *ROOMS}
NOT_OURS = {"__pycache__", "node_modules", "versions", ".hypothesis"}


def files(*tops: str) -> Iterator[Path]:
    for top in tops or TOP | {".ci", ".gitignore"}:
        paths = [ROOT / top] if (ROOT / top).is_file() else (ROOT / top).rglob("*")
        for path in paths:
            if path.is_file() and not set(path.relative_to(ROOT).parts) & NOT_OURS:
                yield path


def relative_name(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def _texts(*tops: str) -> dict[str, str]:
    return {relative_name(p): p.read_text(encoding="utf-8") for p in files(*tops) if p.suffix == ".py"}


@lru_cache(maxsize=1)
def product_texts() -> dict[str, str]:
    return _texts(*ROOMS)


@lru_cache(maxsize=1)
def suite_texts() -> dict[str, str]:
    return _texts("tests")


@lru_cache(maxsize=1)
def product_trees() -> dict[str, ast.Module]:
    return {name: ast.parse(text) for name, text in product_texts().items()}


@lru_cache(maxsize=1)
def suite_trees() -> dict[str, ast.Module]:
    return {name: ast.parse(text) for name, text in suite_texts().items()}


def functions(tree: ast.AST) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield node


def count_lines(node: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    return (node.end_lineno or node.lineno) - node.lineno + 1
