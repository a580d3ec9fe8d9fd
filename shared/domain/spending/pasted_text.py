"""Statements pasted as text: lines that begin with a date and end with an amount."""

import re
from collections.abc import Iterator, Sequence
from datetime import date
from typing import NamedTuple

from shared.domain.parsing.amounts import find_common_currency, parse_amount, uses_decimal_comma
from shared.domain.parsing.dates import parse_day
from shared.domain.spending.categories import clean_description
from shared.domain.spending.header import DEFAULT_NAMES
from shared.domain.spending.headless import ANY_ORDER
from shared.domain.spending.line_words import A_BALANCE, find_holder, find_state_in, is_balance
from shared.domain.spending.model import (
    Hints,
    Skipped,
    StatementBook,
    StatementLine,
    StatementReading,
    UnreadableStatement,
)
from shared.domain.spending.proofs import OPEN, RECEIVED, SPENT, MoneyRow, choose_order
from shared.domain.spending.table import NO_AMOUNT, LineReader, find_period, read_mark, settle_lines

_MAX_LINE_CHARACTERS = 300
_MAX_LINES = 25_000  # each costs two and a half times what a line of a table does
_ENDINGS = ("CR", "DR", "-", "CREDIT", "DEBIT")
# Other codes are also last words of merchants' names: TRY, RON, PEN, COP.
_CODES = ("USD", "GBP", "EUR", "CAD", "AUD")
_SIGNS = ("£", "€", "₹", "$", "-", "+")
_CENTS = re.compile(r"[.,]\d{2}(?!\d)|[£€$₹]", re.ASCII)
_WORD = re.compile(r"\S+")
_WORD_MARK = re.compile(r"(?:credit|debit)$", re.IGNORECASE)
_MAX_HEADING, _MAX_TEXT_AROUND = 60, 4000
_SECTION_IN = re.compile(
    r"(?:deposits?|additions|payments? (?:and|&) (?:other )?credits|credits|money in|paid in|refunds|gutschriften|"
    r"eing[aä]nge|d[eé]p[oô]ts|abonos|ingresos|accrediti|entrate|bijschrijvingen)\b(?!.*\b(?:debits?|withdrawals?|"
    r"balance)\b)"
)
_SECTION_OUT = re.compile(
    r"(?:(?:atm|electronic|other|card)(?: (?:and|&))? ?(?:withdrawals|purchases|debits)?\b|withdrawals|purchases|"
    r"debits|"
    r"charges|fees|money out|paid out|checks paid|subtractions|abbuchungen|ausg[aä]nge|retraits|cargos|gastos|addebiti|"
    r"uscite|afschrijvingen)\b(?!.*\b(?:credits?|deposits?|balance)\b)"
)
_YEAR = re.compile(r"(?<!\d)(?:19|20)\d{2}(?!\d)", re.ASCII)
_NO_YEAR = re.compile(
    r"(\d{1,2})[ /-]?([A-Za-z]{3,9})|([A-Za-z]{3,9})\.? (\d{1,2}),?|(\d{1,2})/(\d{1,2})|\d{1,2}\.\d{1,2}\.", re.ASCII
)


class _Piece(NamedTuple):
    """A split line: its date as written, its words, the amounts at its end, and the column the first of them is in."""

    number: int
    when: str
    what: str
    money: tuple[str, ...]
    place: int | None
    way: int  # what the section says in which the line stands


def read_pasted_text(text: str, book: StatementBook, hints: Hints) -> StatementReading | None:
    """None when no line looks like one of a statement."""
    pieces: list[_Piece] = []
    unread: list[Skipped] = []
    latest = None
    section, sides = OPEN, None
    for number, line in enumerate(text.splitlines(), 1):
        if line and len(line) <= _MAX_LINE_CHARACTERS:
            section = _find_section(line, section)
            sides = _find_sides(line) or sides
            piece = _split_line(number, line, section, sides)
            if isinstance(piece, _Piece):
                pieces.append(piece)
            elif piece is not None:
                unread.append(piece)
            if _YEAR.search(line):
                latest = max([*_find_full_dates(line), *([latest] if latest else [])], default=None)
        if len(pieces) > _MAX_LINES:
            raise UnreadableStatement(f"has more than {_MAX_LINES:,} lines", "a statement of fewer lines; split it")
    return _build_reading(text, pieces, unread, latest or hints.today, book, hints) if pieces else None


def _build_reading(
    text: str, pieces: Sequence[_Piece], unread: Sequence[Skipped], latest: date, book: StatementBook, hints: Hints
) -> StatementReading:
    orders = (_find_order([piece.when for piece in pieces], hints, text), "ymd")
    last = max((day for p in pieces if (day := parse_day(p.when, orders))), default=latest)
    comma = uses_decimal_comma(money for piece in pieces for money in piece.money)
    reader = LineReader("text", orders, comma, book, hints)
    for piece in pieces:
        if reader.day(piece.when) is None:
            reader.days[piece.when] = _resolve_year(piece.when, orders, max(last, latest))
    most_with_balance = sum(len(piece.money) > 1 for piece in pieces) * 2 > len(pieces)
    marked = any(read_mark(piece.money[0]) == RECEIVED for piece in pieces)
    lines: list[StatementLine] = []
    money: list[MoneyRow] = []
    skipped = list(unread)
    for piece in pieces:
        line = _build_line(reader, piece, most_with_balance)
        if isinstance(line, Skipped):
            skipped.append(line)
            continue
        balance = parse_amount(piece.money[-1], comma) if len(piece.money) > 1 and most_with_balance else None
        way = piece.way or read_mark(piece.money[0] if balance is not None else piece.money[-1])
        way = way or (SPENT if marked and line.amount > 0 else OPEN)
        lines.append(line)
        money.append(MoneyRow(line.day, line.description, line.amount, line.category, balance, way, piece.place))
    settled, totals = settle_lines(lines, money, hints, holder=find_holder(text[:_MAX_TEXT_AROUND]))
    currency = find_common_currency(money for piece in pieces for money in piece.money)
    settled = [line._replace(currency=currency) for line in settled]
    return StatementReading("text", None, settled, sorted([*skipped, *totals], key=lambda one: one.line))


def _build_line(lines: LineReader, piece: _Piece, balance: bool) -> StatementLine | Skipped:
    words = clean_description(piece.what)
    if state := find_state_in(words):
        return Skipped(piece.number, state)
    if is_balance(words):
        return Skipped(piece.number, A_BALANCE)
    money = parse_amount(piece.money[0] if balance else piece.money[-1], lines.comma)
    return lines.line(piece.number, piece.when, words, money, "", "", None)


def _find_section(line: str, before: int) -> int:
    """Which way the money of the lines below this heading went; a line that is none leaves it as it was."""
    words = line.strip(" :*#-").casefold()
    if any(letter.isdigit() for letter in words) or len(words) > _MAX_HEADING:
        return before
    came_in, went_out = _SECTION_IN.match(words), _SECTION_OUT.match(words)
    return before if bool(came_in) == bool(went_out) else RECEIVED if came_in else SPENT


def _find_order(texts: Sequence[str], hints: Hints, title: str) -> str:
    return choose_order([_add_year(text) for text in texts], ANY_ORDER, hints, find_period(title))


def _add_year(text: str) -> str:
    """Any leap year will do: only the order of day and month is tested, and it has every day."""
    return text if parse_day(text, ANY_ORDER) else _join_year(text, 2024)


def _join_year(text: str, year: int) -> str:
    return f"{text}/{year}" if "/" in text else f"{text}{year}" if text[-1:] == "." else f"{text} {year}"


def _resolve_year(text: str, orders: Sequence[str], latest: date) -> date | None:
    """A day without a year is the last such day up to the end of the statement."""
    for year in range(latest.year, latest.year - 5, -1):
        day = parse_day(_join_year(text.replace(",", ""), year), orders)
        if day is not None and day <= latest:
            return day
    return None


def _find_full_dates(line: str) -> Iterator[date]:
    """The dates in words or ISO form that this line states, which tell the year of the others."""
    words = line.split()[:40]
    for at in range(len(words)):
        for length in (3, 1):
            text = " ".join(words[at : at + length]).strip(",;:()")
            if _YEAR.search(text) and (day := parse_day(text, ANY_ORDER)):
                yield day


def _find_sides(line: str) -> tuple[int, int] | None:
    """Where the names of the two columns end, of a heading that has one for what was spent and one for what came in."""
    ends = {match[0].casefold(): match.end() for match in _WORD.finditer(line.expandtabs())}
    out = [end for word, end in ends.items() if word in DEFAULT_NAMES["debit"]]
    back = [end for word, end in ends.items() if word in DEFAULT_NAMES["credit"]]
    return (out[0], back[0]) if len(out) == len(back) == 1 else None


def _split_line(number: int, line: str, section: int, sides: tuple[int, int] | None) -> _Piece | Skipped | None:
    """None for a line that does not begin with a date."""
    matches = list(_WORD.finditer(line.expandtabs()))
    words = [match[0] for match in matches]
    date_words = _count_date_words(words)
    if not date_words:
        return None
    start, end = date_words, len(words)
    posted_words = _count_date_words(words[start:])  # when it was posted
    if end - start > posted_words + 1:
        start += posted_words
    money: list[str] = []
    place = 0
    while end > start and len(money) < 2 and (used := _count_money_words(words[start:end])):
        place = matches[end - 1].end()
        amount = "".join(words[end - used : end])
        money.insert(0, _WORD_MARK.sub(lambda mark: "CR" if mark[0][0] in "cC" else "DR", amount))
        end -= used
    if not money or not any(c.isalpha() for word in words[start:end] for c in word):
        return Skipped(number, NO_AMOUNT) if not money and _CENTS.search(line) else None
    column = min((0, 1), key=lambda side: abs(sides[side] - place)) if sides else None
    return _Piece(number, " ".join(words[:date_words]), " ".join(words[start:end]), tuple(money), column, section)


def _count_date_words(words: Sequence[str]) -> int:
    """How many words from the first are a date; a year of two digits has to hang on to the rest."""
    for length in (3, 2, 1):
        text = " ".join(words[:length])
        if len(words) > length and (length == 1 or len(words[length - 1].strip(",")) != 2 or length == 2):
            whole = parse_day(text, ANY_ORDER) if length != 2 else None
            if whole or (_NO_YEAR.fullmatch(text) and parse_day(_add_year(text), ANY_ORDER)):
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
