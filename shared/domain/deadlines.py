"""Deadlines on a stored date: those that are due, in order."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from typing import Literal

from shared.domain.dates import format_day
from shared.domain.party_prices import format_amount

Kind = Literal["points", "voucher", "status", "card_bonus", "card_credit", "annual_fee", "transfer_bonus", "booking"]


@dataclass(frozen=True)
class Value:
    amount: Decimal
    currency: str


@dataclass(frozen=True)
class Subject:
    """The record a deadline belongs to."""

    type: str
    id: str


@dataclass(frozen=True)
class Deadline:
    """`today` is the day at the place that counts: at the airport or hotel of a booking, else where the person lives.

    `cost`: the exact loss or payment, if known, in the currency of the values at risk.
    """

    kind: Kind
    title: str
    due_on: date
    today: date
    subject: Subject
    suggested_action: str
    amount: Decimal | None = None
    currency: str | None = None
    value_at_risk: Value | None = None
    cost: Value | None = None
    open_when_past: bool = False  # listed until someone settles it

    @property
    def at_stake(self) -> Value | None:
        return self.value_at_risk or self.cost

    @property
    def days_left(self) -> int:
        return (self.due_on - self.today).days


def select_due(deadlines: Iterable[Deadline], within_days: int) -> list[Deadline]:
    """Deadlines from today on, and past ones that are not settled. The first and the last day are included."""
    due = [d for d in deadlines if d.days_left <= within_days and (d.days_left >= 0 or d.open_when_past)]
    return sorted(due, key=lambda d: (d.due_on, d.kind, d.title, d.subject.id))


_DAYS_OF_GRACE = 7  # one day left is not seven times as urgent as a week: both are tasks for this week
_LOST_UNPRICED = ("points", "voucher", "status", "card_bonus")  # of unknown worth, but certainly not worthless


def weigh_stake(at_stake: Decimal, days_left: int) -> Decimal:
    """Its urgency: 1,500 in seven weeks weighs more than 10 tomorrow. A past day weighs least."""
    return at_stake / (days_left + _DAYS_OF_GRACE) if days_left >= 0 else Decimal(-1)


def sort_by_stake(deadlines: Iterable[Deadline]) -> list[Deadline]:
    """Sorts the most urgent first, and the soonest of equals.

    A loss of unknown value counts as the median of the rest: that only orders it.
    """
    some = list(deadlines)
    prices = sorted(value.amount for d in some if d.days_left >= 0 and (value := d.at_stake))
    median = prices[(len(prices) - 1) // 2] if prices else Decimal(1)

    def weigh(deadline: Deadline) -> Decimal:
        unpriced = median if deadline.kind in _LOST_UNPRICED else Decimal(0)
        return weigh_stake(deadline.at_stake.amount if deadline.at_stake else unpriced, deadline.days_left)

    return sorted(some, key=lambda d: (-weigh(d), d.due_on, d.kind, d.title, d.subject.id))


def describe_next_step(deadlines: Iterable[Deadline]) -> str:
    """The most urgent deadline and what to do about it; empty if nothing is at stake."""
    first = next(iter(sort_by_stake(deadlines)), None)
    if first is None or first.days_left < 0 or not (first.at_stake or first.kind in _LOST_UNPRICED):
        return ""
    worth = f" (worth about {format_amount(risk.amount, risk.currency)})" if (risk := first.value_at_risk) else ""
    if first.kind == "annual_fee" and first.amount is not None and first.currency:
        worth = f" ({format_amount(first.amount, first.currency)})"
    return f"First: {first.title}, {format_day(first.due_on)}{worth}. {first.suggested_action}"


def find_bonus_deadline(status: str | None, deadline: date | None, closed_on: date | None, today: date) -> date | None:
    """The day until which a welcome bonus has to be earned; None once that is settled or can no longer happen.

    A past day is listed while the bonus is marked pending: only the person changes that mark.
    """
    if deadline is None or status in ("earned", "missed") or (closed_on is not None and closed_on <= today):
        return None
    return deadline if deadline >= today or status == "pending" else None


def can_end_undated(rule: str | None) -> bool:
    """Whether points under this rule can expire on a day that is not stored."""
    return rule != "never"


def advise_on_points(program: str, rule: str) -> str:
    """What to do about points of that programme with a stored day; `rule` as it is quoted."""
    if can_end_undated(rule):
        return f"Check the day in the account and use or extend them before. Rule: {rule}."
    return (
        f"A day was stored, but points of {program} do not expire by its rule as kept here. Check the account, and"
        " remove the day from the balance if it is not there."
    )


STEPS = (7, 30, 90)  # days ahead at which a person is told, the latest step first
_LATEST_STEP = {"card_credit": 7}  # credits come back each month or half-year: told once, when they are about to end


def find_step(kind: str, days_left: int) -> int | None:
    """The step a deadline has reached; None where it is over, or too far ahead."""
    latest = _LATEST_STEP.get(kind, STEPS[-1])
    return next((step for step in STEPS if 0 <= days_left <= step <= latest), None)
