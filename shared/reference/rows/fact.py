"""What every fact carries: its sources, how old they are, when someone looked, and how far it is trusted."""

from dataclasses import dataclass
from datetime import date

from shared.domain import offers


@dataclass(frozen=True, slots=True)
class Fact:
    """Where a fact is from, how old that is, when we last confirmed it, and how far it is trusted.

    `as_of` is the day of the page that was read; `audited_on` the day someone saw the value there: in a primary page,
    or with two publishers.
    """

    source_url: str
    second_source_url: str | None
    as_of: str | None
    audited_on: date | None
    confidence: str
    note: str | None


@dataclass(frozen=True, slots=True)
class Dated(Fact):
    """A fact that holds from a day to a day, both included. None: since ever, or until further notice."""

    valid_from: date | None
    valid_to: date | None

    @property
    def known_from(self) -> date | None:
        """The first day it is known to hold; None: since ever."""
        return self.valid_from

    def is_valid(self, on: date) -> bool:
        first = self.known_from
        return (first is None or first <= on) and (self.valid_to is None or on <= self.valid_to)


@dataclass(frozen=True, slots=True)
class OfferRow(Dated):
    """What is offered for a time. A first day that no source gives is empty, never the day of a list."""

    @property
    def known_from(self) -> date | None:
        return offers.find_known_start(self)
