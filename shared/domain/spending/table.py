"""Statements in CSV files (RFC 4180), read by the layout their header names."""

import csv
import io
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import date, timedelta
from decimal import Decimal

from shared.domain.parsing.amounts import find_common_currency, parse_amount, uses_decimal_comma
from shared.domain.parsing.dates import parse_day
from shared.domain.spending.categories import Categorise, build_categoriser, clean_description, exclude_kind
from shared.domain.spending.credits import is_called_refund
from shared.domain.spending.header import MAX_PREAMBLE_ROWS, TableShape, find_shape, fold_name, list_missing_columns
from shared.domain.spending.headless import IN, OUT
from shared.domain.spending.model import (
    EXCLUDED,
    MAX_LINES,
    Hints,
    Skipped,
    StatementBook,
    StatementLayout,
    StatementLine,
    StatementReading,
    UnreadableStatement,
)

NO_DATE, NO_AMOUNT = "no date that can be read", "no amount that can be read"
FUTURE, LONG_AGO, PENDING = "a date in the future", "a date before 1990", "not settled yet"
EARLIEST = date(1990, 1, 1)
_DELIMITERS = (",", ";", "\t", "|")
_MAX_COLUMNS = 200
_UNKNOWN = "table"  # the layout made of a header whose issuer is not known
_CODE = re.compile(r"[A-Z]{3}", re.ASCII)
NEEDED_COLUMNS = "columns for the date, the description and the amount (or debit and credit), named in the first line"
Record = tuple[int, list[str]]


def read_table(text: str, book: StatementBook, hints: Hints) -> StatementReading | None:
    """Reads a table; None when the text is none whose columns are known."""
    for delimiter in _DELIMITERS:
        if shape := find_shape(_read_opening(text, delimiter), book):
            records = list(_read_records(text, delimiter))[shape.skip :]
            return _Table(shape, records, book, hints).reading()
    return None


def explain_failure(text: str, book: StatementBook) -> UnreadableStatement:
    """Why a text is no table that can be read."""
    for delimiter in _DELIMITERS:
        for cells in _read_opening(text, delimiter):
            names = [fold_name(cell) for cell in cells if cell.strip()]
            missing = list_missing_columns(names, book.columns)
            if len(names) > 1 and len(missing) < 3:
                return UnreadableStatement(f"names no column for the {' and the '.join(missing)}", NEEDED_COLUMNS)
    return UnreadableStatement(
        "is no statement that can be read", f"OFX, QIF, lines of text, or a table with {NEEDED_COLUMNS}"
    )


def _read_rows(text: str, delimiter: str) -> Iterator[Record]:
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    for cells in reader:
        if len(cells) > _MAX_COLUMNS:
            raise UnreadableStatement(f"has more than {_MAX_COLUMNS} columns", NEEDED_COLUMNS)
        yield reader.line_num, cells


def _read_opening(text: str, delimiter: str) -> list[list[str]]:
    """The first rows, as far as they can be read this way."""
    rows: list[list[str]] = []
    try:
        for _, cells in _read_rows(text, delimiter):
            rows.append(cells)
            if len(rows) == MAX_PREAMBLE_ROWS:
                break
    except (csv.Error, UnreadableStatement):
        pass
    return rows


def _read_records(text: str, delimiter: str) -> Iterator[Record]:
    number = 0
    try:
        for number, cells in _read_rows(text, delimiter):
            yield number, cells
    except csv.Error:
        words = f"has a quoted cell after line {number} that does not end as it should"
        raise UnreadableStatement(words, "quotes in pairs; export the file again") from None


@dataclass
class _Table:
    """State of one table while it is read."""

    shape: TableShape
    records: Sequence[Record]
    book: StatementBook
    hints: Hints

    def reading(self) -> StatementReading:
        filled = [(number, cells) for number, cells in self.records if any(cell.strip() for cell in cells)]
        if len(filled) > MAX_LINES:
            raise UnreadableStatement(f"has more than {MAX_LINES:,} lines", "a statement of fewer lines; split it")
        self.records = filled
        layout = self._layout()
        reader = LineReader(layout.slug, layout.dates, self._comma(layout), self.book, self.hints)
        skipped: list[Skipped] = []
        lines: list[StatementLine] = []
        for number, cells in filled:
            line = self._line(layout, reader, number, cells)
            if isinstance(line, StatementLine):
                lines.append(line)
            elif line is not None:
                skipped.append(line)
        charge = layout.charge or find_charge_sign(lines)
        if charge == "negative":
            lines = flip_signs(lines)
        written = find_common_currency(self._money(layout))
        own = layout.currency if layout.slug == _UNKNOWN else None
        return StatementReading(layout.slug, written or own, lines, skipped, None if own else layout.currency)

    def _cells(self, column: str | None) -> Iterator[str]:
        at = self.shape.columns.get(column or "")
        if at is not None:
            yield from (cells[at] for _, cells in self.records if at < len(cells))

    def _layout(self) -> StatementLayout:
        """The layout with this header whose dates these are; what is known next to the file decides the rest.

        A header that several have says little about the issuer: then the lines tell the sign.
        """
        layouts = self.shape.layouts
        if len(layouts) == 1:
            return layouts[0]
        texts = set(self._cells(layouts[0].date))
        hints = self.hints if self.hints.month_first is not None else replace(self.hints, currency=self._find_code())
        fitting = layouts[choose_orders([layout.dates for layout in layouts], texts, hints)]
        if fitting.slug == _UNKNOWN:
            return fitting
        return replace(fitting, charge=fitting.charge if fitting.charge == "debit" else None, currency=None)

    def _find_code(self) -> str | None:
        """The currency the file itself names; it tells the country and so the order of its dates."""
        layout = self.shape.layouts[0]
        codes = {cell.strip().upper() for cell in self._cells(layout.currency_column)} - {""}
        return codes.pop() if len(codes) == 1 else find_common_currency(self._money(layout)) or layout.currency

    def _comma(self, layout: StatementLayout) -> bool:
        return uses_decimal_comma(self._money(layout))

    def _money(self, layout: StatementLayout) -> Iterator[str]:
        return (cell for column in (layout.amount, layout.debit, layout.credit) for cell in self._cells(column))

    def _line(
        self, layout: StatementLayout, lines: "LineReader", number: int, cells: list[str]
    ) -> StatementLine | Skipped | None:
        """Reads a line; None for a repeated header."""
        at = self.shape.columns

        def cell(column: str | None) -> str:
            place = at.get(column) if column else None
            return cells[place] if place is not None and place < len(cells) else ""

        status = fold_name(cell(layout.status)) if layout.status else ""
        if (layout.settled and status != layout.settled) or (status and status == layout.unsettled):
            return None if status == layout.status else Skipped(number, PENDING)
        when = cell(layout.date)
        if layout.width is None and fold_name(when) == layout.date:
            return None
        words = clean_description(" ".join(dict.fromkeys(cell(column) for column in layout.descriptions)))
        if layout.direction:
            money = _direct_amount(lines.amount(cell(layout.amount)), cell(layout.direction))
        elif layout.amount:
            money = lines.amount(cell(layout.amount))
        else:
            money = lines.difference(*map(cell, (layout.debit, layout.credit)))
        kind = self.book.types.get((layout.slug, fold_name(cell(layout.type)))) if layout.type else None
        code = cell(layout.currency_column).strip().upper() if layout.currency_column else ""
        line = lines.line(number, when, words, money, cell(layout.mcc), cell(layout.category), kind)
        if isinstance(line, StatementLine) and _CODE.fullmatch(code):
            return line._replace(currency=code)
        return line


def _direct_amount(amount: Decimal | None, direction: str) -> Decimal | None:
    """Positive where the column next to it says that money went out."""
    word = fold_name(direction)
    if amount is None or word not in (*OUT, *IN):
        return None
    return abs(amount) if word in OUT else -abs(amount)


class LineReader:
    """Builds the lines of one statement; repeated dates and descriptions are read once."""

    def __init__(self, slug: str, orders: Sequence[str], comma: bool, book: StatementBook, hints: Hints) -> None:
        self.orders, self.comma = orders, comma
        self.categorise: Categorise = build_categoriser(book)
        self.latest = hints.today + timedelta(days=1)  # in zones ahead of UTC it can be tomorrow already
        self.days: dict[str, date | None] = {}
        self.slug = slug

    def day(self, text: str) -> date | None:
        if text not in self.days:
            self.days[text] = parse_day(text.rstrip(". "), self.orders)
        return self.days[text]

    def amount(self, text: str) -> Decimal | None:
        return parse_amount(text, self.comma)

    def difference(self, debit: str, credit: str) -> Decimal | None:
        """Debit minus credit; the signs inside the two columns are ignored."""
        out, back = (parse_amount(text, self.comma) if text.strip() else Decimal(0) for text in (debit, credit))
        if out is None or back is None or not (debit.strip() or credit.strip()):
            return None
        return abs(out) - abs(back)

    def line(
        self, number: int, when: str, words: str, money: Decimal | None, mcc: str, native: str, kind: str | None
    ) -> StatementLine | Skipped:
        on = self.day(when)
        if on is None or money is None:
            return Skipped(number, NO_DATE if on is None else NO_AMOUNT)
        if not EARLIEST <= on <= self.latest:
            return Skipped(number, FUTURE if on > self.latest else LONG_AGO)
        category = self.categorise(words, mcc, native)
        if kind == "refund":
            return StatementLine(number, on, money, words, category, None, is_refund=True)
        if kind and not category.startswith(EXCLUDED):
            category = exclude_kind(kind)
        return StatementLine(number, on, money, words, category, None)


def choose_orders(readings: Sequence[Sequence[str]], texts: set[str], hints: Hints) -> int:
    """Which of several orders of dates it is: the one that reads most of them, then what the hints say.

    Raises UnreadableStatement where nothing tells.
    """
    faults = [sum(parse_day(text, orders) is None for text in texts) for orders in readings]
    best = [at for at, count in enumerate(faults) if count == min(faults)]
    if len(best) == 1:
        return best[0]
    if all("." in text for text in texts):  # no country writes the month first with points
        return next((at for at in best if "dmy" in readings[at]), best[0])
    if hints.month_first is not None:
        order = "mdy" if hints.month_first else "dmy"
        return next((at for at in best if order in readings[at]), best[0])
    if any(parse_day(text, readings[best[0]]) != parse_day(text, readings[at]) for at in best[1:] for text in texts):
        words = "has only dates that can be read day first and month first, as 03/04 can be 3 April or 4 March"
        raise UnreadableStatement(words, "currency (GBP or EUR: day first; USD: month first) or card_id")
    return best[0]


def find_charge_sign(lines: Sequence[StatementLine]) -> str:
    """The sign of charges: that of the majority, of as many lines that of the greater amount."""
    open_lines = [line for line in lines if not line.category.startswith(EXCLUDED)]
    amounts = [line.amount for line in open_lines if not is_called_refund(line.description)]
    below, above = [-a for a in amounts if a < 0], [a for a in amounts if a > 0]
    return "negative" if (len(below), sum(below)) > (len(above), sum(above)) else "positive"


def flip_signs(lines: Sequence[StatementLine]) -> list[StatementLine]:
    return [line._replace(amount=-line.amount + 0) for line in lines]
