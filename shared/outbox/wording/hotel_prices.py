"""Sentences about the fallen price of a booked stay."""

from collections.abc import Mapping
from typing import Any

from shared.domain.dates import format_iso_moment, format_iso_weekday
from shared.outbox.wording.source_names import describe_source

Facts = Mapping[str, Any]


def title(facts: Facts) -> str:
    return f"{facts['hotel']}: {facts['now']} instead of {facts['was']}"


def describe_room(facts: Facts) -> str:
    """Which room the price is of, beside the one booked: sources give their cheapest."""
    booked, offered = facts.get("booked_room"), facts["room_type"]
    if booked and facts.get("is_same_room"):
        return f"The price is for the room type you booked, {booked}."
    room = f"the cheapest room, {offered}" if offered else "the cheapest room, whose type the source does not say"
    return f"The price is for {room}{f'; you booked {booked}' if booked else ''}."


def body(facts: Facts) -> str:
    sentences = [
        f"The stay from {format_iso_weekday(facts['check_in'])} to {format_iso_weekday(facts['check_out'])}"
        f" is offered for {facts['now']}, {facts['saved']}"
        f" ({facts['percent']}%) less than booked; seen on {format_iso_moment(facts['checked_at'])}"
        f" by {describe_source(facts['source'])}.",
        describe_room(facts),
        "Read the terms before you book again and cancel the old booking.",
    ]
    if facts["free_until"]:
        sentences.append(f"The confirmation allowed free cancellation until {format_iso_weekday(facts['free_until'])}.")
    return " ".join(sentences)
