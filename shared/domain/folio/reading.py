"""Reader of a bill in any layout: postings with their days, printed sums and header lines."""

import csv
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import date
from decimal import Decimal
from itertools import pairwise

from shared.domain.folio.kinds import Namer
from shared.domain.folio.layout import Table, find_posted, read_heading
from shared.domain.folio.model import ZERO, Bill, FolioLine, Rulebook
from shared.domain.folio.settle import settle_bill
from shared.domain.folio.stay import is_abroad
from shared.domain.folio.sums import classify_sum
from shared.domain.folio.text import split_lines
from shared.domain.parsing.amounts import (
    CODES,
    Amount,
    find_amounts_at_end,
    find_currency_codes,
    find_stated_currency,
    has_three_decimals,
)
from shared.domain.parsing.dates import DATE, SHORT_DATE, WrittenDate, choose_order, find_dates, read_date
from shared.domain.parsing.text import fold

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
_CSV = re.compile(r"[\s\"]*(?:date|datum|fecha|data|total|balance|saldo|solde)?[^a-z,]{0,14},")
_LABELS = re.compile(
    r"\b(?:guest|gast|name|client|folio|room|arriv\w*|arr|check|in|invoice|rechnung|stay|rate|conf\w*|account|page)\b"
)
_TO_PROGRAMS = re.compile(
    r"\b(ignore|disregard|forget|override)\b.{0,40}\b(instruction|rule|previous|above|finding|prompt)|"
    r"\b(assistant(?! manager)|chatbot|language model|llm|system prompt|ai (model|agent)|as an ai)\b|"
    r"\b(note|message|attention|instructions?) (to|for) (the |any )?(ai|model|bot|auditor)\b|<\|?[a-z_]+\|?>"
)


@dataclass(slots=True)
class _Posting:
    day: WrittenDate | None
    text: str
    amount: Amount | None
    column: str
    amounts: Sequence[Amount]
    points: int | None


@dataclass(slots=True)
class _Page:
    """State of the reader while it goes through the lines."""

    undated: bool  # no line of the bill begins with a date
    postings: list[_Posting] = field(default_factory=list)
    header: list[str] = field(default_factory=list)
    unread: int = 0
    table: Table | None = None
    day: WrittenDate | None = None
    ended: bool = False
    balance: Decimal | None = None
    totals: tuple[Decimal, Decimal] | None = None
    total: Decimal | None = None
    sum_currency: str | None = None


def _find_date_at_start(folded: str) -> tuple[WrittenDate, int] | None:
    """The date a line begins with, and where it ends. A span of two dates is the stay, not a posting."""
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
    """What stands between the date and the amounts, without a posting code and second dates."""
    text = line[start:end].strip(' |;\t,"')
    text = _CODED.sub("", text).strip(' |;\t,"')
    if second := DATE.match(fold(text)):
        text = _CODED.sub("", text[second.end() :].strip(" |;\t,")).strip(" |;\t,")
    text = re.sub(rf"[\s|;]+(?:{'|'.join(CODES)})$", "", text)
    return " ".join(re.sub(r"[|;\t]", " ", text).split())[:80].strip()


def _keep_sums(page: _Page, line: str, kind: str, amounts: Sequence[Amount]) -> None:
    """Keeps what the bill prints as balance and totals; the last of each counts."""
    if not amounts:
        return
    last = amounts[-1]
    page.sum_currency = last.currency or _first_code(line) or page.sum_currency
    if kind == "balance":
        page.balance = last.value
    elif kind == "total" and len(amounts) == 2 and (page.table is None or page.table.two_sided):
        page.totals = (amounts[0].value, abs(amounts[1].value))
    elif kind == "total":
        page.total = last.value
    page.ended = page.ended or kind != "part"


def _read_line(page: _Page, line: str, folded: str, thousandths: bool) -> None:
    """One line: a heading, a sum, a posting, or words about the stay."""
    if _CSV.match(folded) and "  " not in folded and not any(bar in folded for bar in "|;\t"):
        line = "|".join(next(csv.reader([line])))
        folded = fold(line)
    at = _find_date_at_start(folded)
    if at is None and (table := read_heading(folded)):
        page.table = table
        return
    start = at[1] if at else 0
    rest = " " * start + line[start:]
    amounts = find_amounts_at_end(rest, thousandths)
    if kind := classify_sum(folded[start:]):
        _keep_sums(page, line, kind, amounts)
    elif at and (amounts or _find_points(folded[start:])):
        _add_posting(page, at[0], line, start, amounts)
    elif at:
        _keep_date(page, at[0], line, start)
    elif (
        amounts and (page.postings or page.table or page.undated) and not page.ended and not _TO_PROGRAMS.search(folded)
    ):
        _add_posting(page, None, line, 0, amounts)
    else:
        page.header.append(folded)


def _keep_date(page: _Page, day: WrittenDate, line: str, start: int) -> None:
    """A date by itself stands above the postings of that day; with other words the line could not be read."""
    if re.search(r"[^\W\d_]", line[start:]):
        page.header.append(fold(line))
        page.unread += 1
    else:
        page.day = day


def _add_posting(page: _Page, day: WrittenDate | None, line: str, start: int, amounts: Sequence[Amount]) -> None:
    one = find_posted(amounts, page.table, line)
    end = amounts[0].start if amounts else len(line)
    text = _find_description(line, start, end)
    if not re.search(r"[^\W\d_]", text):
        page.unread += 1
        return
    if day is not None:
        page.day = day
    amount, column = one or (None, "")
    page.postings.append(_Posting(day or page.day, text, amount, column, amounts, _find_points(fold(line)[start:])))


def _settle_columns(postings: Sequence[_Posting]) -> None:
    """Two amounts a line and no heading: a running balance, or a charge and a credit of which one is zero."""
    pairs = [p for p in postings if not p.column and len(p.amounts) == 2]
    if len(pairs) < 2 or len(pairs) < len([p for p in postings if p.amount]):
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


def _find_year(order_dates: Sequence[WrittenDate]) -> int | None:
    years = Counter(w.year for w in order_dates if w.year)
    return years.most_common(1)[0][0] if years else None


def _sign_amount(posting: _Posting, credit: bool) -> tuple[Decimal, bool]:
    """The amount with the sign of its column or its own; True when nothing about it is a guess."""
    if posting.amount is None:
        return ZERO, True
    value = posting.amount.value
    if posting.column == "credit":
        return -abs(value), True
    if posting.amount.signed or posting.column == "charge":
        return value, True
    return value, not credit


def _build_line(posting: _Posting, namer: Namer, day: date | None) -> FolioLine:
    folded = fold(posting.text)
    value, _ = _sign_amount(posting, False)
    named = namer.name(folded, value)
    value, settled = _sign_amount(posting, named.credit)
    if named.kind == "payment" and not settled:
        value, settled = -value, True
    return FolioLine(day, posting.text, folded, value, named.kind, named.subject, posting.points, settled)


def _first_code(text: str) -> str | None:
    return next(iter(find_currency_codes(text)), None)


def _find_currency(page: _Page, text: str) -> str | None:
    """Of the printed sum, else of most postings, else the first code the bill names."""
    marks = Counter(p.amount.currency for p in page.postings if p.amount and p.amount.currency)
    printed = page.sum_currency or (marks.most_common(1)[0][0] if marks else _first_code(text))
    return find_stated_currency(text, printed) or printed


def _read_page(text: str, undated: bool) -> _Page:
    page, thousandths = _Page(undated=undated), has_three_decimals(text)
    for line in split_lines(text):
        if line.strip():
            _read_line(page, line, fold(line), thousandths)
    return page


def read_bill(text: str, book: Rulebook) -> Bill:
    """The bill. Lines that look like postings and cannot be read are counted, never guessed."""
    page = _read_page(text, undated=False)
    if not page.postings:
        page = _read_page(text, undated=True)
    _settle_columns(page.postings)
    header = "\n".join(h for h in page.header if not _TO_PROGRAMS.search(h))
    currency = _find_currency(page, text)
    all_dates = [p.day for p in page.postings if p.day] + [w for w, _, _ in find_dates(header)]
    order, year = choose_order(all_dates, currency in (None, "USD")), _find_year(all_dates)
    european = order == "dmy" and any(w.separator and (w.separator == "." or w.first > 12) for w in all_dates)
    namer = Namer(book.kinds, book.words, is_abroad(currency, header, european))
    lines = [_build_line(p, namer, p.day.day(order, year) if p.day else None) for p in page.postings]
    readable = [x for x in lines if x.day or x.kind != "other"]
    bill = Bill(
        lines=readable,
        unread=page.unread + len(lines) - len(readable),
        header=header,
        hotel="\n".join(_LABELS.split(h)[0] for h in page.header[:4]),
        currency=currency,
        printed_balance=page.balance,
        printed_totals=page.totals,
        printed_sum=page.total,
        order=order,
        european=european,
    )
    settle_bill(bill)
    return bill
