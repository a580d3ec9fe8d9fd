"""The sandbox as a source: a question goes in; after the trouble the operator asked for, an invention comes out."""

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import TypeVar

import anyio
import anyio.to_thread

from shared import clock
from shared.providers.contract import (
    AirportDelay,
    AwardSeat,
    AwardTrip,
    CashFare,
    DelaysQuestion,
    FaresQuestion,
    Rate,
    RatesQuestion,
    SeatsQuestion,
    StayOffer,
    StaysQuestion,
    TripQuestion,
    Unanswered,
)
from shared.providers.sandbox import delays, fares, market, overrides, rates, stays
from shared.settings import settings

T = TypeVar("T")


@asynccontextmanager
async def connect(_credential: str | None) -> AsyncIterator["Sandbox"]:
    yield Sandbox()


class Sandbox:
    """One client per question; it keeps nothing. What is drawn for many cells is drawn beside the event loop."""

    async def award_seats(self, question: SeatsQuestion) -> tuple[AwardSeat, ...]:
        return await _drawn(lambda: market.rows(question, clock.today(), overrides.read()))

    async def award_trip(self, question: TripQuestion) -> tuple[AwardTrip, ...]:
        return await _drawn(lambda: market.trip(question.ref, clock.today(), overrides.read()))

    async def cash_fares(self, question: FaresQuestion) -> tuple[CashFare, ...]:
        return await _drawn(lambda: fares.rows(question, clock.today()))

    async def hotel_stays(self, question: StaysQuestion) -> tuple[StayOffer, ...]:
        return await _drawn(lambda: stays.rows(question, clock.today(), overrides.read()))

    async def airport_delays(self, question: DelaysQuestion) -> tuple[AirportDelay, ...]:
        return await _drawn(lambda: delays.rows(question.airport, clock.now(), overrides.read()))

    async def exchange_rates(self, question: RatesQuestion) -> tuple[Rate, ...]:
        return await _drawn(lambda: rates.rows(question.currencies, clock.today()))


async def _drawn(draw: Callable[[], tuple[T, ...]]) -> tuple[T, ...]:
    if await _trouble():
        return ()
    return await anyio.to_thread.run_sync(draw, abandon_on_cancel=True)


async def _trouble() -> bool:
    """Acts as SANDBOX_FAULT says; returns whether the answer shall be empty."""
    word, _, seconds = (settings().sandbox_fault or "").partition(":")
    if word == "down":
        raise Unanswered("down", "fault")
    if word == "quota":
        raise Unanswered("quota_exhausted", "quota", retry_after=3600)
    if word == "slow":
        await anyio.sleep(float(seconds.rstrip("s")))
    return word == "empty"
