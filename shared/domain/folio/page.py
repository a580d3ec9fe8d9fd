"""Reads a bill's lines into postings, printed sums and header lines."""

import csv
import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise

from shared.domain.folio.arithmetic import keep_proven
from shared.domain.folio.model import ZERO, PrintedSum
from shared.domain.folio.sums import Sum, classify_sum
from shared.domain.folio.text import split_lines
from shared.domain.parsing.amounts import CODES, Amount, find_amounts_at_end, find_currency_codes, has_three_decimals
from shared.domain.parsing.dates import DATE, SHORT_DATE, WrittenDate, read_date
from shared.domain.parsing.text import fold

# Columns of a bill's table, from its heading: which amount of a line was posted, and its meaning.

_WORDS = {
    "charge": r"charges?|debits?|belastung(?:en)?|soll|cargos?|addebit[oi]|dare|debitos?",
    "credit": r"credits?|gutschrift(?:en)?|haben|abonos?|accredit[oi]|avere|creditos?|credito|payments?|zahlungen",
    "amount": r"amount|betrag|montant|importe|importo|valor|total(?:e)?|gesamt|preis|price|prix|bedrag|totaal",
    "balance": r"(?:running )?balance|saldo|solde",
    "other": r"qty|quantity|menge|anzahl|qte|unit(?: price)?|einzelpreis|prix unitaire|rate|"
    r"mwst|vat|tax|tva|iva|net|netto",
    "text": r"description|item|text|details?|particulars|beschreibung|leistung|bezeichnung|libelle|designation|"
    r"omschrijving|descripcion|concepto|descrizione|descricao|transaction|service|reference|code|ref",
    "date": r"date|datum|fecha|data|jour",
}
_WORD = re.compile("|".join(rf"(?P<{name}>\b(?:{words})\b)" for name, words in _WORDS.items()))
_MONEY = ("charge", "credit", "amount", "balance")
_BARS = ("|", "\t", ";")


@dataclass(frozen=True, slots=True)
class Column:
    means: str
    start: int
    end: int
    cell: int


@dataclass(frozen=True, slots=True)
class Table:
    columns: Sequence[Column]
    bar: str | None

    def means(self, amount: Amount, line: str) -> str:
        """The column of an amount: by its cell, or by the nearest heading."""
        if self.bar and self.bar in line:
            cell = line.count(self.bar, 0, amount.end - 1)
            return next((c.means for c in self.columns if c.cell == cell), "amount")
        nearest = min(self.columns, key=lambda c: _measure_distance(c, amount))
        # Where only one of two sides has a known name, amounts away from it are on the other.
        is_other_side = nearest.means == "credit" and not self.two_sided and _measure_distance(nearest, amount)
        return "amount" if is_other_side else nearest.means

    def meanings(self, amounts: Sequence[Amount], line: str) -> list[str]:
        """The meanings of as many amounts as there are headings, in order, even where the text lost its columns."""
        headed = [c.means for c in self.columns if c.means in (*_MONEY, "other")]
        if len(amounts) == len(headed) > 1 and not (self.bar and self.bar in line):
            return headed
        return [self.means(a, line) for a in amounts]

    @property
    def two_sided(self) -> bool:
        return {"charge", "credit"} <= {c.means for c in self.columns}


def _measure_distance(column: Column, amount: Amount) -> int:
    if column.means not in (*_MONEY, "other"):
        return 10_000
    if column.start < amount.end and amount.start < column.end:
        return 0
    return min(abs(column.end - amount.end), abs(column.start - amount.start))


def read_heading(folded: str) -> Table | None:
    """The table a line announces; None when the line is no heading."""
    if re.search(r"\d[.,]\d\d\b|\d{4}|:", folded) or len(folded) < 8:
        return None
    bar = next((b for b in _BARS if b in folded), None)
    if bar is None and "  " not in folded.strip():
        return None  # runs of spaces were collapsed, so positions of columns are lost
    columns = [
        Column(m.lastgroup or "", m.start(), m.end(), folded.count(bar, 0, m.start()) if bar else 0)
        for m in _WORD.finditer(folded)
    ]
    means = {c.means for c in columns}
    if not means & {"charge", "credit", "amount"} or not means & {"text", "date"} or len(columns) > 12:
        return None
    return Table(columns, bar)


def find_posted(amounts: Sequence[Amount], table: Table | None, line: str) -> tuple[Amount, str] | None:
    """The amount of a line that was posted, and the meaning of its column ("" without a table)."""
    if not amounts:
        return None
    if table is None:
        return amounts[-1], ""
    placed = list(zip(amounts, table.meanings(amounts, line), strict=True))
    money = [p for p in placed if p[1] in ("charge", "credit", "amount")]
    return next((p for p in reversed(money) if p[0].value), None) or (money or [(amounts[-1], "")])[-1]


POINTS = re.compile(
    r"(\d[\d.,' ]*\d|\d)\s*(?:(?:reward|honors|bonvoy|ihg|hyatt|bonus)\s+)?"
    r"(?:pts|points?|punkte|punti|puntos|pontos)\b"
)
_CODED = re.compile(r"^(?:\d{2,6}|[A-Z]{1,3}\d{2,5})(?=\s\s|\s*[|;\t])")
_COMPACT = re.compile(r"\s*(20\d{2})(\d{2})(\d{2})(?=[\s|;,])")
_BEFORE_DATE = re.compile(
    r"[\s|;\"]*(?:\d{1,3}(?:[.)]\s|\s{2,}|[|;]))?[\s|;\"]*"
    r"(?:(?:mon|tue|wed|thu|fri|sat|sun)[a-z]*,?\s+)?"
)
# The first cell of a row of a CSV file: a heading or the name of a sum without a number, or a day. In "Total 1,225.00"
# the comma is inside the amount.
_CSV = re.compile(
    r"[\s\"]*(?:(?:date|datum|fecha|data|total|balance|saldo|solde)[^,\d]{0,20}"
    r"|\d{1,4}([./-])\d{1,2}\1\d{1,4}[\s\"]*|\d{1,2}[/-]\d{1,2}\"?|\d{1,2}[ -]?[a-z]{3,9}\.?[ -]?\d{2,4}[\s\"]*|\"?),"
)
TO_PROGRAMS = re.compile(
    r"\b(ignore|disregard|forget|override)\b.{0,40}\b(instruction|rule|previous|above|finding|prompt)|"
    r"\b(assistant(?! manager)|chatbot|language model|llm|system prompt|ai (model|agent)|as an ai)\b|"
    r"\b(note|message|attention|instructions?) (to|for) (the |any )?(ai|model|bot|auditor)\b|<\|?[a-z_]+\|?>"
)
# Currencies without a smaller unit in use (ISO 4217), whose amounts have no decimals.
_WHOLE_UNITS = re.compile(r"[¥￥₩₫]|\b(?:JPY|KRW|VND|IDR|CLP|ISK|HUF)\b|[\u3040-\u30ff]|税|合計")
_LAST_NUMBER = re.compile(r"(?<=[^\s\d|;,#*.:/-]) (?=-?(?:\d{1,3}(?:[,.]\d{3})+|\d{2,7}|0)\s*-?\s*$)")
_CARD_DIGITS = re.compile(r"[x*#]{2,}\s*\d{4}\s*$|\b(?:room|zi\.?|zimmer|no\.?|nr\.?|check|chk)\s*#?\s*\d+\s*$")
_AFTER_WORD = re.compile(r"(?<=[^\W\d_:]) (?=[-+(]?\d)|(?<=:) (?=[-+(]?\d)")
# 1 225,00: one, two or three digits and groups of three, separated by one blank.
SPACED = re.compile(r"(?<![\d.,/:])(?<!\d-)(\d{1,3})((?: \d{3})+)(?=[.,]\d{2}(?!\d))")
# The same after a currency or a minus, where it is unambiguous.
_MARKED = re.compile(
    rf"((?:\b(?:{'|'.join(CODES)})|[$€£])\s?-?\s?|(?<=\s)-\s?)(\d{{1,3}})((?: \d{{3}})+)(?=[.,]\d{{2}}(?!\d))"
)


@dataclass(slots=True)
class Posting:
    day: WrittenDate | None
    text: str
    amount: Amount | None
    column: str
    amounts: Sequence[Amount]
    points: int | None
    row: int  # postings before it
    words: str = ""  # of an undated one below a sum: the whole line, in case it is no posting


@dataclass(slots=True)
class ReaderState:
    """State of the reader while it goes through the lines."""

    undated: bool  # no line of the bill starts with a date
    spaced: bool  # groups of thousands are separated by blanks
    whole_units: bool
    postings: list[Posting] = field(default_factory=list)
    below: list[Posting] = field(default_factory=list)  # undated and below a sum: payments, or only words
    header: list[str] = field(default_factory=list)
    sums: list[PrintedSum] = field(default_factory=list)
    unread: int = 0
    passes_on: bool = False  # it shows the sum of another page
    table: Table | None = None
    day: WrittenDate | None = None
    ended: bool = False
    money_heading: str | None = None  # the one currency the heading of the table names


def read_page(text: str, spaced: bool) -> ReaderState:
    """Reads lines that start with a date as postings; without any, every line with an amount is one.

    If no line has both words and an amount, each line of words has its amount on the next.
    """
    page = _read_lines(text, undated=False, spaced=spaced)
    page = page if page.postings else _read_lines(text, undated=True, spaced=spaced)
    if not page.postings:
        page = _read_lines(_join_pairs(text), undated=True, spaced=spaced)
    _settle_columns(page.postings)
    return page


def _join_pairs(text: str) -> str:
    """Joins each amount that fills a line to the words of the line before."""
    joined: list[str] = []
    for line in filter(str.strip, split_lines(text)):
        amounts = find_amounts_at_end(f"  {line}")
        is_amount = amounts and not re.search(r"\w", f"  {line}"[: amounts[0].start])
        if joined and is_amount and not joined[-1][-1].isdigit():
            joined[-1] += f"  {line.strip()}"
        else:
            joined.append(line)
    return "\n".join(joined)


def _read_lines(text: str, undated: bool, spaced: bool) -> ReaderState:
    page = ReaderState(undated, spaced, _WHOLE_UNITS.search(text) is not None)
    thousandths = has_three_decimals(text)
    for line in split_lines(text):
        if line.strip():
            _read_line(page, line, thousandths)
    return page


def _find_date_at_start(folded: str) -> tuple[WrittenDate, int] | None:
    """The date a line starts with, and where it ends. A span of two dates is the stay, not a posting."""
    before = _BEFORE_DATE.match(folded)
    start = before.end() if before else 0
    for begin in (start, 0) if start else (0,):
        if match := DATE.match(folded, begin) or SHORT_DATE.match(folded, begin):
            if re.match(r"\s*(?:-|to|until|bis|au|al|a|ate)\s*\d", folded[match.end() :]):
                return None
            return read_date(match), match.end()
        if compact := _COMPACT.match(folded, begin):
            year, month, day = map(int, compact.groups())
            return WrittenDate(year, month, day, ""), compact.end()
    return None


def _find_points(folded: str) -> int | None:
    match = POINTS.search(folded)
    digits = re.sub(r"\D", "", match.group(1)) if match else ""
    return int(digits) if 0 < len(digits) <= 9 else None


def _find_description(line: str, start: int, end: int) -> str:
    """The text between the date and the amounts, without a posting code and second dates."""
    text = line[start:end].strip(' |;\t,"')
    text = _CODED.sub("", text).strip(' |;\t,"')
    if second := DATE.match(fold(text)):
        text = _CODED.sub("", text[second.end() :].strip(" |;\t,")).strip(" |;\t,")
    text = re.sub(rf"[\s|;]+(?:{'|'.join(CODES)})$", "", text)
    return " ".join(re.sub(r"[|;\t]", " ", text).split())[:80].strip()


def _keep_sum(page: ReaderState, line: str, kind: Sum, amounts: Sequence[Amount]) -> None:
    """Keeps what the bill prints as balance and totals, with the postings before it."""
    if not amounts:
        return
    last = amounts[-1]
    codes = find_currency_codes(line)
    currencies = last.currencies or ((codes[0],) if codes else ())
    at = len(page.postings) + len(page.below)
    if kind == "total" and len(amounts) == 2 and (page.table is None or page.table.two_sided):
        page.sums.append(PrintedSum("totals", (amounts[0].value, abs(amounts[1].value)), at, currencies))
    elif kind != "part":
        page.sums.append(PrintedSum(kind, (last.value,), at, currencies))
    page.ended = page.ended or kind != "part"
    page.passes_on = page.passes_on or kind == "part"


def _part_amount(page: ReaderState, rest: str, is_sum: bool) -> str:
    """Separates an amount from the words before it, where only one blank divides them."""
    if is_sum:
        rest = SPACED.sub(lambda m: m[1] + m[2].replace(" ", "'"), rest)
        return _AFTER_WORD.sub("  ", rest, count=1)
    rest = _MARKED.sub(lambda m: m[1] + m[2] + m[3].replace(" ", "'"), rest)
    if page.spaced:
        rest = SPACED.sub(lambda m: m[1] + m[2].replace(" ", "'"), rest)
    if page.whole_units and not _CARD_DIGITS.search(fold(rest)):
        rest = _LAST_NUMBER.sub("  ", rest)
    return rest


def _read_line(page: ReaderState, line: str, thousandths: bool) -> None:
    """One line: a heading, a sum, a posting, or words about the stay."""
    folded = fold(line)
    if _CSV.match(folded) and "  " not in folded and not any(bar in folded for bar in "|;\t"):
        line = "|".join(next(csv.reader([line])))
        folded = fold(line)
    at = _find_date_at_start(folded)
    if at is None and (table := read_heading(folded)):
        page.table = table
        codes = set(find_currency_codes(line))
        page.money_heading = codes.pop() if len(codes) == 1 else None
        return
    start = at[1] if at else 0
    kind = classify_sum(folded[start:])
    line = line[:start] + _part_amount(page, line[start:], kind is not None)
    folded = fold(line)
    amounts = find_amounts_at_end(" " * start + line[start:], thousandths)
    if kind:
        _keep_sum(page, line, kind, amounts)
    elif at and (amounts or _find_points(folded[start:])):
        _add_posting(page, at[0], line, start, amounts)
    elif at:
        _keep_date(page, at[0], line, start)
    elif amounts and (page.postings or page.table or page.undated) and not TO_PROGRAMS.search(folded):
        _add_posting(page, None, line, 0, amounts)
    else:
        page.header.append(folded)


def _keep_date(page: ReaderState, day: WrittenDate, line: str, start: int) -> None:
    """Keeps a date on a line by itself for the postings below; with other words the line is unreadable."""
    if re.search(r"[^\W\d_]", line[start:]):
        page.header.append(fold(line))
        page.unread += 1
    else:
        page.day = day


def _add_posting(page: ReaderState, day: WrittenDate | None, line: str, start: int, amounts: Sequence[Amount]) -> None:
    is_below = page.ended and day is None
    posted = keep_proven(amounts, line[start : amounts[0].start] if amounts else "")
    one = find_posted(posted, page.table, line)
    end = amounts[0].start if amounts else len(line)
    text = _find_description(line, start, end)
    if not re.search(r"[^\W\d_]", text):
        if is_below:
            page.header.append(fold(line))
        page.unread += not is_below
        return
    if day is not None:
        page.day = day
    amount, column = one or (None, "")
    points = _find_points(fold(line)[start:])
    rows = page.below if is_below else page.postings
    words, column = (fold(line), "") if is_below else ("", column)  # text below a table has no columns
    row = len(page.postings) + len(page.below)
    rows.append(Posting(day or page.day, text, amount, column, posted, points, row, words))


def _settle_columns(postings: Sequence[Posting]) -> None:
    """Two amounts a line and no heading: a running balance, or a charge and a credit, one of them zero."""
    pairs = [p for p in postings if not p.column and len(p.amounts) == 2]
    carried = {b.row for a, b in pairwise(pairs) if {x.value for x in b.amounts} == {a.amounts[1].value}}
    pairs = [p for p in pairs if p.row not in carried]
    if len(pairs) < 2 or len(pairs) + len(carried) < len([p for p in postings if p.amount]):
        return
    steps = [(b.amounts[1].value - a.amounts[1].value, b.amounts[0].value) for a, b in pairwise(pairs)]
    if all(abs(step) == abs(value) for step, value in steps):
        first = pairs[0].amounts[1].value - pairs[0].amounts[0].value
        for posting, (step, _) in zip(pairs, [(pairs[0].amounts[1].value - first, ZERO), *steps], strict=True):
            posting.amount = replace(posting.amounts[0], value=step, signed=True)
    elif all(p.amounts[0].value == 0 or p.amounts[1].value == 0 for p in pairs):
        for posting in pairs:
            side = 0 if posting.amounts[0].value else 1
            posting.amount, posting.column = posting.amounts[side], ("charge", "credit")[side]
