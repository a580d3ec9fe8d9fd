"""Sentences about airport delays: titles, notices, and texts for a phone.

A source's own words are quoted and cut short, so that no one takes them for ours.
"""

from collections.abc import Mapping
from typing import Any

from shared.domain.plurals import pluralize
from shared.domain.source_names import name_source
from shared.outbox.phone_codes import build_page_address
from shared.settings import settings

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


def split_line(row: Facts) -> tuple[list[str], list[str]]:
    """One delay as a row shows it: what, and why in the source's words; until when, and whose word it is."""
    delay = _describe_delay(row)
    why = [f'"{_quote_reason(row)}"'] if row["reason"] else []
    until = [f"until {row['ends_at']}"] if row["ends_at"] else []
    return [f"{delay[0].upper()}{delay[1:]}", *why], [*until, name_source(row["source"])]


def line(row: Facts) -> str:
    """The same in a sentence."""
    what, (*until, source) = split_line(row)
    return f"{', '.join([*what, *until])} ({source})."


def body(facts: Facts) -> str:
    text = "\n".join(line(row) for row in facts["delays"]) + f"\n{about(facts)}"
    return f"{text}\n{proof}" if (proof := ask_for_proof(facts)) else text


def ask_for_proof(facts: Facts) -> str:
    """Why a number got no message, and what to do; empty when there is nothing to say."""
    endings = facts.get("unproved")  # absent in messages written by an earlier release
    if not endings:
        return ""
    numbers = f"number{'s' if len(endings) > 1 else ''} ending in {' and '.join(endings)}"
    them = "them" if len(endings) > 1 else "it"
    return (
        f"Nothing was sent to the {numbers}: first prove that you can be reached there."
        f" Open {build_page_address()} and enter the code that is sent to {them}. This is said once."
    )


def about(facts: Facts) -> str:
    """The alerts this comes from."""
    named = [f"{id} ({label})" if label else str(id) for id, label in facts["alerts"]]
    return f"From delay alert{'s' if len(named) > 1 else ''} {', '.join(named)} for {facts['airport_name']}."


def text(facts: Facts) -> str:
    """For a phone: the worst delay, and how many more there are."""
    row, *more = facts["delays"]
    why = f' ("{_quote_reason(row)}")' if row["reason"] else ""
    rest = f" and {len(more)} more" if more else ""
    source = f"{settings().service_name} delay alert {facts['alerts'][0][0]}"
    return f"{facts['airport']}: {_describe_delay(row)}{why}{rest}. {source}."


def blanks(facts: Facts) -> tuple[str, str, str]:
    """The values of a template: airport, delay, reason. None may be empty."""
    row = facts["delays"][0]
    return facts["airport"], _describe_delay(row), _quote_reason(row) or "no reason given"
