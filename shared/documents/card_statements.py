"""Card statements in files and formats of banks, or as rows: their lines and totals. Meant for a process that can end.

It imports nothing of the database: with it each worker's program of readers began with 24 MB and 0.3 s more.
"""

import html
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from shared.documents import bank_statements
from shared.documents.bank_statements import BankEntry
from shared.domain.card_value import CATEGORIES, OTHER
from shared.domain.parsing.amounts import MAX_CELL_AMOUNT, parse_amount, uses_decimal_comma
from shared.domain.parsing.numbers import list_readings
from shared.domain.parsing.text import write_digits
from shared.domain.spending import pasted_text, table
from shared.domain.spending.categories import clean_description as plain_words
from shared.domain.spending.categories import exclude_kind
from shared.domain.spending.line_words import NOT_SETTLED
from shared.domain.spending.model import (
    KINDS,
    MAX_LINES,
    Hints,
    Skipped,
    StatementBook,
    StatementLine,
    StatementReading,
    UnreadableStatement,
)
from shared.domain.spending.proofs import OPEN, RECEIVED, SPENT, MoneyRow, choose_order
from shared.domain.spending.table import LineReader, settle_lines
from shared.domain.spending.totals import StatementTotals, sum_up

# Transactions of QIF files (Quicken Interchange Format), as their fields state them.

_LOOKS_LIKE_QIF = re.compile(r"\s*!(?:Type|Account|Option|Clear)", re.IGNORECASE)
_SECTION = re.compile(r"!Type:\s*(bank|ccard|cash|oth [al])", re.IGNORECASE)
_MAX_QIF_CHARACTERS = 400
# "1/15'26" and "1/15' 6" are years of this century; blanks stand for zeros.
_APOSTROPHE = re.compile(r"'\s*(\d{1,4})$")


@dataclass(frozen=True)
class QifEntry:
    """One transaction as written; a field that is missing is empty. None of it is checked."""

    number: int
    day: str
    amount: str
    payee: str
    memo: str
    category: str


def read_qif_entries(text: str) -> Iterator[QifEntry]:
    """Each transaction of an account or a card; lists of categories, securities and accounts are passed over."""
    fields: dict[str, str] = {}
    number, is_money = 0, False
    for line in text.splitlines():
        line = line.strip()[:_MAX_QIF_CHARACTERS]
        if line.startswith("!"):
            is_money, fields = bool(_SECTION.match(line)), {}
        elif line.startswith("^"):
            if is_money and "D" in fields:
                number += 1
                yield _build_entry(number, fields)
            fields = {}
        elif line:
            fields.setdefault(line[0], line[1:].strip())
    if is_money and {"D", "T"} <= set(fields):  # the last mark is sometimes left out
        yield _build_entry(number + 1, fields)


def _build_entry(number: int, fields: dict[str, str]) -> QifEntry:
    text = fields.get("D", "")
    mark = next((letter for letter in text if letter in "./-"), "/")
    day = _APOSTROPHE.sub(lambda m: f"{mark}{2000 + int(m[1]) if len(m[1]) < 3 else m[1]}", text)
    return QifEntry(
        number,
        day=re.sub(r"(?<=[/.-]) (?=\d)|^ ", "0", day),
        amount=fields.get("T") or fields.get("U", ""),
        payee=fields.get("P", ""),
        memo=fields.get("M", ""),
        category=fields.get("L", "").strip("[]").split(":")[-1],
    )


# Transactions of OFX and QFX statements, as their tags state them.

_LOOKS = re.compile(r"\s*(?:OFXHEADER|<\?xml|<\?OFX|<OFX>)", re.IGNORECASE)
_BEGINS = re.compile(r"<STMTTRN>", re.IGNORECASE)
_ENDS = re.compile(r"</STMTTRN>", re.IGNORECASE)
_CURRENCY = re.compile(r"<CURDEF>\s*([A-Za-z]{3})\b", re.ASCII | re.IGNORECASE)
_STATEMENT = re.compile(r"<(?:CC)?STMTRS>", re.IGNORECASE)
# Of one transaction. Each is read by itself, so that a broken one costs no more than these bounds.
_MAX_CHARACTERS, _MAX_TAGS = 4096, 100
_TOKEN = re.compile(
    r"<!\[CDATA\[(?P<cdata>.*?)\]\]>|<!--.*?-->|<[?!][^>]*>"
    r"|</(?P<end>[A-Za-z_][\w.:-]*)\s*>|<(?P<start>[A-Za-z_][\w.:-]*)[^<>]*?(?P<empty>/?)\s*>",
    re.DOTALL,
)
_ENTITY = re.compile(r"&(?:#\d+|#x[0-9a-f]+|amp|lt|gt|quot|apos|nbsp);", re.IGNORECASE)


@dataclass(frozen=True)
class OfxEntry:
    """One transaction as written; a tag that is missing is empty. None of it is checked."""

    number: int
    posted: str
    amount: str
    name: str
    memo: str
    kind: str
    mcc: str
    currency: str | None


def looks_like_ofx(text: str) -> bool:
    return bool(_LOOKS.match(text)) and "<ofx" in text[:100_000].lower()


def read_entries(text: str) -> Iterator[OfxEntry]:
    """Each transaction, with the currency of its statement unless it has one of its own."""
    parts = _BEGINS.split(text)
    currency = _find_currency(parts[0], None)
    for number, part in enumerate(parts[1:], 1):
        end = _ENDS.search(part)
        yield _read_entry(number, part[: end.start()] if end else part, currency)
        if end:
            currency = _find_currency(part[end.end() :], currency)


def _find_currency(between: str, before: str | None) -> str | None:
    """The currency that holds for what follows; another statement begins with none."""
    match = _CURRENCY.search(between)
    if match:
        return match[1].upper()
    return None if _STATEMENT.search(between) else before


def _read_entry(number: int, part: str, currency: str | None) -> OfxEntry:
    part = part[:_MAX_CHARACTERS]
    if part.count("<") > _MAX_TAGS:
        return OfxEntry(number, "", "", "", "", "", "", None)
    tags = _read_tags(part)
    symbol = tags.get("CURSYM")
    return OfxEntry(
        number,
        posted=tags.get("DTPOSTED", ""),
        amount=tags.get("TRNAMT", ""),
        name=tags.get("NAME", ""),
        memo=tags.get("MEMO", ""),
        kind=tags.get("TRNTYPE", ""),
        mcc=tags.get("SIC", ""),
        currency=symbol.upper() if symbol else currency,
    )


class _Tags:
    """The tags of one transaction, in SGML (OFX 1.x) and XML (2.x) alike.

    SGML leaves out end tags: a start tag ends the element before it where that has text, and an end tag ends all
    that is open above its own start.
    """

    def __init__(self) -> None:
        self.values: dict[str, str] = {}
        self.open: list[str] = []
        self.texts: list[str] = []  # of the innermost element
        self.leaf = False  # nothing stands inside the innermost element so far

    def add_text(self, text: str) -> None:
        if self.leaf and text.strip():
            self.texts.append(text)

    def start(self, tag: str, empty: bool) -> None:
        if self.texts:
            self.end(self.open[-1])
        self.open.append(tag)
        self.leaf = True
        if empty:
            self.end(tag)

    def end(self, tag: str) -> None:
        """The first value of a tag counts. What was paid in before it was converted is left out."""
        if tag not in self.open:
            return
        if self.texts and "ORIGCURRENCY" not in self.open[:-1]:
            self.values.setdefault(self.open[-1], "".join(self.texts).strip())
        while self.open.pop() != tag:
            pass
        self.texts, self.leaf = [], False


def _read_tags(part: str) -> dict[str, str]:
    tags, position = _Tags(), 0
    for token in _TOKEN.finditer(part):
        tags.add_text(_unescape(part[position : token.start()]))
        position = token.end()
        if token["cdata"] is not None:
            tags.add_text(token["cdata"])
        elif token["end"]:
            tags.end(token["end"].upper())
        elif token["start"]:
            tags.start(token["start"].upper(), bool(token["empty"]))
    tags.add_text(_unescape(part[position:]))
    if tags.open:
        tags.end(tags.open[0])
    return tags.values


def _unescape(text: str) -> str:
    """Only the entities OFX names: others, such as "&copy" in "BED&COPY", are left as they are written."""
    return _ENTITY.sub(lambda match: html.unescape(match[0].lower()), text)


MOST_BREAKS = 400_000  # each line of OFX has several, and Windows writes two for one

Rows = Sequence[Mapping[str, Any]]


def read_source(
    source: str | Rows, book: StatementBook, hints: Hints
) -> tuple[StatementReading, StatementTotals] | UnreadableStatement:
    try:
        reading = read_text(source, book, hints) if isinstance(source, str) else read_rows(source, book, hints)
        return reading, sum_up(reading, hints)
    except UnreadableStatement as fault:
        return fault


def read_text(text: str, book: StatementBook, hints: Hints) -> StatementReading:
    """The lines of a statement in any form that is known. Raises UnreadableStatement."""
    text = write_digits(text.removeprefix("\ufeff"))
    if text.count("\n") + text.count("\r") > MOST_BREAKS:
        raise UnreadableStatement(f"has more than {MOST_BREAKS:,} line breaks", "a statement of fewer lines; split it")
    if looks_like_ofx(text):
        return _ofx(text, book, hints)
    if _LOOKS_LIKE_QIF.match(text):
        return _qif(text, book, hints)
    if bank_statements.looks_like_camt(text):
        return _bank("camt", bank_statements.read_camt(text), book, hints)
    if bank_statements.looks_like_mt940(text):
        return _bank("mt940", bank_statements.read_mt940(text), book, hints)
    reading = table.read_table(text, book, hints) or pasted_text.read_pasted_text(text, book, hints)
    if reading is None:
        raise table.explain_failure(text, book)
    return reading


def read_rows(rows: Rows, book: StatementBook, hints: Hints) -> StatementReading:
    """Rows with date, description and amount, positive where money was spent. Raises UnreadableStatement."""
    texts = [str(row.get("date", ""))[:40] for row in rows]
    comma = uses_decimal_comma(money for row in rows if isinstance(money := row.get("amount"), str))
    lines = LineReader("rows", (choose_order(texts, ("dmy", "mdy"), hints), "ymd"), comma, book, hints)
    reading = [_row(lines, number, row) for number, row in enumerate(rows, 1)]
    return _reading("rows", reading)


def _row(lines: LineReader, number: int, row: Mapping[str, Any]) -> StatementLine | Skipped:
    category = str(row.get("category") or "").strip().lower()
    words = plain_words(str(row.get("description") or ""))
    kind = category if category in KINDS else None
    line = lines.line(
        number, str(row.get("date", ""))[:40], words, _read_money(row.get("amount"), lines), "", category, kind
    )
    if isinstance(line, Skipped):
        return line
    if kind == "refund":
        return line
    return line._replace(category=exclude_kind(kind) if kind else category if category in CATEGORIES else line.category)


def _read_money(value: Any, lines: LineReader) -> Decimal | None:
    """None for what is no amount of a statement, or may be two."""
    if isinstance(value, str):
        return None if len(list_readings(value.strip(" -"))) > 1 else lines.amount(value)
    is_amount = isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < MAX_CELL_AMOUNT
    return Decimal(str(value)) if is_amount else None


def _reading(layout: str, reading: Sequence[StatementLine | Skipped]) -> StatementReading:
    lines = [line for line in reading if isinstance(line, StatementLine)]
    return StatementReading(layout, None, lines, [line for line in reading if isinstance(line, Skipped)])


def _ofx(text: str, book: StatementBook, hints: Hints) -> StatementReading:
    lines = LineReader("ofx", ("ymd",), False, book, hints)
    reading = list(_entries(text, book, lines))
    if not reading:
        raise UnreadableStatement("is OFX without a transaction", "OFX with the transactions of a card or an account")
    return _settle("ofx", [line for line, _ in reading], hints, [way for _, way in reading])


def _settle(
    layout: str, read: Sequence[StatementLine | Skipped], hints: Hints, types: Sequence[int] | None = None
) -> StatementReading:
    """In both formats a charge is negative, unless the types of the transactions all say the opposite.

    Some programs write charges of a card without the minus. Raises UnreadableStatement where the types contradict
    each other.
    """
    ways = types or [OPEN] * len(read)
    pairs = [(line, way) for line, way in zip(read, ways, strict=True) if isinstance(line, StatementLine)]
    against = sum((line.amount > 0) == (way == SPENT) for line, way in pairs if way and line.amount)
    typed = sum(1 for line, way in pairs if way and line.amount)
    rows = [
        MoneyRow(line.day, line.description, line.amount, exclude_kind("refund") if line.is_refund else line.category)
        for line, _ in pairs
    ]
    if 0 < against < typed and not hints.positive_is:
        settled = settle_lines([line for line, _ in pairs], rows, hints)
    else:
        settled = settle_lines([line for line, _ in pairs], rows, hints, "positive" if against else "negative")
    return StatementReading(layout, None, settled[0], [line for line in read if isinstance(line, Skipped)])


_OUT_TYPES = ("debit", "pos", "check", "fee", "srvchg", "atm", "cash", "directdebit", "payment", "repeatpmt")
_IN_TYPES = ("credit", "dep", "directdep", "div")


def _entries(text: str, book: StatementBook, lines: LineReader) -> Iterator[tuple[StatementLine | Skipped, int]]:
    """Each with which way its type says that the money went. What the name does not tell, the memo may."""
    of_card = "<CCSTMTRS>" in text.upper()  # a payment of a card, and not one by it
    for entry in read_entries(text):
        if entry.number > MAX_LINES:
            raise UnreadableStatement(f"has more than {MAX_LINES:,} transactions", "a statement of fewer; split it")
        comma = "," in entry.amount and "." not in entry.amount
        money = parse_amount(entry.amount, comma)
        kind = book.types.get(("ofx", entry.kind.strip().lower()))
        words = plain_words(entry.name or entry.memo)
        line = lines.line(entry.number, entry.posted, words, money, entry.mcc, "", kind)
        if isinstance(line, StatementLine):
            if line.category == OTHER and entry.memo:
                line = line._replace(category=lines.categorise(plain_words(f"{entry.name} {entry.memo}"), "", ""))
            line = line._replace(currency=entry.currency)
        kind_word = entry.kind.strip().lower()
        is_out = kind_word in _OUT_TYPES and not (of_card and kind_word == "payment")
        yield line, SPENT if is_out else RECEIVED if kind_word in _IN_TYPES else OPEN


def _bank(slug: str, entries: Sequence[BankEntry], book: StatementBook, hints: Hints) -> StatementReading:
    """The bank states of each amount whether it left the account."""
    if not entries:
        raise UnreadableStatement("has no transaction", "a statement with the transactions of an account")
    if len(entries) > MAX_LINES:
        raise UnreadableStatement(f"has more than {MAX_LINES:,} transactions", "a statement of fewer; split it")
    lines = LineReader(slug, ("ymd",), False, book, hints)
    reading: list[StatementLine | Skipped] = []
    for entry in entries:
        if entry.is_pending:
            reading.append(Skipped(entry.number, NOT_SETTLED))
            continue
        line = lines.line(entry.number, entry.day, plain_words(entry.words), entry.amount, "", "", None)
        reading.append(line if isinstance(line, Skipped) else line._replace(currency=entry.currency))
    return _settle(slug, reading, hints)


def _qif(text: str, book: StatementBook, hints: Hints) -> StatementReading:
    """On an account and on a card a charge is negative (QIF); its dates have no order of their own."""
    entries = list(read_qif_entries(text))
    if not entries:
        raise UnreadableStatement("is QIF without a transaction", "QIF with the transactions of a card or an account")
    if len(entries) > MAX_LINES:
        raise UnreadableStatement(f"has more than {MAX_LINES:,} transactions", "a statement of fewer; split it")
    orders = (choose_order([entry.day for entry in entries], ("dmy", "mdy"), hints), "ymd")
    comma = uses_decimal_comma(entry.amount for entry in entries)
    lines = LineReader("qif", orders, comma, book, hints)
    reading = []
    for entry in entries:
        money = lines.amount(entry.amount)
        words = plain_words(entry.payee or entry.memo)
        reading.append(lines.line(entry.number, entry.day, words, money, "", entry.category, None))
    return _settle("qif", reading, hints)
