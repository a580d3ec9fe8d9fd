"""Workbooks of spreadsheet programs (XLSX, ODS) as CSV text. Meant for a process that can end."""

import csv
from datetime import date, datetime, time
from io import BytesIO, StringIO
from math import isfinite
from typing import Any, NamedTuple
from zipfile import BadZipFile, ZipFile

from python_calamine import CalamineError, CalamineWorkbook, SheetVisibleEnum

_MAX_PARTS, _MAX_UNPACKED_BYTES = 1000, 64 << 20
_MAX_ROWS, _MAX_COLUMNS, _MAX_SHEETS = 60_000, 200, 20


class UnreadWorkbook(NamedTuple):
    reason: str  # what kind of file it is, and what to do


def read_workbook(content: bytes) -> str | UnreadWorkbook:
    """The visible sheet with the most filled rows, as CSV; or why there is none. Formulas give their stored values."""
    try:
        with ZipFile(BytesIO(content)) as parts:
            sizes = [part.file_size for part in parts.infolist()]
        if len(sizes) > _MAX_PARTS or sum(sizes) > _MAX_UNPACKED_BYTES:
            return UnreadWorkbook("a spreadsheet or ZIP archive that is too large; save the sheet as CSV")
        workbook = CalamineWorkbook.from_filelike(BytesIO(content))
        visible = [sheet.name for sheet in workbook.sheets_metadata if sheet.visible == SheetVisibleEnum.Visible]
        sheets = [_read_sheet(workbook, name) for name in visible[:_MAX_SHEETS]]
    except (BadZipFile, CalamineError, NotImplementedError):
        return UnreadWorkbook("a ZIP archive or a spreadsheet that cannot be read; save it as CSV")
    longest = max(sheets, key=len, default=[])
    if len(longest) > _MAX_ROWS:
        return UnreadWorkbook(f"a spreadsheet of more than {_MAX_ROWS:,} rows; split it")
    text = StringIO()
    csv.writer(text, lineterminator="\n").writerows(longest)
    return text.getvalue()


def _read_sheet(workbook: CalamineWorkbook, name: str) -> list[list[str]]:
    """Its filled rows, one more than are taken at most."""
    rows: list[list[str]] = []
    for row in workbook.get_sheet_by_name(name).iter_rows():
        cells = [_write_cell(value) for value in row[:_MAX_COLUMNS]]
        if any(cells):
            rows.append(cells)
        if len(rows) > _MAX_ROWS:
            break
    return rows


def _write_cell(value: Any) -> str:
    """A number with two decimals or six, so that no point of it can be taken for one between thousands."""
    if isinstance(value, float):
        if not isfinite(value):
            return ""
        if value == int(value):
            return f"{value:.0f}"
        return f"{value:.2f}" if value == round(value, 2) else f"{value:.6f}"
    if isinstance(value, datetime):
        return value.date().isoformat() if value.time() == time() else value.isoformat(" ", "seconds")
    return value.isoformat() if isinstance(value, date) else str(value).strip()
