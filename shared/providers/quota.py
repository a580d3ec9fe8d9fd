"""Calls of a credential's day: all count, a tenth is kept for people, and what can wait is spread over the day."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from math import ceil
from typing import Any

import anyio
import anyio.to_thread

from shared import clock, limits
from shared.providers.contract import Reading
from shared.providers.request import PUT_OFF, QUOTA, ProviderRequest

DAY = 86_400
RESERVE = 10  # a tenth of a provider's daily calls is kept for requests of people
HEAD_START = 24  # what can wait may use an hour's share before that hour has passed
SHORTAGE_SECONDS = 3600
COUNTING_SECONDS = 1.0  # how long the calls of an answer are counted before it goes on without


def spend_call(request: ProviderRequest) -> Reading[Any] | None:
    """Blocks. Counts one call; the failure when none is left for this kind of request, and then counts nothing."""
    calls = request.provider.calls_a_day
    if calls is None:
        return None
    if request.background:
        calls -= calls // RESERVE
    allowed = count_share(calls, _seconds_of_day()) if request.can_wait else calls
    name = f"calls:{request.health}"
    verdict = limits.hit(name, allowed, DAY)
    if verdict.allowed:
        return None
    limits.take_back(name, DAY)  # a refused call was not made: counted, refusals would use up the reserve of people
    if not request.background:
        return request.failure("quota_exhausted", QUOTA, retry_after=verdict.retry_after)
    if request.can_wait:
        limits.hit(_short(request), 1, SHORTAGE_SECONDS)
    wait = min(_seconds_until_share(calls, verdict.count), verdict.retry_after)
    return request.failure("quota_exhausted", PUT_OFF, retry_after=wait if request.can_wait else verdict.retry_after)


def has_call(request: ProviderRequest) -> bool:
    """Blocks. Whether one is left for a check now."""
    calls = request.provider.calls_a_day
    if calls is None:
        return True
    allowed = count_share(calls - calls // RESERVE, _seconds_of_day())
    return limits.peek(f"calls:{request.health}", allowed, DAY).allowed


def is_short(request: ProviderRequest) -> bool:
    """Blocks. Whether a check was put off within the hour."""
    return not limits.peek(_short(request), 1, SHORTAGE_SECONDS).allowed


def _short(request: ProviderRequest) -> str:
    return f"short:{request.health}"


def count_share(calls: int, passed: int) -> int:
    """Of so many calls a day those that may be used when so many of its seconds have passed."""
    return min(calls, max(1, calls // HEAD_START) + calls * passed // DAY)


def _seconds_until_share(calls: int, wanted: int) -> int:
    """Until the day's share holds so many calls."""
    missing = wanted - count_share(calls, _seconds_of_day())
    return max(1, ceil(missing * DAY / max(1, calls)))


def _seconds_of_day() -> int:
    return int(clock.now().timestamp()) % DAY


@asynccontextmanager
async def count_pages(request: ProviderRequest, client: Any) -> AsyncIterator[None]:
    """Counts what an adapter called beyond the first call, also when it failed: a search of ten pages is ten calls."""
    try:
        yield
    finally:
        more = getattr(client, "calls", 1) - 1
        if more > 0 and request.provider.calls_a_day is not None:
            with anyio.move_on_after(COUNTING_SECONDS, shield=True):
                await anyio.to_thread.run_sync(
                    limits.count_more, f"calls:{request.health}", more, DAY, abandon_on_cancel=True
                )
