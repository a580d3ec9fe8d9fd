"""Credits of cards by cycle: which days a cycle holds, what of it is used, what is open, and when it ends."""

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from decimal import Decimal
from typing import Literal, Protocol, get_args

from shared.domain import names
from shared.domain.dates import add_months, format_day, format_weekday
from shared.domain.spending.model import StatementLine

# yearly: once a year, and it is not known which year the issuer counts.
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
# Days before its end from which an open credit is due soon: the shorter the cycle, the later.
DUE_SOON: dict[str, int] = {"monthly": 10, "quarterly": 30, "half_yearly": 45, "calendar_year": 60, "anniversary": 60}
_WORDS: dict[str, str] = {
    "monthly": "a month",
    "quarterly": "a quarter",
    "half_yearly": "a half-year",
    "calendar_year": "a calendar year",
    "anniversary": "a year of the card",
    "yearly": "a year",
}


_GIVEN_BACK = re.compile(r"\b(credit|reimbursement)\b", re.IGNORECASE)  # of the issuer, and never of a shop


class Credit(Protocol):
    @property
    def credit(self) -> str: ...
    @property
    def name(self) -> str: ...
    @property
    def enrolment(self) -> bool: ...
    @property
    def merchants(self) -> tuple[str, ...]: ...
    @property
    def amount(self) -> Decimal: ...
    @property
    def currency(self) -> str: ...
    @property
    def cycle(self) -> str: ...
    @property
    def counts(self) -> bool: ...
    @property
    def valid_from(self) -> date | None: ...
    @property
    def valid_to(self) -> date | None: ...


@dataclass(frozen=True)
class Period:
    """The days of one cycle, both included."""

    first: date
    last: date


@dataclass(frozen=True)
class CreditState:
    """A credit in one cycle. `period` is None where the days of the cycle cannot be told; then nothing ends."""

    period: Period | None
    amount: Decimal
    used: Decimal
    days_left: int | None
    due_soon: bool

    @property
    def open(self) -> Decimal:
        return max(self.amount - self.used, Decimal(0))


def find_period(cycle: str, day: date, opened_on: date | None) -> Period | None:
    """The cycle a day lies in. None: yearly without a known year, or the card's year without its opening day.

    A card opened on 29 February begins its other years on 28 February, as the fee does.
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
    """What of a credit is used in the cycle of today. `used` is the amount used by the first day of a cycle.

    A credit that is withdrawn, or a card that is closed, within the cycle ends it early. Where no cycle can be told,
    what is kept under this calendar year counts as used.
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
    """The day under which the use of a credit is kept: the first of its cycle, else the first of January."""
    period = find_period(cycle, day, opened_on)
    return period.first if period else date(day.year, 1, 1)


@dataclass(frozen=True)
class SeenUse:
    """What a statement of the very card shows of a credit in one cycle.

    `is_proved`: the issuer gave it back, or it was spent where nothing has to be activated before.
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
    """The credits whose merchants the lines name, by cycle; never more than the credit, and what came back is not used.

    Where the issuer's own line of a credit is there, purchases are not looked at: they are the same money.
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
    """A year's credits that pay for travel of any kind; None where no credit of the card is known."""
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
