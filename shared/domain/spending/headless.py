"""Tables without a header: the columns are known by what they hold, where only one reading is possible."""

import re
from collections.abc import Sequence
from decimal import Decimal
from itertools import pairwise

from shared.domain.parsing.amounts import CODES, parse_amount, uses_decimal_comma
from shared.domain.parsing.dates import parse_day
from shared.domain.spending.line_words import IN, OUT
from shared.domain.spending.model import StatementLayout

_MIN_ROWS, _MAX_WIDTH = 2, 40
_MOST = Decimal("0.9")  # of the filled cells of a column that have to be of one kind
ANY_ORDER = ("dmy", "mdy", "yymd")  # of the days of a statement whose issuer is not known
_LETTERS = re.compile(r"[^\W\d_]{3}")
_CENTS = re.compile(r"\d[.,]\d{1,4}\D{0,4}$", re.ASCII)


def build_headless_layouts(rows: Sequence[Sequence[str]]) -> list[StatementLayout]:
    """None where two columns could be the amount."""
    width = max(map(len, rows), default=0)
    if len(rows) < _MIN_ROWS or width > _MAX_WIDTH:
        return []
    columns = [[row[at].strip() if at < len(row) else "" for row in rows] for at in range(width)]
    dates = [at for at, cells in enumerate(columns) if _count_days(cells)]
    money = [at for at, cells in enumerate(columns) if at not in dates and _holds_amounts(cells)]
    sides = _find_sides([at for at in range(width) if at not in dates], columns)
    amount = _find_amount(money, columns) if sides is None else sides[0]
    flags = [at for at, cells in enumerate(columns) if _holds_directions(cells)]
    words = sorted(
        (-len(set(c)), at)
        for at, c in enumerate(columns)
        if _holds_words(c) and at not in (*dates, *flags, *money, *(sides or ()))
    )
    if not dates or amount is None or not words:
        return []
    codes = [at for at, cells in enumerate(columns) if set(cells) - {""} and set(cells) - {""} <= set(CODES)]
    balances = [at for at in money if at not in (amount, *(sides or ()))]
    open_columns = set(range(width)) - {*dates, *money, *(sides or ())}
    if any(any(columns[at]) and _all_amounts(columns[at]) for at in open_columns):
        return []  # a value in few rows may be the amount, and one in each row the balance
    if sides and any(_rises_with_first(columns[at], *(columns[side] for side in sides)) for at in balances):
        return []
    return [
        StatementLayout(
            slug="table",
            country=None,
            currency=None,
            headers=(),
            width=width,
            date=str(dates[0]),
            dates=ANY_ORDER,
            descriptions=tuple(str(at) for _, at in words[:2]),
            amount=None if sides else str(amount),
            debit=str(sides[0]) if sides else None,
            credit=str(sides[1]) if sides else None,
            charge="debit" if sides else None,
            direction=str(flags[0]) if len(flags) == 1 else None,
            currency_column=str(codes[0]) if len(codes) == 1 else None,
            balance=str(balances[0]) if len(balances) == 1 else None,
        )
    ]


def is_proved_by_balance(layout: StatementLayout, rows: Sequence[Sequence[str]]) -> bool:
    """Whether the balance of this layout changes by the amount of each row, from the first down or from the last up."""
    if layout.balance is None or len(rows) <= _MIN_ROWS:
        return False
    columns = (layout.balance, layout.amount, layout.debit, layout.credit)
    cells = [[row[int(name)] if int(name) < len(row) else "" for row in rows] for name in columns if name]
    balances, *sides = map(_read_amounts, cells)
    amounts = [abs(sum(values)) for values in zip(*sides, strict=True)]
    steps = [abs(after - before) for before, after in pairwise(balances)]
    return steps in (amounts[1:], amounts[:-1])


def _is_most(count: int, cells: Sequence[str]) -> bool:
    return count > 0 and count >= _MOST * sum(1 for cell in cells if cell) and 2 * count >= len(cells)


def _count_days(cells: Sequence[str]) -> bool:
    return _is_most(sum(1 for c in cells if c and parse_day(c, ANY_ORDER)), cells)


def _holds_amounts(cells: Sequence[str]) -> bool:
    comma = uses_decimal_comma(cells)
    read = [c for c in cells if c and parse_amount(c, comma) is not None]
    return _is_most(len(read), cells) and any(_CENTS.search(c) for c in read)


def _holds_directions(cells: Sequence[str]) -> bool:
    words = {cell.casefold() for cell in cells if cell}
    return bool(words) and "" not in cells and words <= OUT | IN


def _holds_words(cells: Sequence[str]) -> bool:
    return _is_most(sum(1 for c in cells if _LETTERS.search(c)), cells)


def _read_amounts(cells: Sequence[str]) -> list[Decimal]:
    comma = uses_decimal_comma(cells)
    return [parse_amount(cell, comma) or Decimal(0) for cell in cells]


def _find_sides(places: Sequence[int], columns: Sequence[Sequence[str]]) -> tuple[int, int] | None:
    """Two columns, one of which each row fills with an amount: spent, and received."""
    filled = {at: {number for number, cell in enumerate(columns[at]) if cell} for at in places}
    rows = set(range(len(columns[0])))
    amounts = [at for at in places if 0 < len(filled[at]) < len(rows) and _all_amounts(columns[at])]
    pairs = [
        (a, b)
        for a in amounts
        for b in amounts
        if a < b and not filled[a] & filled[b] and filled[a] | filled[b] == rows
    ]
    return pairs[0] if len(pairs) == 1 else None


def _rises_with_first(balance: Sequence[str], first: Sequence[str], second: Sequence[str]) -> bool:
    """Whether the first column raises the balance: it is what came into an account, or what is owed on a card."""
    balances, *sides = map(_read_amounts, (balance, first, second))
    steps = [after - before for before, after in pairwise(balances)]
    net = [came - spent for spent, came in zip(*sides, strict=True)]
    back = [-value for value in net]
    return steps in (back[1:], net[:-1]) and steps not in (net[1:], back[:-1])


def _all_amounts(cells: Sequence[str]) -> bool:
    comma = uses_decimal_comma(cells)
    return all(parse_amount(cell, comma) is not None and _CENTS.search(cell) for cell in cells if cell)


def _find_amount(columns: Sequence[int], cells: Sequence[Sequence[str]]) -> int | None:
    """The one column of amounts; of two, the one whose values are the steps of the other, a running balance."""
    if len(columns) == 1:
        return columns[0]
    if len(columns) != 2:
        return None
    one, other = (_read_amounts(cells[at]) for at in columns)
    for at, values, balances in ((columns[0], one, other), (columns[1], other, one)):
        steps = [b - a for a, b in pairwise(balances)]
        if len(steps) == 1 and balances is one:
            return None  # a balance follows the amount; one step alone does not prove the opposite
        if steps in (values[1:], values[:-1], [-v for v in values[:-1]], [-v for v in values[1:]]):
            return at
    return None
