"""What docstrings promise: an exception that one names is one that the function can raise."""

import ast
import builtins
import re
from functools import cache

from tests.house.source import product_trees

PROMISE = re.compile(r"\braises?\b([^.;:()]*)", re.IGNORECASE)
NAME = re.compile(r"\b[A-Z][A-Za-z]*[a-z]\b")
Scope = ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef


@cache
def _read_names(module: str) -> tuple[set[str], set[str]]:
    """What a module defines or imports by name, and the modules of the product that it imports."""
    names: set[str] = set()
    paths: set[str] = set()
    for node in ast.walk(product_trees()[module]):
        if isinstance(node, ast.ClassDef):
            names.add(node.name)
        elif isinstance(node, ast.ImportFrom) and node.module:
            names |= {alias.asname or alias.name for alias in node.names}
            paths |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
        elif isinstance(node, ast.Import):
            paths |= {alias.name for alias in node.names}
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            names.add(node.id)
    files = {f"{path.replace('.', '/')}{end}" for path in paths for end in (".py", "/__init__.py")}
    return names, files & product_trees().keys()


@cache
def _list_names(module: str, hops: int = 2) -> set[str]:
    """With those of the modules it imports and of theirs: an exception may come from there and pass through."""
    names, near = _read_names(module)
    return names.union(*(_list_names(other, hops - 1) for other in near)) if hops else names


def test_an_exception_that_a_docstring_names_exists_where_the_function_can_get_at_it() -> None:
    of_libraries = {name for module in product_trees() for name in _read_names(module)[0] if name.endswith("Error")}
    wrong = [
        f"{module}: {name} ({getattr(node, 'name', 'the module')})"
        for module, tree in product_trees().items()
        for node in ast.walk(tree)
        if isinstance(node, Scope)
        for promise in PROMISE.findall(ast.get_docstring(node) or "")
        for name in NAME.findall(promise)
        if not (hasattr(builtins, name) or name in of_libraries or name in _list_names(module))
    ]
    assert wrong == []
