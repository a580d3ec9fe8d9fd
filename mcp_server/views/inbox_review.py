"""What is to be settled of a mail before its bookings are stored: each field with its reason, values and choices."""

from collections.abc import Iterable, Mapping
from typing import Any

from mcp_server.toolkit.results import Part

CHOICES = {
    "type": ["flight", "hotel"],
    "kind": ["award", "cash"],
    "cabin_class": ["economy", "premium_economy", "business", "first"],
}
_REASONS = {
    "type": "No flight or stay was read.",
    "kind": "No price was read that tells whether points or money paid.",
    "cabin_class": "The cabin is not named, or more than one is.",
    "confirmation_number": "No confirmation number was read.",
    "hotel_name": "No line is certain to be the hotel's name; any name is kept.",
    "departure_date": "The day is not named, or may be read as two days.",
    "check_in_date": "The day is not named, or may be read as two days.",
    "check_out_date": "The day is not named, or may be read as two days.",
    "taxes_currency": "The currency of the amount was not read.",
    "cash_rate_currency": "The currency of the amount was not read.",
    "changed_booking": "The letter differs from what is stored under its number, or changes a booking not stored here."
    " Importing it stores what it says.",
    "booking": "No stored booking has the number this letter cancels.",
    "arrival_date": "The flight cannot land on the day that was read.",
}


class ReviewItem(Part):
    """A field to settle. `values` are what the parts of the letter say; `about` is the flight or hotel meant."""

    field: str
    about: str | None
    reason: str
    values: list[Any]
    allowed: list[str] | None


class UnreadFile(Part):
    name: str
    reason: str


def list_review_items(missing: Iterable[str], doubts: Iterable[Mapping[str, Any]]) -> list[ReviewItem]:
    """One item for each doubt about a missing field, and one for each missing field without a doubt."""
    all_doubts = list(doubts)
    items = []
    for name in missing:
        own = [d for d in all_doubts if d["field"] == name] or [{}]
        items += [_build_item(name, doubt) for doubt in own]
    return items


def _build_item(name: str, doubt: Mapping[str, Any]) -> ReviewItem:
    return ReviewItem(
        field=name,
        about=doubt.get("about") or None,
        reason=doubt.get("reason") or _REASONS.get(name, "It was not read."),
        values=list(doubt.get("values") or []),
        allowed=CHOICES.get(name),
    )


def describe_missing(missing: Iterable[str]) -> str:
    """`kind (award or cash), departure date`."""
    return ", ".join(f"{name}{_describe_choices(name)}" for name in missing)


def _describe_choices(name: str) -> str:
    choices = CHOICES.get(name, [])
    return f" ({', '.join(choices[:-1])} or {choices[-1]})" if choices else ""
