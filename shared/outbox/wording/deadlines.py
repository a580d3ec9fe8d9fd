"""Sentences about deadlines, for notices and mails to the person."""

from collections.abc import Mapping
from datetime import date
from decimal import Decimal
from typing import Any

from shared.domain.dates import format_short_weekday
from shared.domain.party_prices import format_money
from shared.domain.plurals import pluralize
from shared.outbox.links import DEADLINES_PAGE, find_settling_path
from shared.settings import settings

Facts = Mapping[str, Any]
IN_NOTICE = 5
_LOST = ("points", "voucher", "card_credit")  # kinds whose worth is gone after the day
_ADVICE = {
    "points": "Check the day in the account, and use or extend them before.",
    "voucher": "Use it before.",
    "status": "Ask your assistant what keeping it takes.",
    "annual_fee": "Decide before whether to keep the card.",
    "card_credit": "Use it before: what is left of it is lost.",
    "transfer_bonus": "Transfer only for an award that is there: transfers cannot be undone.",
    "booking": "Cancel before if you do not want the stay.",
}
# The action on the page that settles it.
_STEPS = {
    "points": "Change the day",
    "voucher": "Use the voucher",
    "status": "Change the status",
    "card_bonus": "Mark the bonus",
    "card_credit": "Mark as used",
    "annual_fee": "Change the card",
    "transfer_bonus": "See your balances",
    "booking": "See the booking",
}


def _describe_days_left(days_left: int) -> str:
    return {0: "today", 1: "tomorrow"}.get(days_left, f"in {pluralize(days_left, 'day')}")


def describe_day(row: Facts) -> str:
    """`Sun 20 Dec, in 28 days`; all are within 90 days."""
    return f"{format_short_weekday(date.fromisoformat(row['due_on']))}, {_describe_days_left(row['days_left'])}"


def split_day(row: Facts) -> dict[str, str]:
    """The day as a tile shows it."""
    day = date.fromisoformat(row["due_on"])
    return {"number": str(day.day), "month": f"{day:%b}"}


def describe_sum(facts: Facts) -> str:
    """`Points and credits worth about $745`; empty where some are not listed, or have no value in one currency."""
    rows = [row for row in facts["deadlines"] if row["kind"] in _LOST]
    currencies = {row["worth_currency"] for row in rows}
    if facts["total"] > len(facts["deadlines"]) or len(currencies) != 1 or None in currencies:
        return ""
    total = sum((Decimal(row["worth"]) for row in rows), Decimal(0))
    return f"Points and credits worth about {format_money(total, currencies.pop())}"


def describe_worth(row: Facts) -> str:
    """`about $340`; empty where no value is known."""
    return f"about {format_money(Decimal(row['worth']), row['worth_currency'])}" if row["worth"] else ""


def describe_figure(facts: Facts) -> str:
    """The one figure of the mail: the number of deadlines, or the time left of a single one."""
    if facts["total"] > 1:
        return f"{facts['total']} things end soon"
    return {0: "Today", 1: "Tomorrow"}.get(days := facts["deadlines"][0]["days_left"], f"{days} days left")


def describe_below(facts: Facts) -> str:
    """The first deadline with its date, and the worth of all, if known."""
    first = facts["deadlines"][0]
    lead = "First: " if facts["total"] > 1 else ""
    return f"{lead}{first['title']}, {describe_day(first)}. {describe_sum(facts)}".strip()


def describe_advice(row: Facts) -> str:
    """What to do about it, in a sentence."""
    if row["kind"] == "card_bonus":
        spend = format_money(Decimal(row["amount"]), row["currency"]) if row["amount"] else "enough"
        return f"Spend {spend} in all by then."
    return _ADVICE.get(row["kind"], "")


def describe_step(kind: str) -> str:
    """The label of the link to the page that settles it."""
    return _STEPS.get(kind, "Open it")


def find_page(row: Facts) -> str:
    """The address of the page that settles it; of the list of all where an older row does not say what it is about."""
    subject = row.get("subject")
    path = find_settling_path(row["kind"], *subject) if subject else DEADLINES_PAGE
    return settings().web_url + path


def write_list_address() -> str:
    return settings().web_url + DEADLINES_PAGE


def title(facts: Facts) -> str:
    first = facts["deadlines"][0]
    if facts["total"] == 1:
        return f"{first['title']}: {describe_day(first)}"
    return f"{facts['total']} things end soon, the first {_describe_days_left(first['days_left'])}"


def describe_rest(facts: Facts) -> str:
    more = facts["total"] - len(facts["deadlines"])
    return f"And {more} more, on the page of all deadlines." if more else ""


def body(facts: Facts) -> str:
    rows = facts["deadlines"][:IN_NOTICE]
    lines = [
        f"{describe_day(row)}: {', '.join(filter(None, (row['title'], describe_worth(row))))}. {describe_advice(row)}"
        for row in rows
    ]
    more = facts["total"] - len(rows)
    first = [facts["first"]] if facts.get("first") else []  # older rows are without
    return "\n".join([*first, *lines, *([f"and {more} more: the list of deadlines shows them."] if more else [])])
