"""Deadlines on a stored date: which of them are due, in their order."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from typing import Literal

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
    """`today` is the day where it counts: at the airport or hotel of a booking, else where the person lives."""

    kind: Kind
    title: str
    due_on: date
    today: date
    subject: Subject
    suggested_action: str
    amount: Decimal | None = None
    currency: str | None = None
    value_at_risk: Value | None = None
    open_when_past: bool = False  # listed until someone settles it

    @property
    def days_left(self) -> int:
        return (self.due_on - self.today).days


def select_due(deadlines: Iterable[Deadline], within_days: int) -> list[Deadline]:
    """Deadlines from today on, and past ones that are not settled. The first and the last day are included."""
    due = [d for d in deadlines if d.days_left <= within_days and (d.days_left >= 0 or d.open_when_past)]
    return sorted(due, key=lambda d: (d.due_on, d.kind, d.title, d.subject.id))


def find_bonus_deadline(status: str | None, deadline: date | None, closed_on: date | None, today: date) -> date | None:
    """The day until which a welcome bonus has to be earned; None once that is settled or can no longer happen.

    A day that has passed is listed while the bonus is marked pending: only the person changes that mark.
    """
    if deadline is None or status in ("earned", "missed") or (closed_on is not None and closed_on <= today):
        return None
    return deadline if deadline >= today or status == "pending" else None


def can_end_undated(rule: str | None) -> bool:
    """Whether points under this rule can end on a day no one stored."""
    return rule != "never"


def advise_on_points(program: str, rule: str) -> str:
    """What to do about points of that programme with a stored day; `rule` as it is quoted."""
    if can_end_undated(rule):
        return f"Check the day in the account and use or extend them before. Rule: {rule}."
    return (
        f"A day was stored, but points of {program} do not expire by its rule as kept here. Check the account, and"
        " remove the day from the balance if it is not there."
    )


STEPS = (7, 30, 90)  # days ahead at which a person is told, the last first
_LATEST_STEP = {"card_credit": 7}  # credits come back each month or half-year: told once, when they are about to end


def find_step(kind: str, days_left: int) -> int | None:
    """The step a deadline has reached; None where it is over, or too far ahead."""
    latest = _LATEST_STEP.get(kind, STEPS[-1])
    return next((step for step in STEPS if 0 <= days_left <= step <= latest), None)
