"""The sandbox as a provider, with the faults the operator asked for in SANDBOX_FAULT."""

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
    """One client per question. A window may have thousands of cells, so they are drawn on a thread."""

    async def award_seats(self, question: SeatsQuestion) -> tuple[AwardSeat, ...]:
        return await _run_draw(lambda: market.find_seats(question, clock.today(), overrides.read_overrides()))

    async def award_trip(self, question: TripQuestion) -> tuple[AwardTrip, ...]:
        return await _run_draw(lambda: market.find_trip(question.ref, clock.today(), overrides.read_overrides()))

    async def cash_fares(self, question: FaresQuestion) -> tuple[CashFare, ...]:
        return await _run_draw(lambda: fares.find_fares(question, clock.today()))

    async def hotel_stays(self, question: StaysQuestion) -> tuple[StayOffer, ...]:
        return await _run_draw(lambda: stays.find_stays(question, clock.today(), overrides.read_overrides()))

    async def airport_delays(self, question: DelaysQuestion) -> tuple[AirportDelay, ...]:
        return await _run_draw(lambda: delays.find_delays(question.airport, clock.now(), overrides.read_overrides()))

    async def exchange_rates(self, question: RatesQuestion) -> tuple[Rate, ...]:
        return await _run_draw(lambda: rates.list_rates(question.currencies, clock.today()))


async def _run_draw(draw: Callable[[], tuple[T, ...]]) -> tuple[T, ...]:
    if await _apply_fault():
        return ()
    return await anyio.to_thread.run_sync(draw, abandon_on_cancel=True)


async def _apply_fault() -> bool:
    """Acts as SANDBOX_FAULT says; returns whether the answer shall be empty."""
    word, _, seconds = (settings().sandbox_fault or "").partition(":")
    if word == "down":
        raise Unanswered("down", "fault")
    if word == "quota":
        raise Unanswered("quota_exhausted", "quota", retry_after=3600)
    if word == "slow":
        await anyio.sleep(float(seconds.rstrip("s")))
    return word == "empty"
