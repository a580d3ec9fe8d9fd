"""What became of a forwarded mail, in words: facts of the bookings go in, a notice's title and body come out."""

from collections.abc import Mapping, Sequence
from typing import Any

from shared.domain.plurals import pluralize

SHOWN = 8  # bookings that are spelled out


def worded(facts: Mapping[str, Any]) -> tuple[str, str]:
    """Title and body. Nothing of the mail itself is repeated: it is a stranger's text."""
    if facts["state"] == "imported":
        return _imported(facts["bookings"], facts["cancelled"], facts["known"])
    end = f"resolve_inbox_message with message_id {facts['message_id']} imports or discards it."
    if facts["state"] == "failed":
        return "A forwarded mail could not be read", f"It is kept for 30 days. {end}"
    if not facts["found"]:
        where = "its text, and attached files such as PDF are not read" if facts["missing"] else "it"
        told = f"No flight or stay was found in {where}. It is kept for 30 days. {end}"
        return "A forwarded mail holds no booking", told
    missing = ", ".join(name.replace("_", " ") for name in facts["missing"])
    return "A forwarded mail has to be looked at", f"Nothing was stored yet. To be settled: {missing}. {end}"


def _imported(bookings: Sequence[str], cancelled: bool, known: int) -> tuple[str, str]:
    lines = list(bookings[:SHOWN])
    if len(bookings) > SHOWN:
        lines.append(f"and {len(bookings) - SHOWN} more")
    if cancelled:
        return f"{pluralize(len(bookings), 'booking')} cancelled by a forwarded mail", "\n".join(lines)
    if known:
        lines.append(f"{known} of them known already.")
    return f"{pluralize(len(bookings), 'booking')} from a forwarded mail", "\n".join(lines)
