"""A card's return on one purchase, with what is left of its rate's cap."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from decimal import Decimal

from shared.domain.card_value import BASE, CATEGORIES, CategoryRate, find_rate

_CYCLES: Mapping[int, str] = {1: "month", 3: "quarter", 6: "half-year", 12: "year"}


@dataclass(frozen=True)
class MonthlySpending:
    """One card's spending in one month and category by statements, in the card's currency."""

    month: date
    category: str
    amount: Decimal


@dataclass(frozen=True)
class Cap:
    """`amount` of one cycle; `used` is None without a statement of this cycle."""

    amount: Decimal
    cycle: str
    used: Decimal | None

    @property
    def remaining(self) -> Decimal | None:
        return None if self.used is None else max(self.amount - self.used, Decimal(0))


@dataclass(frozen=True)
class Purchase:
    """`points` and `cash` are of the whole purchase; `at_rate` is the part within the cap at `rate`."""

    rate: CategoryRate
    at_rate: Decimal
    points: Decimal
    cash: Decimal
    cap: Cap | None
    beyond: CategoryRate | None  # the rate over the cap; None: unknown


def value_purchase(
    rates: Sequence[CategoryRate], category: str, amount: Decimal, spending: Iterable[MonthlySpending], today: date
) -> Purchase | None:
    """Values a purchase; None if the category's rate is unknown. Unknown use of the cap counts as zero."""
    rate = find_rate(rates, category)
    if rate is None:
        return None
    base = next((r for r in rates if r.category == BASE and r is not rate), None)
    cap = _find_cap(rate, rates, spending, today)
    room = amount if cap is None else min(amount, cap.amount if cap.remaining is None else cap.remaining)
    points, cash = _earn(rate, room)
    if base and room < amount:
        more_points, more_cash = _earn(base, amount - room)
        points, cash = points + more_points, cash + more_cash
    return Purchase(rate, room, points, cash, cap, base if cap else None)


def _find_cap(
    rate: CategoryRate, rates: Sequence[CategoryRate], spending: Iterable[MonthlySpending], today: date
) -> Cap | None:
    if rate.annual_cap is None:
        return None
    start = find_cycle_start(rate.cap_months, today)
    cells = [cell for cell in spending if start <= cell.month <= today]
    sharing = {r.category for r in rates if r is rate or (rate.cap_group and r.cap_group == rate.cap_group)}
    categories = {c for c in CATEGORIES if (own := find_rate(rates, c)) and own.category in sharing}
    used = sum((cell.amount for cell in cells if cell.category in categories), Decimal(0)) if cells else None
    return Cap(rate.annual_cap * rate.cap_months / 12, _CYCLES.get(rate.cap_months, "cycle"), used)


def find_cycle_start(months: int, day: date) -> date:
    """The first day of the cap's cycle of calendar months."""
    return date(day.year, (day.month - 1) // months * months + 1, 1)


def _earn(rate: CategoryRate, amount: Decimal) -> tuple[Decimal, Decimal]:
    paid = amount * rate.multiplier
    return (Decimal(0), paid / 100) if rate.percent else (paid, Decimal(0))


def describe_cap(purchase: Purchase, currency: str, last_day: str | None) -> str:
    """The used part of the cap, as a clause; empty without a cap. `last_day`: the last day of the statements."""
    cap = purchase.cap
    if cap is None:
        return ""
    name = f"the cap of {cap.amount:,.0f} {currency} a {cap.cycle}"
    if cap.remaining is None:
        return f"how much of {name} is used is not known, as no statement of this card is imported for it"
    extent = f"as far as statements{f' to {last_day}' if last_day else ''} show"
    if not cap.remaining:
        beyond = f": {describe_rate(purchase.beyond)} beyond it" if purchase.beyond else ""
        return f"{name} is reached {extent}{beyond}"
    return f"{name} is not reached {extent}, {cap.remaining:,.0f} {currency} are left"


def describe_rate(rate: CategoryRate) -> str:
    number = f"{rate.multiplier.normalize():f}"
    return f"{number}% back" if rate.percent else f"{number} point{'' if rate.multiplier == 1 else 's'}"
