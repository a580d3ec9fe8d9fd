"""Reader of a bill in any layout: its lines with kinds and signs, its currency, and the sums it prints."""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from datetime import date
from decimal import Decimal
from itertools import pairwise

from shared.domain.folio.currency import decide_currency, find_country, pick_amount
from shared.domain.folio.kinds import Namer
from shared.domain.folio.model import TOLERANCE, ZERO, Bill, FolioLine, PrintedSum, Rulebook
from shared.domain.folio.postings import SPACED, TO_PROGRAMS, Page, Posting, read_page
from shared.domain.folio.settle import settle_bill
from shared.domain.folio.stay import is_abroad
from shared.domain.folio.sums import adds_up
from shared.domain.parsing.dates import WrittenDate, choose_order, find_dates
from shared.domain.parsing.text import fold

_LABELS = re.compile(
    r"\b(?:guest|gast|name|client|folio|room|arriv\w*|arr|check|in|invoice|rechnung|stay|rate|conf\w*|account|page)\b"
)


def _settle_columns(postings: Sequence[Posting]) -> None:
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


def _sign_amount(posting: Posting, credit: bool) -> tuple[Decimal, bool]:
    """The amount with the sign of its column or its own; True when nothing about it is a guess."""
    if posting.amount is None:
        return ZERO, True
    value = posting.amount.value
    if posting.column == "credit":
        return -abs(value), True
    if posting.amount.signed or posting.column == "charge":
        return value, True
    return value, not credit


def _build_line(posting: Posting, namer: Namer, day: date | None) -> FolioLine:
    folded = fold(posting.text)
    value, _ = _sign_amount(posting, False)
    named = namer.name(folded, value)
    value, settled = _sign_amount(posting, named.credit)
    if named.kind == "payment" and not settled:
        value, settled = -value, True
    return FolioLine(day, posting.text, folded, value, named.kind, named.subject, posting.points, settled)


def read_bill(text: str, book: Rulebook) -> Bill:
    """The bill. Lines that look like postings and cannot be read are counted, never guessed.

    A blank between digits can part thousands or an amount from a number before it: the reading that adds up holds.
    """
    bill = _build_bill(read_page(text, spaced=False), text, book)
    if not SPACED.search(text):
        return bill
    other = _build_bill(read_page(text, spaced=True), text, book)
    if [x.amount for x in other.lines] == [x.amount for x in bill.lines] or (other.sums and adds_up(other)):
        return other
    return bill if bill.sums and adds_up(bill) else replace(bill, uncertain=True)


def _choose_hotel_lines(page: Page) -> list[str]:
    return [_LABELS.split(line)[0] for line in page.header[:6]]


def _build_bill(page: Page, text: str, book: Rulebook) -> Bill:
    _settle_columns(page.postings)
    address = _choose_hotel_lines(page)
    country = find_country(address, text, book)
    all_dates = [p.day for p in page.postings if p.day] + [w for w, _, _ in find_dates("\n".join(page.header))]
    month_first = choose_order(all_dates, american=False) == "mdy"
    currency = decide_currency(page, text, country, month_first)
    postings = _choose_currency(page, currency)
    header = "\n".join(h for h in page.header if not TO_PROGRAMS.search(h))
    order, year = choose_order(all_dates, currency in (None, "USD")), _find_year(all_dates)
    european = order == "dmy" and any(w.separator and (w.separator == "." or w.first > 12) for w in all_dates)
    namer = Namer(book.kinds, book.words, is_abroad(currency, country, header, european))
    lines = [_build_line(p, namer, p.day.day(order, year) if p.day else None) for p in postings]
    readable = [(p.row, x) for p, x in zip(postings, lines, strict=True) if x.day or x.kind != "other"]
    bill = Bill(
        lines=[x for _, x in readable],
        unread=page.unread + len(lines) - len(readable),
        foreign=len(page.postings) - len(postings),
        header=header,
        hotel="\n".join(address[:4]),
        currency=currency,
        country=country,
        sums=_place_sums(page.sums, currency, [row for row, _ in readable]),
        order=order,
        european=european,
        uncertain=False,
    )
    _name_payments(bill, namer)
    settle_bill(bill)
    return bill


def _name_payments(bill: Bill, namer: Namer) -> None:
    """A credit of no known word that pays the whole balance before it is a payment."""
    balance = ZERO
    for line in bill.lines:
        balance += line.amount
        unnamed = (line.kind, line.subject) == ("adjustment", None) and not namer.words["adjustment"].search(
            line.folded
        )
        if unnamed and line.amount < 0 and abs(balance) <= TOLERANCE:
            line.kind = "payment"


def _choose_currency(page: Page, currency: str | None) -> list[Posting]:
    """Postings in the bill's currency; a line in another one is kept as words only."""
    postings = []
    for posting in page.postings:
        amount = pick_amount(posting, currency)
        if amount is None and posting.amount is not None:
            page.header.append(fold(posting.text))
        else:
            posting.amount = amount
            postings.append(posting)
    return postings


def _place_sums(sums: Sequence[PrintedSum], currency: str | None, rows: Sequence[int]) -> list[PrintedSum]:
    """The sums in the bill's currency, each after as many readable lines as stand before it."""
    own = [s for s in sums if currency is None or not s.currencies or currency in s.currencies]
    return [replace(s, at=sum(row < s.at for row in rows)) for s in own]
