"""Cash fares with their source and age, cheapest first, each in its own currency."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from shared.domain.exchange_rates import Converted, Rates
from shared.providers.contract import CashFare, Reading
from shared.services.search.provenance import Mode, age, mode_of

VERB = "cash_fares"
Readings = Sequence[Reading[tuple[CashFare, ...]]]


@dataclass(frozen=True, kw_only=True)
class FareOption(CashFare):
    """One fare for the answer."""

    source: str
    mode: Mode
    age_seconds: int
    generated_at: datetime | None  # of invented rows only
    converted: Converted | None = None  # into the currency asked for; None = no rate is known

    @property
    def provider_checked_at(self) -> datetime | None:
        return self.checked_at


def options(readings: Readings, cabin: str) -> list[FareOption]:
    return [_option(r, fare) for r in readings for fare in r.value or () if fare.cabin == cabin]


def _option(reading: Reading[tuple[CashFare, ...]], fare: CashFare) -> FareOption:
    mode = mode_of(reading)
    return FareOption(
        **vars(fare),
        source=reading.source,
        mode=mode,
        age_seconds=age(fare.checked_at or reading.taken_at),
        generated_at=reading.taken_at if mode == "sandbox" else None,
    )


def sort_by_price(options: Iterable[FareOption], rates: Rates, currency: str) -> list[FareOption]:
    """Cheapest first in one currency; those without a rate come last, in their own."""
    converted_fares = [replace(f, converted=rates.convert(f.price, f.currency, currency)) for f in options]
    return sorted(converted_fares, key=_order)


def _order(fare: FareOption) -> tuple[object, ...]:
    amount = fare.converted.amount if fare.converted else None
    flights = (fare.stops is None, fare.stops or 0, fare.departs_at or "", fare.carriers)
    return (amount is None, fare.price if amount is None else amount, fare.currency, *flights)


def find_cheapest(options: Sequence[FareOption]) -> FareOption | None:
    """The first fare with a price in the requested currency."""
    return next((f for f in options if f.converted), None)
