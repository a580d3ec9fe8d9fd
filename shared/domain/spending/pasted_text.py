"""Statements pasted as text: lines that begin with a date and end with an amount."""

import re
from collections.abc import Iterator, Sequence
from datetime import date
from decimal import Decimal
from typing import NamedTuple

from shared.domain.parsing.amounts import find_common_currency, parse_amount, uses_decimal_comma
from shared.domain.parsing.dates import parse_day
from shared.domain.spending.categories import clean_description
from shared.domain.spending.model import (
    MAX_LINES,
    Hints,
    Skipped,
    StatementBook,
    StatementLine,
    StatementReading,
    UnreadableStatement,
)
from shared.domain.spending.table import LineReader, choose_orders, find_charge_sign, flip_signs

_MAX_LINE_CHARACTERS = 300
_BOTH_ORDERS = ("dmy", "mdy")
_ENDINGS = ("CR", "DR", "-")
# Other codes are also last words of merchants' names: TRY, RON, PEN, COP.
_CODES = ("USD", "GBP", "EUR", "CAD", "AUD")
_SIGNS = ("£", "€", "₹", "$", "-", "+")
_CENTS = re.compile(r"[.,]\d{2}(?!\d)|[£€$₹]", re.ASCII)
_YEAR = re.compile(r"(?<!\d)(?:19|20)\d{2}(?!\d)", re.ASCII)
_NO_YEAR = re.compile(r"(\d{1,2})[ /-]?([A-Za-z]{3,9})|([A-Za-z]{3,9})\.? (\d{1,2}),?|(\d{1,2})/(\d{1,2})", re.ASCII)


class _Piece(NamedTuple):
    """A split line: its date as written, its words, and the amounts at its end."""

    number: int
    when: str
    what: str
    money: tuple[str, ...]


def read_pasted_text(text: str, book: StatementBook, hints: Hints) -> StatementReading | None:
    """Reads pasted text; None when no line looks like one of a statement."""
    pieces: list[_Piece] = []
    latest = None
    for number, line in enumerate(text.splitlines(), 1):
        if line and len(line) <= _MAX_LINE_CHARACTERS:
            piece = _split_line(number, line)
            pieces += [piece] if piece else []
            if _YEAR.search(line):
                latest = max([*_find_full_dates(line), *([latest] if latest else [])], default=None)
        if len(pieces) > MAX_LINES:
            raise UnreadableStatement(f"has more than {MAX_LINES:,} lines", "a statement of fewer lines; split it")
    return _build_reading(pieces, latest or hints.today, book, hints) if pieces else None


def _build_reading(pieces: Sequence[_Piece], latest: date, book: StatementBook, hints: Hints) -> StatementReading:
    texts = {piece.when for piece in pieces}
    readings = [("dmy", "ymd"), ("mdy", "ymd")]
    whole = {_add_year(text) for text in texts}
    orders = readings[choose_orders(readings, whole, hints)]
    last = max((day for p in pieces if (day := parse_day(p.when, orders))), default=latest)
    comma = uses_decimal_comma(money for piece in pieces for money in piece.money)
    lines = LineReader("text", orders, comma, book, hints)
    for piece in pieces:
        if lines.day(piece.when) is None:
            lines.days[piece.when] = _resolve_year(piece.when, orders, max(last, latest))
    balance = sum(len(piece.money) > 1 for piece in pieces) * 2 > len(
        pieces
    )  # most lines end with a second amount: a running balance
    results = [_build_line(lines, piece, balance) for piece in pieces]
    readable = [line for line in results if isinstance(line, StatementLine)]
    if find_charge_sign(readable) == "negative":
        readable = flip_signs(readable)
    currency = find_common_currency(money for piece in pieces for money in piece.money)
    readable = [line._replace(currency=currency) for line in readable]
    return StatementReading("text", None, readable, [line for line in results if isinstance(line, Skipped)])


def _build_line(lines: LineReader, piece: _Piece, balance: bool) -> StatementLine | Skipped:
    money: Decimal | None = parse_amount(piece.money[0] if balance else piece.money[-1], lines.comma)
    return lines.line(piece.number, piece.when, clean_description(piece.what), money, "", "", None)


def _add_year(text: str) -> str:
    """Any leap year will do: only the order of day and month is tested, and it has every day."""
    return text if parse_day(text, _BOTH_ORDERS) else f"{text}/2024" if "/" in text else f"{text} 2024"


def _resolve_year(text: str, orders: Sequence[str], latest: date) -> date | None:
    """A day without a year is the last such day up to the end of the statement."""
    for year in range(latest.year, latest.year - 5, -1):
        day = parse_day(f"{text}/{year}" if "/" in text else f"{text.replace(',', '')} {year}", orders)
        if day is not None and day <= latest:
            return day
    return None


def _find_full_dates(line: str) -> Iterator[date]:
    """The dates in words or ISO form that this line states, which tell the year of the others."""
    words = line.split()[:40]
    for at in range(len(words)):
        for length in (3, 1):
            text = " ".join(words[at : at + length]).strip(",;:()")
            if _YEAR.search(text) and (day := parse_day(text, _BOTH_ORDERS)):
                yield day


def _split_line(number: int, line: str) -> _Piece | None:
    words = line.replace("\t", " ").split()
    date_words = _count_date_words(words)
    if not date_words:
        return None
    rest = words[date_words:]
    posted_words = _count_date_words(rest)  # when it was posted
    rest = rest[posted_words:] if len(rest) > posted_words + 1 else rest
    money: list[str] = []
    while rest and len(money) < 2 and (used := _count_money_words(rest)):
        money.insert(0, "".join(rest[-used:]))
        rest = rest[:-used]
    if not money or not rest or not any(c.isalpha() for word in rest for c in word):
        return None
    return _Piece(number, " ".join(words[:date_words]), " ".join(rest), tuple(money))


def _count_date_words(words: Sequence[str]) -> int:
    """How many words from the first are a date; a year of two digits has to hang on to the rest."""
    for length in (3, 2, 1):
        text = " ".join(words[:length])
        if len(words) > length and (length == 1 or len(words[length - 1].strip(",")) != 2 or length == 2):
            whole = parse_day(text, _BOTH_ORDERS) if length != 2 else None
            if whole or (_NO_YEAR.fullmatch(text) and parse_day(_add_year(text), _BOTH_ORDERS)):
                return length
    return 0


def _count_money_words(words: Sequence[str]) -> int:
    """How many words from the last are an amount: a currency or CR may stand apart from it."""
    used, text = 1, words[-1].upper()
    if text in (*_ENDINGS, *_CODES) and len(words) > 1:
        used, text = 2, words[-2].upper()
    if not _CENTS.search(text) or (parse_amount(text) is None and parse_amount(text, comma=True) is None):
        return 0
    if len(words) > used and words[-used - 1].upper() in (*_SIGNS, *_CODES):
        used += 1
    return used
