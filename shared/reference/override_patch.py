"""Corrections in force as a unified diff against the CSV files, for `git apply` or `patch -p1`."""

import csv
import difflib
import io
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from shared.reference.keys import sort_key
from shared.reference.overrides import Override, add_optional_cells, build_key, list_key_columns
from shared.reference.rows import FILES, KEYS
from shared.reference.tables import parse_row

FOLDER_IN_REPOSITORY = "shared/reference/data"


class Patch(NamedTuple):
    """The diff, empty if the files have all corrections, and those that no longer fit their file."""

    text: str
    left_out: list[str]


class _Record(NamedTuple):
    """One row of a file in its raw text, and its key; the header and unreadable rows have none."""

    text: str
    key: tuple[Any, ...] | None


def build_patch(folder: Path, overrides: Iterable[Override]) -> Patch:
    by_file: dict[str, list[Override]] = {}
    for override in overrides:
        by_file.setdefault(override.file, []).append(override)
    left_out: list[str] = []
    parts = [_diff_file(folder, file, by_file[file], left_out) for file in sorted(by_file)]
    return Patch("".join(parts), left_out)


def _diff_file(folder: Path, file: str, overrides: Sequence[Override], left_out: list[str]) -> str:
    if file not in FILES:
        left_out += [f"{file}: there is no such file" for _ in overrides]
        return ""
    with (folder / file).open(newline="", encoding="utf-8") as lines:
        before = lines.read()
    after = _apply(file, before, overrides, left_out)
    path = f"{FOLDER_IN_REPOSITORY}/{file}"
    diff = difflib.unified_diff(_split_lines(before), _split_lines(after), f"a/{path}", f"b/{path}")
    return "".join(line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n" for line in diff)


def _split_lines(text: str) -> list[str]:
    """Splits only at line feeds, as patch programs do."""
    return list(io.StringIO(text, newline="\n"))


def _apply(file: str, text: str, overrides: Sequence[Override], left_out: list[str]) -> str:
    """The file with the corrections, in the order the loader lays them over it; all other rows are unchanged."""
    end = "\r\n" if "\r\n" in text else "\n"
    header = next(csv.reader(io.StringIO(text, newline="")), [])
    records = list(_read_records(file, text, header))
    if records and not records[-1].text.endswith("\n"):
        records[-1] = records[-1]._replace(text=records[-1].text + end)
    for override in overrides:
        faults: list[str] = []
        cells = add_optional_cells(override)
        row = parse_row(FILES[file], cells, f"{file} {build_key(file, override.cells)}", faults)
        if row is None:
            left_out += faults
            continue
        record = _Record(_write_row(header, cells, end), _read_key(file, row))
        _lay_over(file, records, record, override)
    return "".join(record.text for record in records)


def _read_records(file: str, text: str, header: Sequence[str]) -> Iterator[_Record]:
    """Each row with its raw text, of several lines if a cell has them."""
    lines = list(io.StringIO(text, newline=""))
    reader = csv.reader(iter(lines))
    start = 0
    for number, cells in enumerate(reader):
        own_text = "".join(lines[start : reader.line_num])
        start = reader.line_num
        row = parse_row(FILES[file], dict(zip(header, cells, strict=False)), file, []) if number else None
        yield _Record(own_text, None if row is None else _read_key(file, row))


def _read_key(file: str, row: Any) -> tuple[Any, ...]:
    return tuple(getattr(row, name) for name in list_key_columns(file))


def _write_row(header: Sequence[str], cells: Mapping[str, str], end: str) -> str:
    line = io.StringIO(newline="")
    csv.writer(line, lineterminator=end).writerow([cells[name] for name in header])
    return line.getvalue()


def _lay_over(file: str, records: list[_Record], new: _Record, override: Override) -> None:
    at = next((i for i, record in enumerate(records) if record.key == new.key), None)
    if override.removed:
        if at is not None:
            del records[at]
    elif at is not None:
        if _read_cells(records[at].text) != _read_cells(new.text):
            records[at] = new
    else:
        records.insert(_find_place(file, records, new), new)


def _read_cells(text: str) -> list[str]:
    return next(csv.reader(io.StringIO(text, newline="")), [])


def _find_place(file: str, records: Sequence[_Record], new: _Record) -> int:
    """A sorted file stays sorted; in any other the row comes last."""
    if file not in KEYS:
        return len(records)
    place = sort_key(new.key or ())
    return next((i for i, r in enumerate(records) if r.key is not None and sort_key(r.key) > place), len(records))
