"""Overrides: an operator's corrections, applied to the rows before all checks run."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields
from datetime import datetime
from functools import cache
from typing import Any

from shared.reference.keys import sort_key
from shared.reference.rows import FILES, KEYS, NAMES
from shared.reference.rows.fact import Fact
from shared.reference.tables import parse_row


@dataclass(frozen=True)
class Override:
    """One row as an operator wants it, as cells of the file; `removed`: the file's row is no longer valid."""

    id: int
    file: str
    cells: Mapping[str, str]
    removed: bool
    entered_at: datetime
    entered_by: str
    reason: str


def list_columns(file: str) -> list[str]:
    return [f.name for f in fields(FILES[file])]


@cache
def list_key_columns(file: str) -> tuple[str, ...]:
    """The columns that name a row of the file."""
    own = tuple(name for name in list_columns(file) if name not in {f.name for f in fields(Fact)})
    return KEYS.get(file) or NAMES.get(file) or own


def build_key(file: str, cells: Mapping[str, str]) -> str:
    """A row's key as one string."""
    return " ".join(cells.get(name, "") or "-" for name in list_key_columns(file))


def apply_overrides(lines: dict[str, dict[Any, Any]], overrides: Iterable[Override], faults: list[str]) -> None:
    """Applies each override: replaces or removes the row with its key, or adds one in sort order."""
    for override in overrides:
        if override.file not in FILES:
            faults.append(f"{override.file}:override {override.id}: there is no such file")
            continue
        where = f"{override.file}:override of {build_key(override.file, override.cells)}"
        row = parse_row(FILES[override.file], add_optional_cells(override), where, faults)
        if row is None:
            continue
        rows = lines[override.file]
        names = list_key_columns(override.file)
        key = tuple(getattr(row, n) for n in names)
        at = next((line for line, r in rows.items() if tuple(getattr(r, n) for n in names) == key), None)
        if override.removed:
            rows.pop(at, None)
        elif at is not None:
            lines[override.file] = {
                (_describe_override(override) if k == at else k): row if k == at else r for k, r in rows.items()
            }
        else:
            lines[override.file] = _insert(override, rows, row, key)


def add_optional_cells(override: Override) -> dict[str, str]:
    """The cells, with empty ones for columns newer than the correction."""
    return dict.fromkeys(list_columns(override.file), "") | dict(override.cells)


def _describe_override(override: Override) -> str:
    return f"override of {build_key(override.file, override.cells)}"


def _insert(override: Override, rows: Mapping[Any, Any], row: Any, key: tuple[Any, ...]) -> dict[Any, Any]:
    """Inserts the row: in order in a sorted file, else last."""
    items = list(rows.items())
    at = len(items)
    if names := KEYS.get(override.file):
        at = next((i for i, (_, r) in enumerate(items) if sort_key(getattr(r, n) for n in names) > sort_key(key)), at)
    items.insert(at, (_describe_override(override), row))
    return dict(items)
