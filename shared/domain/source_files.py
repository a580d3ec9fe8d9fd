"""Public files of facts (JSON, CSV) read as entries of keys and values, by a mapping, with bounds."""

import csv
import io
import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal, InvalidOperation
from typing import Any, NamedTuple
from urllib.parse import urlsplit

MAX_ROWS = 20_000
MAX_CELL_CHARACTERS = 300
FORMATS = ("json", "csv")
_MAX_DEPTH = 12  # steps of a path
_JS_DAY = re.compile(r"[A-Z][a-z]{2} ([A-Z][a-z]{2}) (\d{1,2}) (\d{4})\b")  # how JavaScript prints a date
_NUMBER = re.compile(r"-?\$?(\d[\d,]*(?:\.\d+)?)")
FindName = Callable[[str, str], str | None]  # kind and text: our word for it, "" to leave the row out, None unknown


class SourceUnreadable(Exception):
    """The file is not what the mapping expects; the text says how."""


class CellMap(NamedTuple):
    """One column of ours (or the quotient of two) and where a row of the source has its value."""

    column: str
    reader: str
    path: str


@dataclass(frozen=True)
class SourceMap:
    """How rows of a source become entries. `rows` is a path with a star for each list or object that is walked."""

    format: str
    rows: str
    keys: tuple[CellMap, ...]
    values: tuple[CellMap, ...]


class SourceRow(NamedTuple):
    """One row of a source: the key, and each value that could be read, as text."""

    key: tuple[str, ...]
    values: dict[str, str]


@dataclass(frozen=True)
class SourceContent:
    """The content of a file. `unknown_names`: its words that mean nothing to us, whose rows are left out."""

    entries: list[SourceRow]
    unknown_names: tuple[str, ...]


@dataclass(frozen=True)
class _SourceNode:
    """One row with the objects around it, the innermost last, and the names that stars matched."""

    nodes: tuple[Any, ...]
    names: tuple[str, ...]


class _UnknownName(Exception):
    """A name that has no meaning here."""


class _Ignored(Exception):
    """A row that the mapping leaves out on purpose."""


def parse_cell_map(text: str) -> CellMap:
    """`column=reader:path`. Raises ValueError."""
    match = re.fullmatch(r"([a-z_]+(?:/[a-z_]+)?)=([a-z]+):(\S.*)", text)
    if match is None:
        raise ValueError("is not of the form column=reader:path")
    cell = CellMap(*match.groups())
    if cell.reader not in READERS:
        raise ValueError(f"names no reader of {', '.join(sorted(READERS))}")
    return cell


def read_source(body: bytes, source: SourceMap, find_name: FindName) -> SourceContent:
    """Every row the mapping finds. Raises SourceUnreadable, in which case nothing of the file is used."""
    text = _decode(body)
    rows = _list_csv_rows(text) if source.format == "csv" else _list_json_rows(text, source.rows)
    if not rows:
        raise SourceUnreadable(f"holds no rows at {source.rows or 'its top'}")
    _check_layout(rows, source)
    entries: list[SourceRow] = []
    unknown: dict[str, None] = {}
    for row in rows:
        try:
            entry = _read_entry(row, source, find_name)
        except _UnknownName as name:
            unknown[str(name)[:MAX_CELL_CHARACTERS]] = None
        except _Ignored:
            continue
        else:
            entries += [entry] if entry else []
    if not any(entry.values for entry in entries):
        raise SourceUnreadable(f"none of its {len(rows)} rows can be read by the mapping")
    return SourceContent(entries, tuple(unknown))


def _decode(body: bytes) -> str:
    try:
        text = body.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise SourceUnreadable("is not UTF-8 text") from None
    if text.lstrip()[:1] == "<":
        raise SourceUnreadable("is a web page and not data")
    return text


def _refuse_constant(_name: str) -> None:
    raise ValueError("NaN and Infinity are not JSON")


def _list_json_rows(text: str, path: str) -> list[_SourceNode]:
    try:
        root = json.loads(text, parse_float=Decimal, parse_constant=_refuse_constant)
    except (ValueError, RecursionError):
        raise SourceUnreadable("is not whole JSON") from None
    rows = []
    for row in _walk(_SourceNode((root,), ()), path.split(".") if path else []):
        rows.append(row)
        if len(rows) > MAX_ROWS:
            raise SourceUnreadable(f"holds more than {MAX_ROWS:,} rows")
    return rows


def _walk(row: _SourceNode, steps: Sequence[str]) -> Iterator[_SourceNode]:
    if not steps:
        yield row
        return
    node = row.nodes[-1]
    if steps[0] != "*":
        if isinstance(node, dict) and steps[0] in node:
            yield from _walk(_SourceNode((*row.nodes, node[steps[0]]), row.names), steps[1:])
        return
    items = node.items() if isinstance(node, dict) else enumerate(node) if isinstance(node, list) else ()
    for name, inner in items:
        yield from _walk(_SourceNode((*row.nodes, inner), (*row.names, str(name))), steps[1:])


def _list_csv_rows(text: str) -> list[_SourceNode]:
    table = csv.reader(io.StringIO(text, newline=""), strict=True)
    rows = []
    try:
        header = next(table, [])
        for cells in table:
            if len(cells) != len(header):
                raise SourceUnreadable(f"line {table.line_num} has {len(cells)} cells, the header {len(header)}")
            rows.append(_SourceNode((dict(zip(header, cells, strict=True)),), ()))
            if len(rows) > MAX_ROWS:
                raise SourceUnreadable(f"holds more than {MAX_ROWS:,} rows")
    except csv.Error:
        raise SourceUnreadable("is not a whole CSV file") from None
    return rows


_ABSENT = object()


def _find_cell(row: _SourceNode, path: str) -> Any:
    """`name.name` inside the row, where a star takes the first of a list; `^` for each object further out; `@2` for
    what the second star of the rows matched."""
    if path.startswith("@"):
        number = int(path[1:])
        return row.names[number - 1] if number <= len(row.names) else _ABSENT
    outer = len(path) - len(path.lstrip("^"))
    if outer >= len(row.nodes):
        return _ABSENT
    node = row.nodes[-1 - outer]
    for step in filter(None, path.lstrip("^").split(".")[:_MAX_DEPTH]):
        if isinstance(node, list) and step == "*":
            node = node[0] if node else None
        elif not isinstance(node, dict) or step not in node:
            return _ABSENT
        else:
            node = node[step]
    return node


def _check_layout(rows: Sequence[_SourceNode], source: SourceMap) -> None:
    """A column that no row has was renamed or removed: the file no longer fits the mapping."""
    absent = [
        cell.path
        for cell in (*source.keys, *source.values)
        if all(_find_cell(row, cell.path) is _ABSENT for row in rows)
    ]
    if absent:
        raise SourceUnreadable(f"no longer has {', '.join(absent)} in any row")


def _read_entry(row: _SourceNode, source: SourceMap, find_name: FindName) -> SourceRow | None:
    """Reads a row; None for one whose key cannot be read."""
    key = [_read_cell(row, cell, find_name) for cell in source.keys]
    if None in key:
        return None
    values = {cell.column: _read_cell(row, cell, find_name) for cell in source.values}
    return SourceRow(tuple(map(str, key)), {name: text for name, text in values.items() if text is not None})


def _read_cell(row: _SourceNode, cell: CellMap, find_name: FindName) -> str | None:
    raw = _find_cell(row, cell.path)
    if raw is _ABSENT or raw is None or isinstance(raw, dict | list):
        return None
    text = "".join(c for c in str(raw) if c.isprintable()).strip()
    if not text or len(text) > MAX_CELL_CHARACTERS:
        return None
    if cell.reader not in NAME_READERS:
        return READERS[cell.reader](text)
    name = find_name(cell.reader, text)
    if name is None:
        raise _UnknownName(text)
    if not name:
        raise _Ignored
    return name


# Readers: the text of a cell as ours would be written; None where it cannot be read.


def read_number(text: str) -> str | None:
    match = _NUMBER.fullmatch(text)
    if match is None:
        return None
    try:
        number = Decimal(("-" if text.startswith("-") else "") + match[1].replace(",", ""))
    except InvalidOperation:
        return None
    return str(number)


def read_percent(text: str) -> str | None:
    """Reads a fraction (0.3) or a percentage (30%)."""
    number = read_number(text.removesuffix("%").strip())
    if number is None:
        return None
    percent = Decimal(number) * (1 if text.endswith("%") else 100)
    return f"{percent.normalize():f}"


def read_day(text: str) -> str | None:
    match = _JS_DAY.search(text)
    try:
        if match:
            return datetime.strptime(" ".join(match.groups()), "%b %d %Y").date().isoformat()  # noqa: DTZ007 - a day
        return date.fromisoformat(text[:10]).isoformat()
    except ValueError:
        return None


def read_page(text: str) -> str | None:
    """An address without what varies between two spellings of it."""
    try:
        parts = urlsplit(text)
    except ValueError:
        return None
    if parts.scheme not in ("http", "https") or not parts.netloc:
        return None
    return (parts.netloc.removeprefix("www.") + parts.path.rstrip("/")).lower()


def _read_text(text: str) -> str:
    return text


NAME_READERS = frozenset({"airline", "card", "program"})
READERS: Mapping[str, Callable[[str], str | None]] = {
    "airline": _read_text,
    "card": _read_text,
    "day": read_day,
    "lower": str.lower,
    "number": read_number,
    "page": read_page,
    "percent": read_percent,
    "program": _read_text,
    "text": _read_text,
}
