"""Card statements in OFX, QIF, CSV or plain text, or as rows: their lines and totals. Meant for a process that can end.

It imports nothing of the database: with it each worker's program of readers began with 24 MB and 0.3 s more.
"""

from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal
from typing import Any

from shared.documents import ofx, qif
from shared.domain.card_value import CATEGORIES
from shared.domain.parsing.amounts import parse_amount, uses_decimal_comma
from shared.domain.spending import pasted_text, table
from shared.domain.spending.categories import OTHER, exclude_kind
from shared.domain.spending.categories import clean_description as plain_words
from shared.domain.spending.model import (
    KINDS,
    MAX_LINES,
    Hints,
    Skipped,
    StatementBook,
    StatementLine,
    StatementReading,
    Unreadable,
)
from shared.domain.spending.table import LineReader, choose_orders
from shared.domain.spending.totals import StatementTotals, sum_up

MOST_BREAKS = 400_000  # each line of OFX has several, and Windows writes two for one

Rows = Sequence[Mapping[str, Any]]


def read_source(
    source: str | Rows, book: StatementBook, hints: Hints
) -> tuple[StatementReading, StatementTotals] | Unreadable:
    try:
        reading = read_text(source, book, hints) if isinstance(source, str) else read_rows(source, book, hints)
        return reading, sum_up(reading, hints)
    except Unreadable as fault:
        return fault


def read_text(text: str, book: StatementBook, hints: Hints) -> StatementReading:
    """The lines of a statement in OFX, QIF, CSV or plain text. Raises Unreadable."""
    text = text.removeprefix("\ufeff")
    if text.count("\n") + text.count("\r") > MOST_BREAKS:
        raise Unreadable(f"has more than {MOST_BREAKS:,} line breaks", "a statement of fewer lines; split it")
    if ofx.looks_like_ofx(text):
        return _ofx(text, book, hints)
    if qif.looks_like_qif(text):
        return _qif(text, book, hints)
    reading = table.read_table(text, book, hints) or pasted_text.read_pasted_text(text, book, hints)
    if reading is None:
        raise table.explain_failure(text, book)
    return reading


def read_rows(rows: Rows, book: StatementBook, hints: Hints) -> StatementReading:
    """Rows with date, description and amount, positive where money was spent. Raises Unreadable."""
    texts = {str(row.get("date", ""))[:40] for row in rows}
    readings = [("dmy", "ymd"), ("mdy", "ymd")]
    lines = LineReader("rows", readings[choose_orders(readings, texts, hints)], False, book, hints)
    reading = [_row(lines, number, row) for number, row in enumerate(rows, 1)]
    return _reading("rows", reading)


def _row(lines: LineReader, number: int, row: Mapping[str, Any]) -> StatementLine | Skipped:
    category = str(row.get("category") or "").strip().lower()
    money = row.get("amount")
    columns_read = (
        None if isinstance(money, bool) or not isinstance(money, int | float | str) else parse_amount(_plain(money))
    )
    words = plain_words(str(row.get("description") or ""))
    kind = category if category in KINDS else None
    line = lines.line(number, str(row.get("date", ""))[:40], words, columns_read, "", category, kind)
    if isinstance(line, Skipped):
        return line
    if kind == "refund":
        return line
    return line._replace(category=exclude_kind(kind) if kind else category if category in CATEGORIES else line.category)


def _plain(money: float | str) -> str:
    """A number as digits; 1e30 is no amount of a statement."""
    if isinstance(money, str):
        return money
    number = Decimal(str(money))
    return f"{number:f}" if number.is_finite() and -20 < number.adjusted() < 20 else ""


def _reading(layout: str, reading: Sequence[StatementLine | Skipped]) -> StatementReading:
    lines = [line for line in reading if isinstance(line, StatementLine)]
    return StatementReading(layout, None, lines, [line for line in reading if isinstance(line, Skipped)])


def _ofx(text: str, book: StatementBook, hints: Hints) -> StatementReading:
    lines = LineReader("ofx", ("ymd",), False, book, hints)
    reading = list(_entries(text, book, lines))
    if not reading:
        raise Unreadable("is OFX without a transaction", "OFX with the transactions of a card or an account")
    return _reading("ofx", reading)


def _entries(text: str, book: StatementBook, lines: LineReader) -> Iterator[StatementLine | Skipped]:
    """On an account a charge is negative. What the name does not tell, the memo may."""
    for entry in ofx.read_entries(text):
        if entry.number > MAX_LINES:
            raise Unreadable(f"has more than {MAX_LINES:,} transactions", "a statement of fewer; split it")
        comma = "," in entry.amount and "." not in entry.amount
        money = parse_amount(entry.amount, comma)
        kind = book.types.get(("ofx", entry.kind.strip().lower()))
        words = plain_words(entry.name or entry.memo)
        line = lines.line(entry.number, entry.posted, words, None if money is None else -money + 0, entry.mcc, "", kind)
        if isinstance(line, StatementLine):
            if line.category == OTHER and entry.memo:
                line = line._replace(category=lines.categorise(plain_words(f"{entry.name} {entry.memo}"), "", ""))
            line = line._replace(currency=entry.currency)
        yield line


def _qif(text: str, book: StatementBook, hints: Hints) -> StatementReading:
    """On an account and on a card a charge is negative (QIF); its dates have no order of their own."""
    entries = list(qif.read_entries(text))
    if not entries:
        raise Unreadable("is QIF without a transaction", "QIF with the transactions of a card or an account")
    if len(entries) > MAX_LINES:
        raise Unreadable(f"has more than {MAX_LINES:,} transactions", "a statement of fewer; split it")
    readings = [("dmy", "ymd"), ("mdy", "ymd")]
    orders = readings[choose_orders(readings, {entry.day for entry in entries}, hints)]
    comma = uses_decimal_comma(entry.amount for entry in entries)
    lines = LineReader("qif", orders, comma, book, hints)
    reading = []
    for entry in entries:
        money = lines.amount(entry.amount)
        words = plain_words(entry.payee or entry.memo)
        reading.append(
            lines.line(entry.number, entry.day, words, None if money is None else -money + 0, "", entry.category, None)
        )
    return _reading("qif", reading)
