"""Sentences about airport delays: titles, notices, and texts for a phone.

A source's own words are quoted and cut short: they inform, and nobody takes them for ours.
"""

from collections.abc import Mapping
from typing import Any

from shared.domain.plurals import pluralize
from shared.outbox.wording.source_names import describe_source

Facts = Mapping[str, Any]
MAX_REASON_CHARACTERS = 120  # characters
_NAMES = {
    "ground_stop": "ground stop",
    "ground_delay": "ground delay",
    "departure": "departure delays",
    "arrival": "arrival delays",
    "closure": "closure",
}


def _quote_reason(row: Facts) -> str:
    return " ".join(str(row["reason"]).split())[:MAX_REASON_CHARACTERS]


def _describe_length(row: Facts) -> str:
    """A ground delay is told as its average; of the others the upper bound is published."""
    if row["minutes"] is None:
        return ""
    minutes = pluralize(row["minutes"], "minute")
    return f" of {minutes} on average" if row["kind"] == "ground_delay" else f" of up to {minutes}"


def _describe_delay(row: Facts) -> str:
    return f"{_NAMES[row['kind']]}{_describe_length(row)}"


def title(facts: Facts) -> str:
    return f"{facts['airport']}: {_describe_delay(facts['delays'][0])}"


def line(row: Facts) -> str:
    """One delay in a sentence: what, why in the source's words, until when, and whose word it is."""
    delay = _describe_delay(row)
    why = f', "{_quote_reason(row)}"' if row["reason"] else ""
    until = f", until {row['ends_at']}" if row["ends_at"] else ""
    return f"{delay[0].upper()}{delay[1:]}{why}{until} ({describe_source(row['source'])})."


def body(facts: Facts) -> str:
    return "\n".join(line(row) for row in facts["delays"]) + f"\n{about(facts)}"


def about(facts: Facts) -> str:
    """Which alerts this comes from."""
    named = [f"{id} ({label})" if label else str(id) for id, label in facts["alerts"]]
    return f"From delay alert{'s' if len(named) > 1 else ''} {', '.join(named)} for {facts['airport_name']}."


def describe_pause(facts: Facts) -> str:
    """How to pause the alerts, each by its number."""
    numbers = " and ".join(str(id) for id, _ in facts["alerts"])
    one, it = ("alerts", "them") if len(facts["alerts"]) > 1 else ("alert", "it")
    return f"To pause {it}, ask your assistant to pause delay {one} {numbers}."


def text(facts: Facts) -> str:
    """For a phone: the worst delay, and how many more there are."""
    row, *more = facts["delays"]
    why = f' ("{_quote_reason(row)}")' if row["reason"] else ""
    rest = f" and {len(more)} more" if more else ""
    return f"{facts['airport']}: {_describe_delay(row)}{why}{rest}. Award Travel delay alert {facts['alerts'][0][0]}."


def blanks(facts: Facts) -> tuple[str, str, str]:
    """What fills a template: airport, delay, reason. None may be empty."""
    row = facts["delays"][0]
    return facts["airport"], _describe_delay(row), _quote_reason(row) or "no reason given"
