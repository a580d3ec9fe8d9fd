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
        where = "its text, and attached files such as PDF are not read" if facts["missing"] else "it"
        text = f"No flight or stay was found in {where}. It is kept for 30 days. {end}"
        return "A forwarded mail holds no booking", text
    missing = ", ".join(name.replace("_", " ") for name in facts["missing"])
    return "A forwarded mail has to be looked at", f"Nothing was stored yet. To be settled: {missing}. {end}"


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
