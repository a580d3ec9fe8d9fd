"""Keys of the files of facts: the key of a row, the sort order, and rows that must not overlap in time."""

from collections.abc import Iterable, Iterator, Mapping
from datetime import date
from itertools import pairwise
from operator import attrgetter
from typing import Any

from shared.reference.rows import DATED, KEYS

Tables = Mapping[str, Mapping[int, Any]]  # rows by line, by file


def list_rows(tables: Tables, name: str) -> Iterator[tuple[str, Any]]:
    """Each row of a file with its file and line."""
    for number, row in tables[name].items():
        yield f"{name}:{number}", row


def sort_key(values: Iterable[Any]) -> tuple[tuple[bool, Any], ...]:
    """A sort key for rows: an empty cell comes first."""
    return tuple((value is not None, value) for value in values)


def check_keys(tables: Tables) -> Iterator[str]:
    for name, fields in KEYS.items():
        read_key = attrgetter(*fields)
        before: Any = None
        for number, row in tables[name].items():
            key = read_key(row)
            if before is not None and not _is_sorted(before, key):
                values = key if len(fields) > 1 else (key,)
                same = f"{' '.join(map(str, values))} stands twice"
                order = f"rows are sorted by {', '.join(fields)}, and this one is out of order"
                yield f"{name}:{number}: {same if key == before else order}"
            before = key


def _is_sorted(before: Any, key: Any) -> bool:
    """Whether two keys are in order. Plain comparison is enough unless an empty cell decides."""
    try:
        return bool(before < key)
    except TypeError:
        first, second = ((k if isinstance(k, tuple) else (k,)) for k in (before, key))
        return sort_key(first) < sort_key(second)


def check_windows(tables: Tables) -> Iterator[str]:
    """Checks that dated facts begin before they end, and that one thing has at most one row for any day."""
    for name in DATED:
        windows: dict[tuple[Any, ...], list[tuple[str, Any]]] = {}
        for where, row in list_rows(tables, name):
            if row.known_from and row.valid_to and row.known_from > row.valid_to:
                yield f"{where}: it ends before it starts"
            windows.setdefault(tuple(getattr(row, f) for f in DATED[name]), []).append((where, row))
        for rows in windows.values():
            yield from _find_overlaps(rows)


def _find_overlaps(rows: list[tuple[str, Any]]) -> Iterator[str]:
    ordered = sorted(rows, key=lambda pair: pair[1].known_from or date.min)
    for (earlier, before), (where, row) in pairwise(ordered):
        if (row.known_from or date.min) <= (before.valid_to or date.max):
            yield f"{where}: it overlaps in time with {earlier}; end one before the other begins"
