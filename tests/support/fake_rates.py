"""Fake sources of fares, exchange rates and seats, made of plain functions or rows, for tests of money tools."""

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from datetime import timedelta
from decimal import Decimal
from types import SimpleNamespace
from typing import Any

from shared import clock
from shared.providers.contract import CashFare, FaresQuestion, Provider, Rate, RatesQuestion
from shared.reference.exchange_rates import find_exchange_rate

Act = Callable[[Any], Any]


def answering(name: str, acts: dict[str, Act], **more: Any) -> Provider:
    """A provider of these verbs, each a function from a question to rows; a function may raise."""

    def verb(act: Act) -> Any:
        async def asked(question: Any) -> Any:
            made = act(question)
            return await made if hasattr(made, "__await__") else made

        return asked

    @asynccontextmanager
    async def build(_credential: str | None) -> AsyncIterator[Any]:
        yield SimpleNamespace(**{n: verb(a) for n, a in acts.items()})

    facts: dict[str, Any] = {"fresh_for": timedelta(hours=1), "build": build, "answers": tuple(acts)}
    return Provider(name=name, **(facts | more))


def fare(price: str, **more: Any) -> CashFare:
    facts: dict[str, Any] = {
        "price": Decimal(price),
        "currency": "USD",
        "cabin": "economy",
        "carriers": ("BA",),
        "flight_numbers": ("BA117",),
        "departs_at": None,
        "arrives_at": None,
        "duration_minutes": None,
        "stops": 0,
        "booking_url": None,
        "checked_at": None,
    }
    return CashFare(**(facts | more))


def fares_of(name: str, *rows: CashFare, **more: Any) -> Provider:
    """A source that always answers with these fares."""

    def cash_fares(_question: FaresQuestion) -> tuple[CashFare, ...]:
        return rows

    return answering(name, {"cash_fares": cash_fares}, **more)


def failing_with(name: str, verb: str, error: Exception, **more: Any) -> Provider:
    def act(_question: Any) -> Any:
        raise error

    return answering(name, {verb: act}, **more)


def rates_of(name: str = "ecb", days_ago: int = 1, **per_euro: str) -> Provider:
    """A source of rates of so many days ago."""

    def exchange_rates(_question: RatesQuestion) -> tuple[Rate, ...]:
        day = clock.today() - timedelta(days=days_ago)
        return tuple(Rate(c, Decimal(v), day) for c, v in per_euro.items())

    return answering(name, {"exchange_rates": exchange_rates}, terms="anyone")


def read_dollars(currency: str) -> float:
    """What a unit of a currency is worth in US dollars by the rates of this process."""
    rate = find_exchange_rate(currency)
    assert rate
    return float(rate.usd_per_unit)
