"""The sandbox as a source: a question goes in; after the trouble the operator asked for, invented seats come out."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import anyio
import anyio.to_thread

from shared import clock
from shared.providers.contract import AwardSeat, SeatsQuestion, Unanswered
from shared.providers.sandbox import market, overrides
from shared.settings import settings


@asynccontextmanager
async def connect(_credential: str | None) -> AsyncIterator["Sandbox"]:
    yield Sandbox()


class Sandbox:
    """One client per question; it keeps nothing."""

    async def award_seats(self, question: SeatsQuestion) -> tuple[AwardSeat, ...]:
        if await _trouble():
            return ()
        # A window over every airline takes longer than the loop may be held up.
        return await anyio.to_thread.run_sync(_rows, question, abandon_on_cancel=True)


def _rows(question: SeatsQuestion) -> tuple[AwardSeat, ...]:
    return market.rows(question, clock.today(), overrides.read())


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
