"""Sentences about a watched stay whose nights are free, or within their limit."""

from collections.abc import Mapping
from typing import Any

from shared.domain.dates import format_iso_moment, format_iso_weekday
from shared.domain.source_names import name_source
from shared.outbox.wording.hotel_prices import describe_room, describe_slip

__all__ = ["body", "describe_limit", "describe_room", "describe_slip", "title"]
Facts = Mapping[str, Any]
STEPS = (
    "You have not booked it: look at the hotel's own site whether it still costs this, and read its terms. When you"
    " have booked, save the booking: then its price is watched on, and this alert can go."
)


def title(facts: Facts) -> str:
    return f"{facts['hotel']}: {facts['nightly']} a night"


def describe_limit(facts: Facts) -> str:
    if facts["limit"] is None:
        return "award nights are free for the whole stay"
    return f"{facts['nightly']} a night on average, within your {facts['limit']}"


def body(facts: Facts) -> str:
    return (
        f"The stay from {format_iso_weekday(facts['check_in'])} to {format_iso_weekday(facts['check_out'])}"
        f" costs {facts['now']}: {describe_limit(facts)}; seen on {format_iso_moment(facts['checked_at'])}"
        f" by {name_source(facts['source'])}. {describe_room(facts)} {STEPS}"
    )
