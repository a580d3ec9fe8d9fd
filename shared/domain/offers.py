"""The life of an offer: from when it is known to run, and until when it still counts."""

from datetime import date, timedelta
from typing import Literal, Protocol

from shared.domain.dates import parse_loose_day

# Issuers change offers every few weeks: two months after it was seen, an offer without an end says nothing about today.
MAX_AGE = timedelta(days=60)
State = Literal["running", "seen", "past"]


class TimedOffer(Protocol):
    @property
    def as_of(self) -> str | None: ...
    @property
    def valid_from(self) -> date | None: ...
    @property
    def valid_to(self) -> date | None: ...


def find_state(offer: TimedOffer, today: date) -> State:
    """running: until a known last day; seen: recently, without a last day; past: ended, seen long ago, or undated."""
    if offer.valid_to is not None:
        return "running" if today <= offer.valid_to else "past"
    return "seen" if offer.as_of and today - parse_loose_day(offer.as_of) <= MAX_AGE else "past"


def find_known_start(offer: TimedOffer) -> date | None:
    """The first day an offer is known to run: its own, else the day its source had it."""
    if offer.valid_from is not None or not offer.as_of:
        return offer.valid_from
    day = parse_loose_day(offer.as_of)
    return day if offer.valid_to is None else min(day, offer.valid_to)
