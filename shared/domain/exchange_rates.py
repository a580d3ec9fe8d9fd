"""Currency conversion by euro reference rates of one source, with rate and day."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, timedelta
from decimal import Decimal

STALE_AFTER = timedelta(days=7)  # over holidays no rates are published for four or five days


@dataclass(frozen=True)
class Converted:
    """An amount in the requested currency; without a rate if it already was."""

    amount: Decimal
    currency: str
    rate: Decimal | None = None
    source: str | None = None
    day: date | None = None


@dataclass(frozen=True)
class EuroRate:
    """Units of a currency for one euro, as published for a day."""

    per_euro: Decimal
    day: date


@dataclass(frozen=True)
class Rates:
    """All rates of one source. Currencies it lacks, or has only outdated, are not converted."""

    source: str
    quotes: Mapping[str, EuroRate]
    today: date

    def knows(self, currency: str) -> bool:
        return currency in self.quotes and self.today - self.quotes[currency].day <= STALE_AFTER

    def convert(self, amount: Decimal, currency: str, into: str) -> Converted | None:
        """Converts by the euro, unrounded; the older of both days counts."""
        if currency == into:
            return Converted(amount, into)
        if not (self.knows(currency) and self.knows(into)):
            return None
        here, there = self.quotes[currency], self.quotes[into]
        rate = there.per_euro / here.per_euro
        return Converted(amount * there.per_euro / here.per_euro, into, rate, self.source, min(here.day, there.day))

    def amount(self, amount: Decimal | None, currency: str | None, into: str) -> Decimal | None:
        """The bare figure; None where either is unknown."""
        if amount is None or currency is None:
            return None
        converted = self.convert(amount, currency, into)
        return converted.amount if converted else None
