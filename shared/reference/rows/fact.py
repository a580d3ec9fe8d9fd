"""What every fact carries: its sources, how old they are, when someone looked, and how far it is trusted."""

from dataclasses import dataclass
from datetime import date


@dataclass(frozen=True, slots=True)
class Fact:
    """Where a fact is from, how old that is, when we last confirmed it, and how far it is trusted.

    `audited_on` is the day someone saw the value in the sources named: a primary page, or two publishers.
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

    def is_valid(self, on: date) -> bool:
        return (self.valid_from is None or self.valid_from <= on) and (self.valid_to is None or on <= self.valid_to)
