"""Statements in CSV files (RFC 4180), read by the layout their header names."""

import csv
import io
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date, timedelta
from decimal import Decimal

from shared.domain.parsing.amounts import find_common_currency, has_three_decimals, parse_amount, uses_decimal_comma
from shared.domain.parsing.dates import find_dates, parse_day
from shared.domain.parsing.text import fold
from shared.domain.spending.categories import Categorise, build_categoriser, clean_description, exclude_kind
from shared.domain.spending.header import (
    MAX_PREAMBLE_ROWS,
    TableShape,
    find_billed_columns,
    find_fees,
    find_shape,
    find_sides,
    fold_name,
    list_missing_columns,
)
from shared.domain.spending.headless import ANY_ORDER
from shared.domain.spending.line_words import (
    A_BALANCE,
    A_TOTAL,
    DIRECTION_NAMES,
    IN,
    NOT_DONE,
    NOT_SETTLED,
    OUT,
    UNPROVED,
    Holder,
    are_states,
    find_holder,
    find_state,
    find_state_in,
    is_balance,
    is_total,
)
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
from shared.domain.spending.proofs import (
    OPEN,
    RECEIVED,
    SPENT,
    MoneyRow,
    add_fees,
    choose_order,
    find_unproved,
    settle_ways,
)

NO_DATE, NO_AMOUNT = "no date that can be read", "no amount that can be read"
FUTURE, LONG_AGO = "a date in the future", "a date before 1990"
EARLIEST = date(1990, 1, 1)
_DELIMITERS = (",", ";", "\t", "|")
_MAX_COLUMNS = 200
_MAX_TITLE = 4000  # characters of the text before the lines
_UNKNOWN = "table"  # the layout made of a header whose issuer is not known
_STARTS_WITH_DIGIT = re.compile(r"\s*[-(]?[.,]?\d", re.ASCII)
SPLIT = "more cells than the first line names; an amount with a comma needs quotes"
_CODE = re.compile(r"[A-Z]{3}", re.ASCII)
NEEDED_COLUMNS = "columns for the date, the description and the amount (or debit and credit), named in the first line"
Record = tuple[int, list[str]]


def read_table(text: str, book: StatementBook, hints: Hints) -> StatementReading | None:
    """None when the text is no table whose columns are known."""
    for delimiter in _DELIMITERS:
        opening = _read_opening(text, delimiter)
        if shape := find_shape(opening, book):
            records = list(_read_records(text, delimiter))[shape.skip :]
            title = "\n".join(" ".join(cells) for cells in opening[: shape.skip])
            return _Table(shape, records, book, hints, title).reading()
    return None


def explain_failure(text: str, book: StatementBook) -> UnreadableStatement:
    """Explains why a text is no readable table."""
    for delimiter in _DELIMITERS:
        for cells in _read_opening(text, delimiter):
            names = [fold_name(cell) for cell in cells if cell.strip()]
            missing = list_missing_columns(names, book.columns)
            if len(names) > 1 and len(missing) < 3:
                return UnreadableStatement(f"names no column for the {' and the '.join(missing)}", NEEDED_COLUMNS)
    return UnreadableStatement(
        "is no statement that can be read",
        f"OFX, QIF, CAMT, MT940, lines of text, or a table with {NEEDED_COLUMNS}",
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
    """The state of a table during reading."""

    shape: TableShape
    records: Sequence[Record]
    book: StatementBook
    hints: Hints
    title: str  # the text before the lines, which may name the period
    undone: list[Record] = field(default_factory=list)  # rows marked as cancelled

    def reading(self) -> StatementReading:
        filled = [(number, cells) for number, cells in self.records if any(cell.strip() for cell in cells)]
        if len(filled) > MAX_LINES:
            raise UnreadableStatement(f"has more than {MAX_LINES:,} lines", "a statement of fewer lines; split it")
        self.records = filled
        layout, order = self._layout()
        layout = self._find_state(self._find_direction(self._find_billed(self._find_sides(layout))))
        fees, balance = find_fees(self.shape.columns, self.book.columns)
        fee_at = self.shape.columns[fees] if fees else _MAX_COLUMNS
        if fees and layout.balance is None:
            layout = replace(layout, balance=balance)
        orders = (order, "ymd") if order else layout.dates
        reader = LineReader(layout.slug, orders, self._comma(layout), self.book, self.hints)
        lines: list[StatementLine] = []
        money: list[MoneyRow] = []
        skipped: list[Skipped] = []
        for number, cells in filled:
            line = self._line(layout, reader, number, cells)
            if isinstance(line, tuple) and not isinstance(line, Skipped):
                lines.append(line[0])
                money.append(line[1])
                if fee := reader.amount("".join(cells[fee_at : fee_at + 1])):
                    line[1].fee, line[1].beside = fee, frozenset(abs(v) for v in map(reader.amount, cells) if v)
            elif line is not None:
                skipped.append(line)
                self.undone += [(number, cells)] if line.reason == NOT_DONE else []
        back = self._add_reversals(layout, reader, lines, money) if self.undone else set()
        add_fees(money)
        skipped = [line for line in skipped if line.line not in back]
        issuer = layout.charge if layout.slug != _UNKNOWN else None
        around = " ".join((self.title, *self.shape.columns))
        lines, left_out = settle_lines(lines, money, self.hints, issuer, find_holder(around[:_MAX_TITLE]))
        written = find_common_currency(self._money(layout))
        own = layout.currency if layout.slug == _UNKNOWN else None
        return StatementReading(
            layout.slug, written or own, lines, [*skipped, *left_out], None if own else layout.currency
        )

    def _cells(self, column: str | None) -> Iterator[str]:
        at = self.shape.columns.get(column or "")
        if at is not None:
            yield from (cells[at] for _, cells in self.records if at < len(cells))

    def _layout(self) -> tuple[StatementLayout, str | None]:
        """The layout with this header that fits the dates, and their order.

        A header that several have says little about the issuer: then the lines have to prove the sign.
        """
        layouts = self.shape.layouts
        texts = list(self._cells(layouts[0].date))
        orders = list(dict.fromkeys(order for layout in layouts for order in layout.dates if order != "ymd"))
        if layouts[0].slug != _UNKNOWN and _reads_more(ANY_ORDER, orders, texts):
            # Another issuer's header with the same names.
            layouts, orders = [replace(layouts[0], slug=_UNKNOWN, dates=ANY_ORDER, currency=None)], list(ANY_ORDER)
        if len(orders) < 2:
            return layouts[0], None
        order = choose_order(texts, orders, self.hints, find_period(self.title), find_written_order(self.title))
        fitting = next(layout for layout in layouts if order in layout.dates)
        if len(layouts) == 1:
            return fitting, order
        return replace(fitting, charge=fitting.charge if fitting.charge == "debit" else None, currency=None), order

    def _find_sides(self, layout: StatementLayout) -> StatementLayout:
        """Takes two columns for money out and in, of which each row fills one, before a column of an amount: that can
        be what the shop asked for, and they are what was billed."""
        sides = find_sides(self.shape.columns, self.book.columns) if layout.slug == _UNKNOWN and layout.amount else None
        if not sides or layout.amount in sides:
            return layout
        pairs = list(zip(self._cells(sides[0]), self._cells(sides[1]), strict=False))
        filled = [[cell for cell in pair if cell.strip()] for pair in pairs]
        if any(len(cells) > 1 or any(parse_amount(cell) is None for cell in cells) for cells in filled):
            return layout
        if sum(map(len, filled)) <= len(filled) // 2:
            return layout
        return replace(layout, amount=None, debit=sides[0], credit=sides[1], charge="debit", direction=None)

    def _find_billed(self, layout: StatementLayout) -> StatementLayout:
        """Of several columns of one amount, each with its currency in its name, takes that of the person's."""
        billed = find_billed_columns(self.shape.columns, self.book.columns)
        if layout.slug != _UNKNOWN or layout.amount not in billed.values() or len(billed) == 1:
            return layout
        own = self.hints.currency or self.hints.card_currency or self.hints.own_currency
        if own not in billed:
            names = " and ".join(billed)
            raise UnreadableStatement(f"has amounts in {names}", f"the currency billed, {names}", "currency")
        return replace(layout, amount=billed[own], currency=own)

    def _find_direction(self, layout: StatementLayout) -> StatementLayout:
        """Adds the column whose cells say which way money went, whatever its name."""
        if layout.slug != _UNKNOWN or not layout.amount:
            return layout
        taken = {layout.date, layout.amount, layout.currency_column, layout.balance, layout.descriptions[0]}
        for name in dict.fromkeys((layout.direction, *self.shape.columns)):
            if name is None or name in taken:
                continue
            cells = {fold_name(cell) for cell in self._cells(name)} - {""}
            ways = {cell in OUT for cell in cells & (OUT | IN)}
            if ways and (len(ways) == 2 or name in DIRECTION_NAMES) and len(cells - OUT - IN) <= len(cells) // 2:
                words = tuple(column for column in layout.descriptions if column != name)
                return replace(layout, direction=name, descriptions=words or layout.descriptions)
        return replace(layout, direction=None)

    def _find_state(self, layout: StatementLayout) -> StatementLayout:
        """Adds the column whose cells say which lines are settled, whatever its name."""
        taken = {layout.date, layout.amount, layout.direction, *layout.descriptions}
        if layout.slug != _UNKNOWN or layout.status:
            return layout
        names = (name for name in self.shape.columns if name not in taken)
        state = (name for name in names if are_states({fold_name(cell) for cell in self._cells(name)}))
        return replace(layout, status=next(state, None))

    def _comma(self, layout: StatementLayout) -> bool:
        codes = {cell.strip() for cell in self._cells(layout.currency_column)}
        names = " ".join((self.hints.currency or "", self.title, *self.shape.columns, *codes)).upper()
        return uses_decimal_comma(self._money(layout), has_three_decimals(names))

    def _money(self, layout: StatementLayout) -> Iterator[str]:
        return (cell for column in (layout.amount, layout.debit, layout.credit) for cell in self._cells(column))

    def _add_reversals(
        self, layout: StatementLayout, reader: "LineReader", lines: list[StatementLine], money: list[MoneyRow]
    ) -> set[int]:
        """Adds rows marked as cancelled that are the money back of another row, which stands as it was; their
        numbers."""
        counted = {(row.words, row.amount) for row in money}
        read = (self._line(layout, reader, number, cells, counts_undone=True) for number, cells in self.undone)
        back = [pair for pair in read if isinstance(pair, tuple) and not isinstance(pair, Skipped)]
        back = [(line, row) for line, row in back if row.amount < 0 and (row.words, -row.amount) in counted]
        for _, row in back:
            row.way = RECEIVED
        pairs = sorted([*zip(lines, money, strict=True), *back], key=lambda pair: pair[0].number)
        lines[:], money[:] = [line for line, _ in pairs], [row for _, row in pairs]
        return {line.number for line, _ in back}

    def _line(
        self,
        layout: StatementLayout,
        lines: "LineReader",
        number: int,
        cells: list[str],
        counts_undone: bool = False,
    ) -> tuple[StatementLine, MoneyRow] | Skipped | None:
        """Reads a line; None for a repeated header."""
        at = self.shape.columns

        def cell(column: str | None) -> str:
            place = at.get(column) if column else None
            return cells[place] if place is not None and place < len(cells) else ""

        status = fold_name(cell(layout.status)) if layout.status else ""
        if layout.settled and status != layout.settled:
            return None if status == layout.status else Skipped(number, NOT_SETTLED)
        when = cell(layout.date)
        if layout.width is None and fold_name(when) == layout.date:
            return None
        words = clean_description(" ".join(dict.fromkeys(cell(column) for column in layout.descriptions)))
        reason = find_state(status) or find_state_in(words) or (A_BALANCE if is_balance(words) else None)
        if reason == NOT_DONE and counts_undone:
            reason = None
        if reason is None and any(extra.strip() for extra in cells[self.shape.width :]):
            reason = SPLIT if _may_be_split(cells, at, layout) else None
        if reason is not None:
            return Skipped(number, reason)
        way = OPEN
        if layout.amount:
            money = lines.amount(cell(layout.amount))
            word = fold_name(cell(layout.direction))
            way = SPENT if word in OUT else RECEIVED if word in IN else read_mark(cell(layout.amount))
        else:
            money, way = lines.difference(*map(cell, (layout.debit, layout.credit)))
        kind = self.book.types.get((layout.slug, fold_name(cell(layout.type)))) if layout.type else None
        code = cell(layout.currency_column).strip().upper() if layout.currency_column else ""
        line = lines.line(number, when, words, money, cell(layout.mcc), cell(layout.category), kind)
        if isinstance(line, Skipped):
            return line
        if _CODE.fullmatch(code):
            line = line._replace(currency=code)
        balance = lines.amount(cell(layout.balance)) if layout.balance else None
        return line, MoneyRow(
            line.day, words, line.amount, exclude_kind("refund") if line.is_refund else line.category, balance, way
        )


def _reads_more(orders: Sequence[str], known: Sequence[str], texts: Sequence[str]) -> bool:
    """Whether one of these orders makes days of more cells than all that are known."""
    cells = set(texts)
    most = max(sum(parse_day(cell, (order, "ymd")) is not None for cell in cells) for order in orders)
    return most > sum(parse_day(cell, (*known, "ymd")) is not None for cell in cells)


def _may_be_split(cells: Sequence[str], at: Mapping[str, int], layout: StatementLayout) -> bool:
    """Of a row with too many cells: whether its amount, or the text before it, had a comma without quotes."""
    places = [at[column] for column in (layout.amount, layout.debit, layout.credit) if column]
    return any(cells[place + 1 : place + 2] and _STARTS_WITH_DIGIT.match(cells[place + 1]) for place in places)


def read_mark(amount: str) -> int:
    """Reads CR or DR after an amount."""
    end = amount.rstrip(" )")[-2:].upper()
    return RECEIVED if end == "CR" else SPENT if end == "DR" else OPEN


def settle_lines(
    lines: Sequence[StatementLine],
    money: Sequence[MoneyRow],
    hints: Hints,
    issuer: str | None = None,
    holder: Holder | None = None,
) -> tuple[list[StatementLine], list[Skipped]]:
    """The lines with amounts that are positive where they were spent, and those that are totals of the others or that
    may as well have been received."""
    totals = _find_totals(money)
    counted = [at for at in range(len(lines)) if at not in totals]
    amounts = settle_ways([money[at] for at in counted], hints, issuer, holder)
    unproved = [] if issuer else find_unproved([money[at] for at in counted], amounts)
    pairs = list(zip(counted, amounts, strict=True))
    settled = [lines[at]._replace(amount=amount) for place, (at, amount) in enumerate(pairs) if place not in unproved]
    left_out = dict.fromkeys(totals, A_TOTAL) | {counted[place]: UNPROVED for place in unproved}
    return settled, [Skipped(lines[at].number, reason) for at, reason in sorted(left_out.items())]


def _find_totals(money: Sequence[MoneyRow]) -> set[int]:
    """Rows called a total that are the sum of the rows before them: of all, of what came in or of what went out."""
    totals: set[int] = set()
    out = back = Decimal(0)
    for at, row in enumerate(money):
        if is_total(row.words) and abs(row.amount) in (abs(out + back), abs(out), abs(back)) and row.amount:
            totals.add(at)
        elif row.amount > 0:
            out += row.amount
        else:
            back += row.amount
    return totals


def find_written_order(title: str) -> str | None:
    """The order of the days before the lines that are written in figures, where one of them shows it: the day on which
    the statement was closed is written as its lines are."""
    folded = fold(title[:_MAX_TITLE])
    written = [w for w, _, end in find_dates(folded) if w.separator and folded[end - 4 : end].isdigit()]
    orders = [order for order in ("dmy", "mdy") if all(w.exact(order) for w in written)]
    return orders[0] if written and len(orders) == 1 else None


def find_period(title: str) -> list[date]:
    """Two or more days that the text before the lines names, where it leaves no doubt of them: the statement's
    period."""
    folded = fold(title[:_MAX_TITLE])
    dates = [w for w, _, end in find_dates(folded) if not w.separator or folded[end - 4 : end].isdigit()]
    orders = [order for order in ("dmy", "mdy") if all(w.exact(order) for w in dates)]
    is_sure = len(orders) == 1 and any(w.separator for w in dates)  # "01/11/2026 to 30/11/2026"
    days = [day for w in dates if (is_sure or not w.separator) and (day := w.exact(orders[0] if is_sure else "mdy"))]
    return days if len(set(days)) > 1 else []


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

    def difference(self, debit: str, credit: str) -> tuple[Decimal | None, int]:
        """The amount of two columns, with the sign it has in its own, and which way it went."""
        out, back = (parse_amount(text, self.comma) if text.strip() else Decimal(0) for text in (debit, credit))
        if out is None or back is None or not (debit.strip() or credit.strip()):
            return None, OPEN
        if out and back:
            net = abs(out) - abs(back)
            return abs(net), SPENT if net > 0 else RECEIVED
        return (back, RECEIVED) if back else (out, SPENT)

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
