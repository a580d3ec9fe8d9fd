"""CSV files of facts as frozen rows, with faults by file and line."""

import csv
from collections.abc import Callable, Mapping
from dataclasses import fields
from datetime import date
from decimal import Decimal, InvalidOperation
from functools import lru_cache
from pathlib import Path
from typing import Any, TypeVar, get_args, get_origin, get_type_hints

R = TypeVar("R")
Parser = Callable[[str], Any]


class ReferenceError(Exception):
    """The facts cannot be used; every fault is named with its file and line."""

    def __init__(self, faults: list[str]) -> None:
        super().__init__(f"{len(faults)} faults in the reference data:\n" + "\n".join(f"  {f}" for f in faults))
        self.faults = faults


def _parse_flag(text: str) -> bool:
    words = {"true": True, "yes": True, "false": False, "no": False, "": False}
    if text not in words:
        raise ValueError("is neither true nor false")
    return words[text]


def _parse_int(text: str) -> int:
    try:
        return int(text)
    except ValueError:
        raise ValueError("is not a whole number") from None


def _parse_decimal(text: str) -> Decimal:
    try:
        number = Decimal(text)
    except InvalidOperation:
        raise ValueError("is not a number") from None
    if not number.is_finite():
        raise ValueError("is not a number")
    return number


def _parse_day(text: str) -> date:
    try:
        return date.fromisoformat(text)
    except ValueError:
        raise ValueError("is not a date YYYY-MM-DD") from None


def _parse_list(text: str) -> tuple[str, ...]:
    return tuple(text.split("|")) if text else ()


_PARSERS: dict[Any, Parser] = {
    str: str,
    int: _parse_int,
    Decimal: _parse_decimal,
    date: _parse_day,
    bool: _parse_flag,
    tuple[str, ...]: _parse_list,
}


def is_optional(kind: Any) -> bool:
    """Whether a cell of this type may be empty."""
    return type(None) in get_args(kind) or get_origin(kind) is tuple


def _find_parser(kind: Any) -> Parser:
    """Finds the parser of a cell. An empty cell of an optional field is None: unknown, never guessed."""
    arms = [a for a in get_args(kind) if a is not type(None)] if type(None) in get_args(kind) else []
    if not arms:
        return _PARSERS[kind]
    inner = _PARSERS[arms[0]]
    if inner is str:
        return lambda text: text or None
    return lambda text: inner(text) if text else None


def _read_once(parser: Parser) -> Parser:
    """Shares equal values of a column: 60,000 rows share addresses and days."""
    return lru_cache(maxsize=None)(parser)


def read_rows(folder: Path, name: str, row: type[R], faults: list[str]) -> dict[int, R]:
    """The rows of one file by line; a header that differs from the row's fields, or a bad cell, is a fault."""
    path = folder / name
    hints = get_type_hints(row)
    readers = [(f.name, _read_once(_find_parser(hints[f.name]))) for f in fields(row)]  # type: ignore[arg-type]
    if not path.exists():
        faults.append(f"{name}: is missing")
        return {}
    try:
        return _read_lines(path, name, row, readers, faults)
    except (UnicodeDecodeError, csv.Error) as error:
        faults.append(f"{name}: is not {'UTF-8 text' if isinstance(error, UnicodeDecodeError) else 'a CSV file'}")
        return {}


def _read_lines(
    path: Path, name: str, row: type[R], readers: list[tuple[str, Parser]], faults: list[str]
) -> dict[int, R]:
    with path.open(newline="", encoding="utf-8") as lines:
        table = csv.reader(lines)
        header = next(table, [])
        expected = [n for n, _ in readers]
        if sorted(header) != sorted(expected):
            differ = sorted(set(header) ^ set(expected))
            faults.append(f"{name}:1: the header differs from the row type in {', '.join(differ)}")
            return {}
        columns = [(n, header.index(n), read) for n, read in readers]
        rows: dict[int, R] = {}
        for cells in table:
            where = f"{name}:{table.line_num}"
            if len(cells) != len(header):
                faults.append(f"{where}: {len(cells)} cells, {len(header)} wanted")
            elif record := _build_row(row, columns, cells, where, faults):
                rows[table.line_num] = record
        return rows


def parse_row(row: type[R], cells: Mapping[str, str], where: str, faults: list[str]) -> R | None:
    """One row from its cells by column; a column too many or too few, or a bad cell, is a fault."""
    hints = get_type_hints(row)
    names = [f.name for f in fields(row)]  # type: ignore[arg-type]
    if differ := sorted(set(cells) ^ set(names)):
        faults.append(f"{where}: the columns differ from the row type in {', '.join(differ)}")
        return None
    columns = [(name, at, _find_parser(hints[name])) for at, name in enumerate(names)]
    return _build_row(row, columns, [cells[name] for name in names], where, faults)


def read_raw_rows(folder: Path, name: str) -> list[dict[str, str]]:
    """The raw cells of a file."""
    with (folder / name).open(newline="", encoding="utf-8") as lines:
        return list(csv.DictReader(lines))


def _build_row(
    row: type[R], columns: list[tuple[str, int, Parser]], cells: list[str], where: str, faults: list[str]
) -> R | None:
    try:  # nearly every row is right: a wrong one is read again, to name each bad cell
        return row(*[read(cells[at]) for _, at, read in columns])
    except ValueError:
        pass
    values: dict[str, Any] = {}
    for name, at, read in columns:
        try:
            values[name] = read(cells[at])
        except ValueError as error:
            faults.append(f"{where}: {name} {cells[at]!r} {error}")
    return row(**values) if len(values) == len(columns) else None
