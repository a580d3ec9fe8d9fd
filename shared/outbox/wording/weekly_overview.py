"""Sentences of the weekly overview: finds of the week, bookings of the next month, and what ends."""

from collections.abc import Mapping
from datetime import date
from typing import Any

from shared.domain.dates import format_short_weekday
from shared.domain.plurals import pluralize
from shared.domain.watch_kinds import LIMITED_KINDS
from shared.outbox.links import find_settling_path, watch_url
from shared.outbox.wording import deadlines
from shared.settings import settings

Facts = Mapping[str, Any]
_WATCHES = {kind.name for kind in LIMITED_KINDS}  # a price of a hotel is watched by its booking


def title(facts: Facts) -> str:
    # Nothing but deadlines; rows of before it could hold more have neither.
    if not (facts.get("finds") or facts.get("bookings")):
        return f"Your week: {pluralize(facts['total'], 'deadline')} in the next 90 days"
    return f"Your week: {describe_counts(facts)}"


def describe_counts(facts: Facts) -> str:
    """`2 finds, 1 booking, 4 deadlines`, without zero counts."""
    counts = (("finds_total", "find"), ("bookings_total", "booking"), ("total", "deadline"))
    return ", ".join(pluralize(facts[name], noun) for name, noun in counts if facts.get(name))


def body(facts: Facts) -> str:
    rows = [*facts.get("finds", ()), *facts.get("bookings", ())]
    lines = [f"{describe_day(row)}: {row['title']}" for row in rows]
    return "\n".join([*lines, *filter(None, [deadlines.body(facts)])])


def list_parts(facts: Facts) -> list[tuple[str, list[Facts], str]]:
    """The parts next to the deadlines that have rows: heading, rows, and how many more there are."""
    parts = (("finds", "Found by your watches in the last seven days"), ("bookings", "Booked in the next 30 days"))
    return [
        (heading, facts[name], _describe_rest(facts[f"{name}_total"] - len(facts[name])))
        for name, heading in parts
        if facts.get(name)
    ]


def _describe_rest(more: int) -> str:
    return f"And {more} more." if more else ""


def describe_day(row: Facts) -> str:
    """`Sun 20 Dec`; all are within a month of today."""
    return format_short_weekday(date.fromisoformat(row["on"]))


def split_day(row: Facts) -> dict[str, str]:
    """The day as a tile shows it."""
    return deadlines.split_day({"due_on": row["on"]})


def describe_page(row: Facts) -> str:
    """The words of the link to its page."""
    return "See the watch" if row["subject"][0] in _WATCHES else "See the booking"


def find_page(row: Facts) -> str:
    """The page of the watch that found it, or of the booking."""
    subject_type, subject_id = row["subject"]
    if subject_type in _WATCHES:
        return watch_url(subject_type, int(subject_id))
    return settings().web_url + find_settling_path("booking", subject_type, subject_id)
