"""Sentences about payment: a payment that failed, and plans and trials that end."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from shared.domain.dates import format_weekday

Facts = Mapping[str, Any]
_WORDS = {
    "payment_failed": (
        "A payment did not go through",
        "The payment for the {plan} plan did not go through, and is tried again. The plan stays until {day}."
        " Please look at your card under Manage payment.",
    ),
    "payment_missing": (
        "The plan is not paid",
        "The payment did not go through in time, so the account is now on the {plan} plan. Nothing was deleted."
        " Once it is paid, the plan comes back by itself. Please look at your card under Manage payment.",
    ),
    "plan_ends": (
        "Your plan ends on {day}",
        "The {plan} plan is cancelled and stays until {day}. Nothing is deleted then."
        " Until that day you can go on with it under Manage payment.",
    ),
    "trial_ends": (
        "Your trial ends on {day}",
        "The trial of the {plan} plan ends on {day}, and the first payment is taken then."
        " If you do not want to go on, cancel before that day under Manage payment.",
    ),
}


def _fill(facts: Facts, text: str) -> str:
    day = format_weekday(datetime.fromisoformat(facts["at"]).date()) if facts["at"] else ""
    return text.format(plan=facts["plan"].title(), day=day)


def title(facts: Facts) -> str:
    return _fill(facts, _WORDS[facts["kind"]][0])


def body(facts: Facts) -> str:
    return _fill(facts, _WORDS[facts["kind"]][1])
