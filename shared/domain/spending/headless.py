"""Tables without a header: the columns are known by what they hold, where only one reading is possible."""

import re
from collections.abc import Sequence
from dataclasses import replace
from decimal import Decimal
from itertools import pairwise

from shared.domain.parsing.amounts import CODES, parse_amount, uses_decimal_comma
from shared.domain.parsing.dates import parse_day
from shared.domain.spending.model import StatementLayout

_MIN_ROWS, _MAX_WIDTH = 2, 40
_MOST = Decimal("0.9")  # of the filled cells of a column that have to be of one kind
_BOTH = ("dmy", "mdy", "ymd")
# Words and letters that say whether money went out or came in.
OUT = (
    *(
        "af",
        "debit",
        "d",
        "soll",
        "s",
        "debet",
        "out",
        "o",
        "dr",
        "db",
        "debito",
        "débito",
        "outflow",
        "kiadás",
        "cargo",
    ),
)
IN = (
    "bij",
    "credit",
    "c",
    "haben",
    "h",
    "in",
    "i",
    "cr",
    "k",
    "kredit",
    "credito",
    "crédito",
    "inflow",
    "bevétel",
    "abono",
)
_LETTERS = re.compile(r"[^\W\d_]{3}")
_CENTS = re.compile(r"\d[.,]\d{1,4}\D?$", re.ASCII)


def build_headless_layouts(rows: Sequence[Sequence[str]]) -> list[StatementLayout]:
    """One for each order of its dates; none where two columns could be the amount."""
    width = max(map(len, rows), default=0)
    if len(rows) < _MIN_ROWS or width > _MAX_WIDTH:
        return []
    columns = [[row[at].strip() if at < len(row) else "" for row in rows] for at in range(width)]
    dates = [at for at, cells in enumerate(columns) if _count_days(cells)]
    amount = _find_amount(
        [at for at, cells in enumerate(columns) if at not in dates and _holds_amounts(cells)], columns
    )
    words = sorted((-len(set(c)), at) for at, c in enumerate(columns) if _holds_words(c) and at not in (*dates, amount))
    if not dates or amount is None or not words:
        return []
    codes = [at for at, cells in enumerate(columns) if set(cells) - {""} and set(cells) - {""} <= set(CODES)]
    flags = [at for at, cells in enumerate(columns) if _holds_directions(cells)]
    layout = StatementLayout(
        slug="table",
        country=None,
        currency=None,
        headers=(),
        width=width,
        date=str(dates[0]),
        dates=("dmy", "ymd"),
        descriptions=tuple(str(at) for _, at in words[:2]),
        amount=str(amount),
        debit=None,
        credit=None,
        charge="positive" if len(flags) == 1 else None,
        direction=str(flags[0]) if len(flags) == 1 else None,
        currency_column=str(codes[0]) if len(codes) == 1 else None,
    )
    return [layout, replace(layout, dates=("mdy", "ymd"))]


def _is_most(count: int, cells: Sequence[str]) -> bool:
    return count > 0 and count >= _MOST * sum(1 for cell in cells if cell) and 2 * count >= len(cells)


def _count_days(cells: Sequence[str]) -> bool:
    return _is_most(sum(1 for c in cells if c and parse_day(c, _BOTH)), cells)


def _holds_amounts(cells: Sequence[str]) -> bool:
    comma = uses_decimal_comma(cells)
    read = [c for c in cells if c and parse_amount(c, comma) is not None]
    return _is_most(len(read), cells) and any(_CENTS.search(c) for c in read)


def _holds_directions(cells: Sequence[str]) -> bool:
    words = {cell.casefold() for cell in cells if cell}
    return bool(words) and "" not in cells and words <= {*OUT, *IN}


def _holds_words(cells: Sequence[str]) -> bool:
    return _is_most(sum(1 for c in cells if _LETTERS.search(c)), cells)


def _read_amounts(cells: Sequence[str]) -> list[Decimal]:
    comma = uses_decimal_comma(cells)
    return [parse_amount(cell, comma) or Decimal(0) for cell in cells]


def _find_amount(columns: Sequence[int], cells: Sequence[Sequence[str]]) -> int | None:
    """The one column of amounts; of two, the one whose values are the steps of the other, a running balance."""
    if len(columns) == 1:
        return columns[0]
    if len(columns) != 2:
        return None
    one, other = (_read_amounts(cells[at]) for at in columns)
    for at, values, balances in ((columns[0], one, other), (columns[1], other, one)):
        steps = [b - a for a, b in pairwise(balances)]
        if steps in (values[1:], [-v for v in values[:-1]], [-v for v in values[1:]]):
            return at
    return None
