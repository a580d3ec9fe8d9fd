"""Calls of a credential's day: a tenth is reserved for people, and what can wait is spread over the day.

People's use of their tenth costs the checks nothing; use beyond it makes the checks' share
smaller from then on, so that both together stay within the source's limit.
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
RESERVE = 10  # a tenth of a provider's daily calls is reserved for people
HEAD_START = 24  # what can wait may use an hour's share in advance
SHORTAGE_SECONDS = 3600
COUNTING_SECONDS = 1.0  # to count the calls of an answer before continuing without


def spend_call(request: ProviderRequest) -> Reading[Any] | None:
    """Counts one call, or returns the failure if none is left for this kind of request. Blocks."""
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
    wait = max(1, ceil(missing * DAY / max(1, share)))  # until the day's share includes that many calls
    return request.failure("quota_exhausted", PUT_OFF, retry_after=min(wait, verdict.retry_after))


def _allow(request: ProviderRequest, calls: int, people: int) -> int:
    """How many calls, with people's, may have been made by now before this one is refused."""
    if not request.background:
        return calls
    if request.can_wait:
        return count_allowed(calls, people, _seconds_of_day())
    return people + _count_for_checks(calls, people)


def has_call(request: ProviderRequest) -> bool:
    """Whether a call is left for a check now. Blocks."""
    calls = request.provider.calls_a_day
    if calls is None:
        return True
    allowed = count_allowed(calls, _count_people(request), _seconds_of_day())
    return limits.peek(f"calls:{request.health}", allowed, DAY).allowed


def is_short(request: ProviderRequest) -> bool:
    """Whether a check was put off within the hour. Blocks."""
    return not limits.peek(_short(request), 1, SHORTAGE_SECONDS).allowed


def _short(request: ProviderRequest) -> str:
    return f"short:{request.health}"


def _people(request: ProviderRequest) -> str:
    return f"people:{request.health}"


def _count_people(request: ProviderRequest) -> int:
    return limits.peek(_people(request), 0, DAY).count


def _count_for_checks(calls: int, people: int) -> int:
    """The checks' part of a day's calls, given how many people have made."""
    return max(0, calls - max(calls // RESERVE, people))


def count_allowed(calls: int, people: int, passed: int) -> int:
    """How many of a day's calls may be made by this second before a check waits, people's included.

    >>> count_allowed(1000, 0, 43_200), count_allowed(1000, 100, 43_200), count_allowed(1000, 500, 43_200)
    (487, 587, 770)
    """
    return people + count_share(_count_for_checks(calls, people), passed)


def count_share(calls: int, passed: int) -> int:
    """How many of a day's calls may be used once this many of its seconds have passed."""
    return min(calls, max(1, calls // HEAD_START) + calls * passed // DAY)


def _seconds_of_day() -> int:
    return int(clock.now().timestamp()) % DAY


@asynccontextmanager
async def count_pages(request: ProviderRequest, client: Any) -> AsyncIterator[None]:
    """Counts an adapter's calls beyond the first, also if it failed: a search of ten pages is ten calls."""
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
