"""Sentences about the fallen price of a booked stay."""

from collections.abc import Mapping
from datetime import date
from typing import Any

from shared.domain.dates import format_iso_moment, format_iso_weekday, format_short_weekday
from shared.domain.plurals import pluralize
from shared.domain.source_names import name_source

Facts = Mapping[str, Any]


def title(facts: Facts) -> str:
    return f"{facts['hotel']}: {facts['now']} instead of {facts['was']}"


def describe_room(facts: Facts) -> str:
    """Which room the price is of, next to the one booked: sources give their cheapest."""
    booked, offered = facts.get("booked_room"), facts["room_type"]
    if booked and facts.get("is_same_room"):
        return f"The price is for the room type you booked, {booked}."
    room = f"the cheapest room, {offered}" if offered else "the cheapest room, whose type the source does not say"
    return f"The price is for {room}{f'; you booked {booked}' if booked else ''}."


def describe_slip(facts: Facts) -> dict[str, str]:
    """The stay as its two days, and the nights between."""
    check_in, check_out = (date.fromisoformat(facts[name]) for name in ("check_in", "check_out"))
    return {
        "from": f"{check_in.day} {check_in:%b}",
        "departs": f"{check_in:%a}",
        "to": f"{check_out.day} {check_out:%b}",
        "arrives": f"{check_out:%a}",
        "between": f"{pluralize((check_out - check_in).days, 'night')}, {check_in.year}",
    }


def describe_booked(facts: Facts) -> list[str]:
    """The terms of the price paid: room, rate, and the deadline for free cancellation."""
    free_until = facts["free_until"]
    lines = [
        facts.get("booked_room") or "room type not stored",
        facts.get("rate_plan") or "",
        f"free cancellation until {format_short_weekday(date.fromisoformat(free_until))}, as the confirmation said"
        if free_until
        else "cancellation terms not stored",
    ]
    return [line for line in lines if line]


def describe_offered(facts: Facts) -> list[str]:
    """The terms of the offered price, as far as the source says."""
    room = facts["room_type"] or "the cheapest room, whose type the source does not say"
    if facts.get("booked_room") and facts.get("is_same_room"):
        return [f"{room}, the room type you booked"]
    return [f"{room}, not the room type you booked" if facts.get("booked_room") and facts["room_type"] else room]


def describe_terms(facts: Facts) -> str:
    """What to check before changing the booking."""
    free_until = facts["free_until"]
    first = (
        f"Book the new rate first, then cancel the old one by {format_short_weekday(date.fromisoformat(free_until))}."
        if free_until
        else "Ask what cancelling the old booking costs before you book again."
    )
    return f"The source does not say whether the new price can be cancelled: read its terms before you book. {first}"


def body(facts: Facts) -> str:
    sentences = [
        f"The stay from {format_iso_weekday(facts['check_in'])} to {format_iso_weekday(facts['check_out'])}"
        f" is offered for {facts['now']}, {facts['saved']}"
        f" ({facts['percent']}%) less than booked; seen on {format_iso_moment(facts['checked_at'])}"
        f" by {name_source(facts['source'])}.",
        describe_room(facts),
        "Read the terms before you book again and cancel the old booking.",
    ]
    if facts["free_until"]:
        sentences.append(f"The confirmation allowed free cancellation until {format_iso_weekday(facts['free_until'])}.")
    return " ".join(sentences)
