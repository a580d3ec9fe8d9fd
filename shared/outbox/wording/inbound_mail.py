"""Sentences about what became of a forwarded mail."""

from collections.abc import Mapping, Sequence
from typing import Any

from shared.domain.plurals import pluralize

MAX_BOOKINGS = 8  # bookings that are spelled out


def describe_mail(facts: Mapping[str, Any]) -> tuple[str, str]:
    """Title and body. Nothing of the mail itself is repeated: it is a stranger's text."""
    if facts["state"] == "imported":
        if facts.get("changes"):
            return _describe_changes(facts["changes"])
        return _describe_import(facts["bookings"], facts["cancelled"], facts["known"])
    end = f"resolve_inbox_message with message_id {facts['message_id']} imports or discards it."
    if facts["state"] == "failed":
        return "A forwarded mail could not be read", f"It is kept for 30 days. {end}"
    if not facts["found"]:
        return _describe_nothing(facts["missing"], end)
    return "A forwarded mail has to be looked at", f"Nothing was stored yet. {_describe_open(facts['missing'])}{end}"


def _describe_open(missing: Sequence[str]) -> str:
    """What is to be settled. The sender comes first: who looks at the rest should know."""
    fields = ", ".join(name.replace("_", " ") for name in missing if name != "sender")
    sender = "It is not certain who sent it, so a person has to look at it. " if "sender" in missing else ""
    return sender + (f"To be settled: {fields}. " if fields else "")


# What a letter speaks of though no booking was read from it, by the name of its doubt.
_SPOKEN_OF = {"flights": "a flight", "stays": "a stay"}


def _describe_nothing(missing: Sequence[str], end: str) -> tuple[str, str]:
    """A letter without a booking: one that speaks of a booking has to be looked at, and so has an unread file."""
    if subject := next((words for name, words in _SPOKEN_OF.items() if name in missing), None):
        text = f"It speaks of {subject}, but no booking could be read from it. It is kept for 30 days. {end}"
        return "A forwarded mail has to be looked at", text
    unread = " One of its attached files could not be read." if "attached_file_not_read" in missing else ""
    text = f"No flight or stay was found in it.{unread} It is kept for 30 days. {end}"
    return "A forwarded mail holds no booking", text


def _describe_changes(changes: Sequence[str]) -> tuple[str, str]:
    """What is different now, a sentence for each booking."""
    lines = list(changes[:MAX_BOOKINGS])
    if len(changes) > MAX_BOOKINGS:
        lines.append(f"And {len(changes) - MAX_BOOKINGS} more.")
    return f"{pluralize(len(changes), 'booking')} changed by a forwarded mail", "\n".join(lines)


def _describe_import(bookings: Sequence[str], cancelled: bool, known_count: int) -> tuple[str, str]:
    lines = list(bookings[:MAX_BOOKINGS])
    if len(bookings) > MAX_BOOKINGS:
        lines.append(f"and {len(bookings) - MAX_BOOKINGS} more")
    if cancelled:
        return f"{pluralize(len(bookings), 'booking')} cancelled by a forwarded mail", "\n".join(lines)
    if known_count:
        lines.append(f"{known_count} of them known already.")
    return f"{pluralize(len(bookings), 'booking')} from a forwarded mail", "\n".join(lines)
