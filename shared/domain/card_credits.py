"""Credits of cards by cycle: the days of a cycle, what is used and open, and when it ends."""

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from decimal import Decimal
from typing import Literal, get_args

from shared.domain import names
from shared.domain.dates import add_months, format_day, format_weekday
from shared.domain.spending.model import StatementLine

# yearly: once a year, where it is not known which year the issuer counts.
Cycle = Literal["monthly", "quarterly", "half_yearly", "calendar_year", "anniversary", "yearly"]
CYCLES: tuple[str, ...] = get_args(Cycle)
CYCLES_A_YEAR: dict[str, int] = {
    "monthly": 12,
    "quarterly": 4,
    "half_yearly": 2,
    "calendar_year": 1,
    "anniversary": 1,
    "yearly": 1,
}
_MONTHS: dict[str, int] = {"monthly": 1, "quarterly": 3, "half_yearly": 6, "calendar_year": 12}
# Days before its end when an open credit counts as due: fewer for shorter cycles.
DUE_SOON: dict[str, int] = {"monthly": 10, "quarterly": 30, "half_yearly": 45, "calendar_year": 60, "anniversary": 60}
_WORDS: dict[str, str] = {
    "monthly": "a month",
    "quarterly": "a quarter",
    "half_yearly": "a half-year",
    "calendar_year": "a calendar year",
    "anniversary": "a year of the card",
    "yearly": "a year",
}


_GIVEN_BACK = re.compile(r"\b(credit|reimbursement)\b", re.IGNORECASE)  # of the issuer, never of a shop


@dataclass(frozen=True)
class Credit:
    """Money a card gives back each cycle, from a day to a day.

    `counts`: it pays for travel of any kind, so it counts in the value of the card; the others depend on the person.
    `merchants`: words by which statements name where it is spent; empty if none is certain.
    """

    credit: str
    name: str
    enrolment: bool
    merchants: tuple[str, ...]
    amount: Decimal
    currency: str
    cycle: str
    counts: bool
    valid_from: date | None
    valid_to: date | None


@dataclass(frozen=True)
class Period:
    """The days of one cycle, both included."""

    first: date
    last: date


@dataclass(frozen=True)
class CreditState:
    """A credit in one cycle. `period` is None if the days of the cycle are unknown; then nothing ends."""

    period: Period | None
    amount: Decimal
    used: Decimal
    days_left: int | None
    due_soon: bool

    @property
    def open(self) -> Decimal:
        return max(self.amount - self.used, Decimal(0))


def find_period(cycle: str, day: date, opened_on: date | None) -> Period | None:
    """The cycle of a day. None: yearly without a known year, or the card's year without its opening day.

    A card opened on 29 February starts its other years on 28 February, as the fee does.
    """
    if cycle == "anniversary":
        return None if opened_on is None or day < opened_on else _find_card_year(opened_on, day)
    months = _MONTHS.get(cycle)
    if months is None:
        return None
    first = date(day.year, (day.month - 1) // months * months + 1, 1)
    return Period(first, add_months(first, months) - timedelta(days=1))


def _find_card_year(opened_on: date, day: date) -> Period:
    years = day.year - opened_on.year
    if add_months(opened_on, 12 * years) > day:
        years -= 1
    return Period(add_months(opened_on, 12 * years), add_months(opened_on, 12 * (years + 1)) - timedelta(days=1))


def find_state(
    credit: Credit, today: date, opened_on: date | None, closed_on: date | None, used: Mapping[date, Decimal]
) -> CreditState:
    """The used part of a credit in today's cycle. `used` has the amounts by the first day of a cycle.

    Withdrawing a credit, or closing a card, ends the cycle early. If the cycle is unknown,
    amounts stored for this calendar year count as used.
    """
    period = find_period(credit.cycle, today, opened_on)
    if period is None:
        return CreditState(None, credit.amount, used.get(date(today.year, 1, 1), Decimal(0)), None, False)
    ends = [day for day in (credit.valid_to, closed_on) if day is not None]
    last = min([period.last, *ends])
    spent = sum((amount for start, amount in used.items() if period.first <= start <= period.last), Decimal(0))
    days_left = (last - today).days
    is_due = 0 <= days_left <= DUE_SOON[credit.cycle] and spent < credit.amount
    return CreditState(Period(period.first, last), credit.amount, spent, days_left, is_due)


def find_cycle_start(cycle: str, day: date, opened_on: date | None) -> date:
    """The day that a credit's use is stored under: the first of its cycle, else 1 January."""
    period = find_period(cycle, day, opened_on)
    return period.first if period else date(day.year, 1, 1)


@dataclass(frozen=True)
class SeenUse:
    """A credit's use in one cycle, from a statement of the same card.

    `is_proved`: the issuer reimbursed it, or it was spent on a credit that needs no activation.
    """

    credit: str
    name: str
    currency: str
    cycle_start: date
    day: date
    amount: Decimal
    is_given_back: bool
    is_proved: bool

    def describe(self) -> str:
        how = "credited" if self.is_given_back else "spent where it counts"
        return f"{self.amount:,.2f} {self.currency} {how}, the last on {format_day(self.day)}"


def find_uses(
    credits: Iterable[Credit], lines: Sequence[StatementLine], currency: str, opened_on: date | None
) -> list[SeenUse]:
    """The credits whose merchants the lines name, by cycle; never more than the credit, and refunds do not count.

    If the issuer's own line of a credit is there, purchases are ignored: they are the same money.
    """
    texts = [f" {names.normalize_name(line.description)} " for line in lines]
    uses = []
    for credit in credits:
        by_cycle: dict[date, list[StatementLine]] = defaultdict(list)
        for line, text in zip(lines, texts, strict=True):
            is_named = any(f" {names.normalize_name(merchant)} " in text for merchant in credit.merchants)
            if is_named and (line.currency or currency) == credit.currency and _is_within(credit, line.day, opened_on):
                by_cycle[find_cycle_start(credit.cycle, line.day, opened_on)].append(line)
        uses += [use for start, own in sorted(by_cycle.items()) if (use := _sum_use(credit, start, own))]
    return uses


def _is_within(credit: Credit, day: date, opened_on: date | None) -> bool:
    """Whether the credit was given on a day, and in a cycle that is known."""
    if (credit.valid_from and day < credit.valid_from) or (credit.valid_to and day > credit.valid_to):
        return False
    return credit.cycle != "anniversary" or find_period(credit.cycle, day, opened_on) is not None


def _sum_use(credit: Credit, start: date, lines: Sequence[StatementLine]) -> SeenUse | None:
    given_back = [line for line in lines if line.amount < 0 and _GIVEN_BACK.search(line.description)]
    counted = given_back or lines
    amount = abs(sum((line.amount for line in counted), Decimal(0)))
    if not amount or (not given_back and sum(line.amount for line in lines) <= 0):
        return None
    return SeenUse(
        credit=credit.credit,
        name=credit.name,
        currency=credit.currency,
        cycle_start=start,
        day=max(line.day for line in counted),
        amount=min(amount, credit.amount),
        is_given_back=bool(given_back),
        is_proved=bool(given_back) or not credit.enrolment,
    )


def sum_counted(credits: Iterable[Credit], currency: str) -> Decimal | None:
    """A year's credits for travel of any kind; None if no credit of the card is known."""
    all_credits = list(credits)
    if not all_credits:
        return None
    yearly_amounts = (c.amount * CYCLES_A_YEAR[c.cycle] for c in all_credits if c.counts and c.currency == currency)
    return sum(yearly_amounts, Decimal(0))


def sum_uncounted(credits: Iterable[Credit], currency: str) -> Decimal:
    """A year's credits whose worth depends on the person."""
    others = (c.amount * CYCLES_A_YEAR[c.cycle] for c in credits if not c.counts and c.currency == currency)
    return sum(others, Decimal(0))


def describe_cycle(cycle: str) -> str:
    return _WORDS[cycle]


def describe_state(name: str, credit: Credit, state: CreditState) -> str:
    """`Resy credit: 40 of 50 USD open until Thu 31 Dec 2026.`"""
    amounts = f"{_plain(state.open)} of {_plain(state.amount)} {credit.currency} open"
    if state.period is None and credit.cycle == "anniversary":
        return f"{name}: {amounts} {describe_cycle(credit.cycle)}; record opened_on to know when that ends."
    if state.period is None:
        return f"{name}: {amounts} {describe_cycle(credit.cycle)}; when that year ends is not known."
    return f"{name}: {amounts} until {format_weekday(state.period.last)}."


def _plain(amount: Decimal) -> str:
    return f"{amount:,.0f}" if amount == amount.to_integral_value() else f"{amount:,.2f}"
