"""Statements pasted as text: lines that start with a date and end with an amount."""

import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import date
from decimal import Decimal
from typing import NamedTuple

from shared.domain.parsing.amounts import CODES, find_common_currency, parse_amount, uses_decimal_comma
from shared.domain.parsing.dates import parse_day
from shared.domain.spending.categories import clean_description
from shared.domain.spending.header import DEFAULT_NAMES
from shared.domain.spending.headless import ANY_ORDER
from shared.domain.spending.line_words import A_BALANCE, find_holder, find_state_in, find_state_of_heading, is_balance
from shared.domain.spending.model import (
    Hints,
    Skipped,
    StatementBook,
    StatementLine,
    StatementReading,
    UnreadableStatement,
)
from shared.domain.spending.proofs import OPEN, RECEIVED, SPENT, MoneyRow, choose_order
from shared.domain.spending.table import NO_AMOUNT, LineReader, find_period, find_written_order, read_mark, settle_lines

_MAX_LINE_CHARACTERS = 300
_MAX_LINES = 25_000  # each costs two and a half times what a line of a table does
_ENDINGS = ("CR", "DR", "-", "+", "CREDIT", "DEBIT")
# Other codes are also last words of merchants' names: TRY, RON, PEN, COP.
_CODES = ("USD", "GBP", "EUR", "CAD", "AUD")
_SIGNS = ("£", "€", "₹", "$", "-", "+")
_CENTS = re.compile(r"[.,]\d{2}(?!\d)|[£€$₹]", re.ASCII)
_WORD = re.compile(r"\S+")
_WORD_MARK = re.compile(r"(?:credit|debit)$", re.IGNORECASE)
_MAX_HEADING, _MAX_TEXT_AROUND, _MOST_WORDS = 60, 4000, 12
_SECTION_IN = re.compile(
    r"(?:deposits?|additions|payments? (?:and|&) (?:other )?credits|credits|money in|paid in|refunds|gutschriften|"
    r"eing[aä]nge|d[eé]p[oô]ts|abonos|ingresos|accrediti|entrate|bijschrijvingen)\b(?!.*\b(?:debits?|withdrawals?|"
    r"balance)\b)"
)
_SECTION_OUT = re.compile(
    r"(?:(?:atm|electronic|other|card)(?: (?:and|&))? ?(?:withdrawals|purchases|debits)?\b|withdrawals|purchases|"
    r"debits|purchase|compras?|achats?|acquisti|eink[aä]ufe|aankopen|zakupy|"
    r"charges|fees|money out|paid out|checks paid|subtractions|abbuchungen|ausg[aä]nge|retraits|cargos|gastos|addebiti|"
    r"uscite|afschrijvingen)\b(?!.*\b(?:credits?|deposits?|balance)\b)"
)
# Heads of the two columns of a card that is billed in two currencies.
_MONEY_NAMES = {"pesos": None, "dólares": "USD", "dolares": "USD", "u$s": "USD", "us$": "USD", "soles": None}
_YEAR = re.compile(r"(?<!\d)(?:19|20)\d{2}(?!\d)", re.ASCII)
_NO_YEAR = re.compile(
    r"(\d{1,2})[ /-]?([A-Za-z]{3,9})|([A-Za-z]{3,9})\.? (\d{1,2}),?|(\d{1,2})/(\d{1,2})|\d{1,2}\.\d{1,2}\."
    r"|(?:[0-2]\d|3[01])\.(?:0\d|1[0-2])",
    re.ASCII,
)
# "1 400.00" that begins a cell, has a sign, or stands behind another amount: what is before the blank cannot belong to
# the words. A blank that does not break, which banks put between thousands, needs no such proof.
_BLANK_GROUPS = re.compile(
    r"(?:(?<=\s\s)|(?<=[.,]\d\d\s)|(?<=[.,]\d\d\s[CD]R\s)|(?<=\s)[-+])\d{1,3}(?: \d{3})+(?=[.,]\d\d(?!\d))"
    r"|(?<![\d.,])\d{1,3}(?:[\u00a0\u2009\u202f]\d{3})+(?=[.,]\d\d(?!\d))",
    re.ASCII,
)
# "SHELL 12 450.00" in such a text: a shop's number or thousands.
_LAST_DIGITS, _THREE_DIGITS = re.compile(r"(?<!\S)\d{1,3}$", re.ASCII), re.compile(r"\d{3}[.,]", re.ASCII)
_TWO_AMOUNTS = "the amount can be read with and without the digits before the blank"
_SHORT_DAY = re.compile(r"(?:[0-2]\d|3[01])\.(?:0\d|1[0-2])\.?", re.ASCII)


class _Piece(NamedTuple):
    """A split line: its date as written, its words, the amounts at its end, and the column the first of them is in."""

    number: int
    when: str
    what: str
    money: tuple[str, ...]
    place: int | None
    way: int  # what the line's section says
    currency: str | None  # of the column, where there is one for each of two


def read_pasted_text(text: str, book: StatementBook, hints: Hints) -> StatementReading | None:
    """Reads it; None if neither single lines nor joined entries look like a statement."""
    return _read_lines(text, book, hints) or _read_lines(_join_entries(text), book, hints)


def _join_entries(text: str) -> str:
    """Joins the entries of a bank's app, which have lines for day, shop and amount, into one line each."""
    day, out = "", []
    words: list[str] = []
    for line in text.splitlines():
        parts = line.split()[:_MOST_WORDS]
        joined = ""
        if parts and len(line) < _MAX_HEADING:
            texts = (" ".join(parts), " ".join(parts[1:]))  # "Thursday" may precede the day
            own_day = next((d for d in texts if d and parse_day(_add_year(d), ANY_ORDER)), None)
            if own_day:
                day, words = own_day, []
            elif _count_money_words(parts) == len(parts):
                joined, words = f"{day} {' '.join(words)} {line}" if day and words else "", []
            else:
                words = [*words, *parts][-_MOST_WORDS:]
        out.append(joined)
    return "\n".join(out)


def _read_lines(text: str, book: StatementBook, hints: Hints) -> StatementReading | None:
    pieces: list[_Piece] = []
    unread: list[Skipped] = []
    latest = None
    section, sides, currencies, state = OPEN, None, None, None
    may_end = False
    for number, line in enumerate(text.splitlines(), 1):
        if line and len(line) <= _MAX_LINE_CHARACTERS:
            section, state = _find_section(line, section, state, may_end)
            sides = _find_sides(line) or sides
            currencies = _find_currencies(line) or currencies
            piece = _split_line(number, line, section, sides, currencies)
            if isinstance(piece, _Piece) and state:
                unread.append(Skipped(number, state))
            elif isinstance(piece, _Piece):
                pieces.append(piece)
            elif piece is not None:
                unread.append(piece)
            may_end = piece is None and any(letter.isdigit() for letter in line)
            if _YEAR.search(line):
                latest = max([*_find_full_dates(line), *([latest] if latest else [])], default=None)
        elif not line.strip():
            may_end = True
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
    by_sums = _prove_columns(text, pieces, comma)
    has_blanks = _BLANK_GROUPS.search(text.expandtabs()) is not None
    # Money of both signs below a heading of money that came in: the lines of another heading, which was not known.
    mixed = len({piece.money[0].startswith("-") for piece in pieces if piece.way == RECEIVED}) == 2
    marked = any(read_mark(piece.money[0]) == RECEIVED for piece in pieces)
    lines: list[StatementLine] = []
    money: list[MoneyRow] = []
    skipped = list(unread)
    for piece in pieces:
        if has_blanks and _LAST_DIGITS.search(piece.what) and _THREE_DIGITS.match(piece.money[0]):
            skipped.append(Skipped(piece.number, _TWO_AMOUNTS))
            continue
        line = _build_line(reader, piece, most_with_balance)
        if isinstance(line, Skipped):
            skipped.append(line)
            continue
        balance = parse_amount(piece.money[-1], comma) if len(piece.money) > 1 and most_with_balance else None
        way = (
            by_sums.get(piece.place, OPEN)
            or (OPEN if mixed and piece.way == RECEIVED else piece.way)
            or read_mark(piece.money[0] if balance is not None else piece.money[-1])
        )
        way = way or (SPENT if marked and line.amount > 0 else OPEN)
        lines.append(line)
        money.append(MoneyRow(line.day, line.description, line.amount, line.category, balance, way, piece.place))
    settled, totals = settle_lines(lines, money, hints, holder=find_holder(text[:_MAX_TEXT_AROUND]))
    currency = find_common_currency(money for piece in pieces for money in piece.money)
    settled = [line._replace(currency=line.currency or currency) for line in settled]
    return StatementReading("text", None, settled, sorted([*skipped, *totals], key=lambda one: one.line))


def _prove_columns(text: str, pieces: Sequence[_Piece], comma: bool) -> dict[int | None, int]:
    """Which way the money of each of the two columns went, where a line of totals has the sums of both under their
    names; nothing where none has."""
    sums = [Decimal(0), Decimal(0)]
    for piece in pieces:
        if piece.place is None or len(piece.money) > 1:
            return {}
        sums[piece.place] += parse_amount(piece.money[0], comma) or 0
    for line in text.splitlines() if pieces and sums[0] != sums[1] else ():
        words = line.casefold().split()
        is_total = len(line) <= _MAX_LINE_CHARACTERS and words and words[0].startswith("total")
        if is_total and [amount for word in words if (amount := parse_amount(word, comma))] == sums:
            return {0: SPENT, 1: RECEIVED}
    return {}


def _build_line(lines: LineReader, piece: _Piece, balance: bool) -> StatementLine | Skipped:
    words = clean_description(piece.what)
    if state := find_state_in(words):
        return Skipped(piece.number, state)
    if is_balance(words):
        return Skipped(piece.number, A_BALANCE)
    money = parse_amount(piece.money[0] if balance else piece.money[-1], lines.comma)
    line = lines.line(piece.number, piece.when, words, money, "", "", None)
    return line if isinstance(line, Skipped) else line._replace(currency=piece.currency)


def _find_section(line: str, before: int, state: str | None, may_end: bool) -> tuple[int, str | None]:
    """Which way the money below this heading went, and why it is not counted; unchanged by a line that is no heading.

    `may_end`: a gap or a sum came before; then a heading in other words is that of another section.
    """
    words = line.strip(" :*#-").casefold()
    if any(letter.isdigit() for letter in words) or len(words) > _MAX_HEADING or not words:
        return before, state
    came_in, went_out = _SECTION_IN.match(words), _SECTION_OUT.match(words)
    if bool(came_in) != bool(went_out):
        return RECEIVED if came_in else SPENT, None
    state = find_state_of_heading(words, state)
    is_of_columns = not {*words.split()}.isdisjoint((*DEFAULT_NAMES["date"], *DEFAULT_NAMES["amount"]))
    return (OPEN if may_end and not is_of_columns else before), state


def _find_order(texts: Sequence[str], hints: Hints, title: str) -> str:
    days = [_add_year(text) for text in texts]
    return choose_order(days, ANY_ORDER, hints, find_period(title), find_written_order(title))


def _add_year(text: str) -> str:
    """Adds a year; any leap year will do, as only the order of day and month is tested."""
    return text if parse_day(text, ANY_ORDER) else _join_year(text, 2024)


def _join_year(text: str, year: int) -> str:
    mark = "/" if "/" in text else "" if text[-1:] == "." else "." if "." in text and text[-1:].isdigit() else " "
    return f"{text}{mark}{year}"


def _resolve_year(text: str, orders: Sequence[str], latest: date) -> date | None:
    """Gives a day its year: the last such day up to the end of the statement."""
    for year in range(latest.year, latest.year - 5, -1):
        day = parse_day(_join_year(text.replace(",", ""), year), orders)
        if day is not None and day <= latest:
            return day
    return None


def _find_full_dates(line: str) -> Iterator[date]:
    """The dates in words or ISO form in this line, which give the year of the others."""
    words = line.split()[:40]
    for at in range(len(words)):
        for length in (3, 1):
            text = " ".join(words[at : at + length]).strip(",;:()")
            if _YEAR.search(text) and (day := parse_day(text, ANY_ORDER)):
                yield day


def _find_sides(line: str) -> tuple[int, int] | None:
    """The ends of the two column names in a heading with one for money out and one for money in."""
    ends = {match[0].casefold(): match.end() for match in _WORD.finditer(line.expandtabs())}
    out = [end for word, end in ends.items() if word in DEFAULT_NAMES["debit"]]
    back = [end for word, end in ends.items() if word in DEFAULT_NAMES["credit"]]
    return (out[0], back[0]) if len(out) == len(back) == 1 else None


def _find_currencies(line: str) -> dict[int, str | None] | None:
    """The ends of the names of two columns, one for each currency, and these; of the country's own nothing."""
    if any(map(str.isdigit, line)):
        return None
    names = [(match.end(), match[0]) for match in _WORD.finditer(line.expandtabs())]
    currencies = {
        end: _MONEY_NAMES.get(name.casefold(), name)
        for end, name in names
        if name.casefold() in _MONEY_NAMES or name in CODES
    }
    return currencies if len(set(currencies.values())) == 2 == len(currencies) else None


def _split_line(
    number: int,
    line: str,
    section: int,
    sides: tuple[int, int] | None,
    currencies: Mapping[int, str | None] | None,
) -> _Piece | Skipped | None:
    """Splits a line; None if it does not start with a date."""
    line = _BLANK_GROUPS.sub(lambda groups: "'".join(groups[0].split()), line.expandtabs())
    matches = list(_WORD.finditer(line))
    words = [match[0] for match in matches]
    date_words = _count_date_words(words)
    if not date_words:
        return None
    start, end = date_words, len(words)
    posted_words = _count_date_words(words[start:])  # when it was posted
    if end - start > posted_words + 1:
        start += posted_words
    money: list[str] = []
    places: list[int] = []
    while end > start and len(money) < 2 and (used := _count_money_words(words[start:end])):
        places.insert(0, matches[end - 1].end())
        amount = "".join(words[end - used : end])
        money.insert(0, _WORD_MARK.sub(lambda mark: "CR" if mark[0][0] in "cC" else "DR", amount))
        end -= used
    if len(money) > 1 and _SHORT_DAY.fullmatch(money[0]) and _SHORT_DAY.fullmatch(words[0]) and "," in money[1][-3:]:
        del money[0], places[0]  # the day of value, in a column of its own
    if not money or not any(c.isalpha() for word in words[start:end] for c in word):
        return Skipped(number, NO_AMOUNT) if not money and _CENTS.search(line) else None
    column = min((0, 1), key=lambda side: abs(sides[side] - places[0])) if sides else None
    currency = None
    if currencies and len(places) == 1:
        currency = currencies[min(currencies, key=lambda side: abs(side - places[0]))]
    what = " ".join(words[start:end])
    return _Piece(number, " ".join(words[:date_words]), what, tuple(money), column, section, currency)


def _count_date_words(words: Sequence[str]) -> int:
    """The number of words at the start that form a date; a two-digit year must be attached."""
    for length in (3, 2, 1):
        text = " ".join(words[:length])
        if len(words) > length and (length == 1 or len(words[length - 1].strip(",")) != 2 or length == 2):
            whole = parse_day(text, ANY_ORDER) if length != 2 else None
            if whole or (_NO_YEAR.fullmatch(text) and parse_day(_add_year(text), ANY_ORDER)):
                return length
    return 0


def _count_money_words(words: Sequence[str]) -> int:
    """How many words at the end are an amount: a currency or CR may be separate."""
    used, text = 1, words[-1].upper()
    if text in (*_ENDINGS, *_CODES) and len(words) > 1:
        used, text = 2, words[-2].upper()
    if not _CENTS.search(text) or (parse_amount(text) is None and parse_amount(text, comma=True) is None):
        return 0
    if len(words) > used and words[-used - 1].upper() in (*_SIGNS, *_CODES):
        used += 1
    return used
