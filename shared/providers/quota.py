"""Calls of a credential's day: a tenth is kept for people, and what can wait is spread over the day.

What people use of their tenth takes nothing from the checks; what they use beyond it makes the day of the checks
smaller, from then on, so that both together stay within the calls of the source.
"""

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
COUNTING_SECONDS = 1.0  # how long the calls of an answer are counted before it continues without


def spend_call(request: ProviderRequest) -> Reading[Any] | None:
    """Blocks. Counts one call; the failure when none is left for this kind of request, and then counts nothing."""
    calls = request.provider.calls_a_day
    if calls is None:
        return None
    people = _count_people(request) if request.background else 0
    name, allowed = f"calls:{request.health}", _allow(request, calls, people)
    verdict = limits.hit(name, allowed, DAY)
    if verdict.allowed:
        if not request.background:
            limits.count_more(_people(request), 1, DAY)
        return None
    limits.take_back(name, DAY)  # a refused call was not made: counted, refusals would use up the reserve of people
    if not request.background:
        return request.failure("quota_exhausted", QUOTA, retry_after=verdict.retry_after)
    if not request.can_wait:
        return request.failure("quota_exhausted", PUT_OFF, retry_after=verdict.retry_after)
    limits.hit(_short(request), 1, SHORTAGE_SECONDS)
    share = _count_for_checks(calls, people)
    missing = verdict.count - people - count_share(share, _seconds_of_day())
    wait = max(1, ceil(missing * DAY / max(1, share)))  # until the day's share holds so many calls
    return request.failure("quota_exhausted", PUT_OFF, retry_after=min(wait, verdict.retry_after))


def _allow(request: ProviderRequest, calls: int, people: int) -> int:
    """So many calls may be made by now, those of people included, before this one is refused."""
    if not request.background:
        return calls
    if request.can_wait:
        return count_allowed(calls, people, _seconds_of_day())
    return people + _count_for_checks(calls, people)


def has_call(request: ProviderRequest) -> bool:
    """Blocks. Whether one is left for a check now."""
    calls = request.provider.calls_a_day
    if calls is None:
        return True
    allowed = count_allowed(calls, _count_people(request), _seconds_of_day())
    return limits.peek(f"calls:{request.health}", allowed, DAY).allowed


def is_short(request: ProviderRequest) -> bool:
    """Blocks. Whether a check was put off within the hour."""
    return not limits.peek(_short(request), 1, SHORTAGE_SECONDS).allowed


def _short(request: ProviderRequest) -> str:
    return f"short:{request.health}"


def _people(request: ProviderRequest) -> str:
    return f"people:{request.health}"


def _count_people(request: ProviderRequest) -> int:
    return limits.peek(_people(request), 0, DAY).count


def _count_for_checks(calls: int, people: int) -> int:
    """Of so many calls a day those of the checks, when people have made so many."""
    return max(0, calls - max(calls // RESERVE, people))


def count_allowed(calls: int, people: int, passed: int) -> int:
    """Of so many calls a day those that may be made before a check waits, people's included, after these seconds.

    >>> count_allowed(1000, 0, 43_200), count_allowed(1000, 100, 43_200), count_allowed(1000, 500, 43_200)
    (487, 587, 770)
    """
    return people + count_share(_count_for_checks(calls, people), passed)


def count_share(calls: int, passed: int) -> int:
    """Of so many calls a day those that may be used when so many of its seconds have passed."""
    return min(calls, max(1, calls // HEAD_START) + calls * passed // DAY)


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
                await anyio.to_thread.run_sync(_count_more, request, more, abandon_on_cancel=True)


def _count_more(request: ProviderRequest, more: int) -> None:
    limits.count_more(f"calls:{request.health}", more, DAY)
    if not request.background:
        limits.count_more(_people(request), more, DAY)
