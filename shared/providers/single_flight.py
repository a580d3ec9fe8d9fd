"""Single flight over all processes: one of several concurrent equal requests asks the source for all.

The others take its answer from the cache, or its failure from a note that it leaves only for them: anyone who comes
later asks again. A request that ended without either, or whose process was lost, is replaced by the next one.
"""

from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import datetime
from typing import Any, TypeVar

import anyio
import anyio.to_thread
from anyio.lowlevel import RunVar
from pydantic import TypeAdapter

from shared.providers import cache
from shared.providers.contract import Reading, Status
from shared.providers.places import hurry
from shared.providers.request import CHECK, PUT_OFF, ProviderRequest

T = TypeVar("T")
RELEASE_SECONDS = 1.0
SHORTEST_SECONDS, LONGEST_SECONDS = 0.05, 0.25  # between two looks: a tenth of the time waited so far


@dataclass(frozen=True)
class _Failure:
    status: Status
    reason: str
    since: datetime | None
    retry_after: int | None


_threads: RunVar[anyio.CapacityLimiter] = RunVar("single_flight_threads")
_FAILURE = TypeAdapter(_Failure)


async def wait_for(request: ProviderRequest, fetcher: str) -> Reading[Any] | None:
    """Waits until the request of `fetcher` has ended. Returns its failure, or None if the cache is to be read again."""
    if fetcher.startswith(CHECK) and not request.background:
        await hurry(request.provider, fetcher)
    started = anyio.current_time()
    while (fetch := await _in_thread(cache.read_fetch, request.cache_key, fetcher)).is_running:
        waited = anyio.current_time() - started
        await anyio.sleep(max(SHORTEST_SECONDS, min(LONGEST_SECONDS, waited / 10)))
    # Checks wait behind people and leave them calls, so people do not share the failures of checks.
    if not fetch.failure or (fetcher.startswith(CHECK) and not request.background):
        return None
    try:
        failure = _FAILURE.validate_json(fetch.failure)
    except ValueError:  # written by another version
        return None
    return request.failure(failure.status, failure.reason, since=failure.since, retry_after=failure.retry_after)


@asynccontextmanager
async def hold_locks(requests: Sequence[ProviderRequest]) -> AsyncIterator[dict[str, Reading[Any]]]:
    """Renews the locks of these requests while they are fetched; the caller adds their readings by cache key.

    An answer freed its lock when it was cached. At the end frees the others, and passes failures to those waiting.
    """
    readings: dict[str, Reading[Any]] = {}
    try:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(_renew, requests)
            yield readings
            tasks.cancel_scope.cancel()
    finally:
        if ends := [end for request in requests if (end := _end(request, readings.get(request.cache_key.name)))]:
            with anyio.move_on_after(RELEASE_SECONDS, shield=True):
                await _in_thread(cache.release_fetch, ends)


def _end(request: ProviderRequest, reading: Reading[Any] | None) -> tuple[cache.CacheKey, str, str] | None:
    """How to free this request's lock; None if its answer did."""
    if reading and reading.has_answer:
        return None
    return request.cache_key, request.ticket, _write_failure(reading)


def _write_failure(reading: Reading[Any] | None) -> str:
    if reading is None or reading.reason == PUT_OFF:  # another request may be entitled to more calls
        return ""
    failure = _Failure(reading.status, reading.reason or reading.status, reading.since, reading.retry_after)
    return _FAILURE.dump_json(failure).decode()


async def _renew(requests: Sequence[ProviderRequest]) -> None:
    fetches = [(request.cache_key, request.ticket) for request in requests]
    while True:
        await anyio.sleep(min(cache_key.lock_seconds for cache_key, _ in fetches) / 3)
        await _in_thread(cache.renew_fetch, fetches)


async def _in_thread(work: Callable[..., T], *arguments: object) -> T:
    """Runs it on a separate thread: a slow look-up of answers ends no lock."""
    limiter = _threads.get(None)
    if limiter is None:
        _threads.set(limiter := anyio.CapacityLimiter(4))
    return await anyio.to_thread.run_sync(work, *arguments, limiter=limiter, abandon_on_cancel=True)
