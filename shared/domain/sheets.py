"""Sheets as CSV (RFC 4180): written so that no cell runs as a formula, and read from what people paste or upload."""

import csv
import io
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, time
from typing import Any

MAX_ROWS = 500  # of a table that is read
_MAX_CELL = 4000
BOM = "\ufeff"  # in files: without it Excel reads UTF-8 as the letters of one country
# The start of a cell that a spreadsheet would run; Excel in Japanese and Chinese reads the full-width signs as well.
_FORMULA = re.compile("[=+@\t\r\n\uff1d\uff0b\uff0d\uff20-]")
_GUARDED = re.compile(f"'(?={_FORMULA.pattern})")
_NO_LETTER = re.compile(r"[\W_]+")
_DELIMITERS = "\t;|,"


class UnreadTable(ValueError):
    """A text that is no table: the problem, and what is expected."""

    def __init__(self, problem: str, expected: str) -> None:
        super().__init__(problem)
        self.problem, self.expected = problem, expected


@dataclass(frozen=True)
class TableRow:
    """`line`: a spreadsheet's row number. Empty cells are absent."""

    line: int
    cells: Mapping[str, str]


def write_csv(columns: Sequence[str], rows: Iterable[Mapping[str, Any]]) -> str:
    """One line for each row. Numbers have a point and no grouping, days are ISO 8601."""
    out = io.StringIO(newline="")
    writer = csv.writer(out)
    writer.writerow(columns)
    writer.writerows([_write_cell(row.get(name)) for name in columns] for row in rows)
    return out.getvalue()


def _write_cell(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, time):
        return f"{value:%H:%M}"
    if isinstance(value, date | datetime):
        return value.isoformat()
    if isinstance(value, str):
        return f"'{value}" if _FORMULA.match(value) else value
    return f"{value:f}" if hasattr(value, "quantize") else str(value)


def read_table(text: str, aliases: Mapping[str, str]) -> list[TableRow]:
    """The rows below a line of names, by the names they have here. Raises UnreadTable.

    `aliases`: other names of columns. A column without a name here keeps its own.
    """
    text = text.removeprefix(BOM)
    head = next((line for line in text.splitlines() if line.strip()), "")
    delimiter = max(_DELIMITERS, key=head.count)
    try:
        records = list(csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True))
    except csv.Error:
        raise UnreadTable("has a quoted cell that does not end", "quotes in pairs") from None
    lines = [(at, cells) for at, cells in enumerate(records, 1) if any(cell.strip() for cell in cells)]
    if len(lines) < 2:
        raise UnreadTable("holds no row below its line of names", "a line of names, then a line for each row")
    if len(lines) > MAX_ROWS + 1:
        raise UnreadTable(f"has {len(lines) - 1:,} rows", f"at most {MAX_ROWS} at once")
    if wide := next((at for at, cells in lines if any(cell.strip() for cell in cells[len(lines[0][1]) :])), None):
        # Without its quotes "42,000" would be 42.
        raise UnreadTable(f"has more cells in line {wide} than names", "a text with a comma in it between quotes")
    names = [_NO_LETTER.sub("_", cell.strip().lower()).strip("_") for cell in lines[0][1]]
    names = [aliases.get(name, name) for name in names]
    return [
        TableRow(at, {n: value for n, cell in zip(names, cells, strict=False) if n and (value := _read_cell(cell))})
        for at, cells in lines[1:]
    ]


def _read_cell(cell: str) -> str:
    return _GUARDED.sub("", cell.strip(), count=1)[:_MAX_CELL]


def split_table(text: str, aliases: Mapping[str, str], size: int) -> list[tuple[str, list[int]]]:
    """The table in parts of that many rows, each with the line of names and the line numbers of its rows.

    Raises UnreadTable.
    """
    rows = read_table(text, aliases)
    columns = list(dict.fromkeys(name for row in rows for name in row.cells))
    parts = (rows[first : first + size] for first in range(0, len(rows), size))
    return [(write_csv(columns, (row.cells for row in part)), [row.line for row in part]) for part in parts]
