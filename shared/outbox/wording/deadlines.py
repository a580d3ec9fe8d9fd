"""Sentences about deadlines, for notices and mails to the person."""

from collections.abc import Mapping
from decimal import Decimal
from typing import Any

from shared.domain.dates import format_iso_weekday
from shared.domain.party_prices import format_amount
from shared.domain.plurals import pluralize

Facts = Mapping[str, Any]
IN_NOTICE = 5
_ADVICE = {
    "points": "Check the day in the account, and use or extend them before.",
    "voucher": "Use it before.",
    "status": "Ask your assistant what keeping it takes.",
    "annual_fee": "Decide before whether to keep the card.",
    "card_credit": "Use it before: what is left of it is lost.",
    "transfer_bonus": "Transfer only for an award that is there: transfers cannot be undone.",
    "booking": "Cancel before if you do not want the stay.",
}


def _describe_days_left(days_left: int) -> str:
    return {0: "today", 1: "tomorrow"}.get(days_left, f"in {pluralize(days_left, 'day')}")


def describe_day(row: Facts) -> str:
    """`Sun 20 Dec 2026, in 28 days`."""
    return f"{format_iso_weekday(row['due_on'])}, {_describe_days_left(row['days_left'])}"


def describe_worth(row: Facts) -> str:
    """` (worth about 340 USD)`; empty where no value is known."""
    return f" (worth about {format_amount(Decimal(row['worth']), row['worth_currency'])})" if row["worth"] else ""


def describe_advice(row: Facts) -> str:
    """What to do about it, in a sentence."""
    if row["kind"] == "card_bonus":
        spend = format_amount(Decimal(row["amount"]), row["currency"]) if row["amount"] else "enough"
        return f"Spend {spend} in all by then."
    return _ADVICE.get(row["kind"], "")


def title(facts: Facts) -> str:
    first = facts["deadlines"][0]
    if facts["total"] == 1:
        return f"{first['title']}: {describe_day(first)}"
    return f"{facts['total']} things end soon, the first {_describe_days_left(first['days_left'])}"


def overview_title(facts: Facts) -> str:
    return f"Your week: {pluralize(facts['total'], 'deadline')} in the next 90 days"


def describe_rest(facts: Facts) -> str:
    more = facts["total"] - len(facts["deadlines"])
    return f"And {more} more: ask your assistant for all upcoming deadlines." if more else ""


def body(facts: Facts) -> str:
    rows = facts["deadlines"][:IN_NOTICE]
    lines = [f"{describe_day(row)}: {row['title']}{describe_worth(row)}. {describe_advice(row)}" for row in rows]
    more = facts["total"] - len(rows)
    return "\n".join([*lines, *([f"and {more} more: list_upcoming_deadlines shows them."] if more else [])])
