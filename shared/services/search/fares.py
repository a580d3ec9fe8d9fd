"""Cash fares with their source and age, cheapest first, each in its own currency."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from decimal import Decimal

from shared.domain.exchange_rates import Converted, Rates
from shared.providers.contract import CashFare, Reading
from shared.services.search.provenance import Mode, age, mode_of

VERB = "cash_fares"
Readings = Sequence[Reading[tuple[CashFare, ...]]]


@dataclass(frozen=True)
class FareOption:
    """One fare as it is shown. The price is for all passengers and the whole journey asked for."""

    price: Decimal
    currency: str
    cabin: str
    carriers: tuple[str, ...]
    flight_numbers: tuple[str, ...]
    departs_at: str | None
    arrives_at: str | None
    duration_minutes: int | None
    stops: int | None
    booking_url: str | None
    city_wide: bool
    source: str
    mode: Mode
    provider_checked_at: datetime | None
    age_seconds: int
    generated_at: datetime | None  # of invented rows only
    converted: Converted | None = None  # into the currency asked for; None = no rate is known


def options(readings: Readings, cabin: str) -> list[FareOption]:
    return [_option(r, fare) for r in readings for fare in r.value or () if fare.cabin == cabin]


def _option(reading: Reading[tuple[CashFare, ...]], fare: CashFare) -> FareOption:
    mode = mode_of(reading)
    return FareOption(
        price=fare.price,
        currency=fare.currency,
        cabin=fare.cabin,
        carriers=fare.carriers,
        flight_numbers=fare.flight_numbers,
        departs_at=fare.departs_at,
        arrives_at=fare.arrives_at,
        duration_minutes=fare.duration_minutes,
        stops=fare.stops,
        booking_url=fare.booking_url,
        city_wide=fare.city_wide,
        source=reading.source,
        mode=mode,
        provider_checked_at=fare.checked_at,
        age_seconds=age(fare.checked_at or reading.taken_at),
        generated_at=reading.taken_at if mode == "sandbox" else None,
    )


def sort_by_price(options: Iterable[FareOption], rates: Rates, currency: str) -> list[FareOption]:
    """Cheapest first in one currency; those no rate is known for come last, in their own."""
    converted_fares = [replace(f, converted=rates.convert(f.price, f.currency, currency)) for f in options]
    return sorted(converted_fares, key=_order)


def _order(fare: FareOption) -> tuple[object, ...]:
    amount = fare.converted.amount if fare.converted else None
    flights = (fare.stops is None, fare.stops or 0, fare.departs_at or "", fare.carriers)
    return (amount is None, fare.price if amount is None else amount, fare.currency, *flights)


def find_cheapest(options: Sequence[FareOption]) -> FareOption | None:
    """The first priced fare whose price is known in the currency asked for."""
    return next((f for f in options if f.converted), None)
