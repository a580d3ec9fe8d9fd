"""Runs flows: each on a worker thread in one transaction, with its events published after the commit."""

from collections.abc import Callable
from contextlib import nullcontext
from functools import lru_cache, partial
from typing import TypeVar
from weakref import WeakValueDictionary

import anyio
import anyio.to_thread

from auth_server.web import rate_limit
from auth_server.web.request_data import RequestData
from auth_server.web.unit_of_work import UnitOfWork
from shared.db.base import transaction
from shared.db.outages import run_again
from shared.redis import publish
from shared.settings import settings

T = TypeVar("T")
Flow = Callable[[UnitOfWork, RequestData], T]
HASHING_THREADS = 2  # argon2 takes 19 MiB and a processor each
MAX_WAITING_FOR_HASHING = 64
FLOWS_OF_A_BROWSER = 2
_turns: WeakValueDictionary[str, anyio.Semaphore] = WeakValueDictionary()  # by cookie; a waiting caller holds no thread
_SAFE_METHODS = frozenset({"GET", "HEAD"})  # these may be repeated (RFC 9110, 9.2.2)


@lru_cache(maxsize=1)
def limiter() -> anyio.CapacityLimiter:
    """With the hashing threads, as many as the pool has connections."""
    return anyio.CapacityLimiter(max(1, settings().database_threads - HASHING_THREADS))


@lru_cache(maxsize=1)
def hashing_limiter() -> anyio.CapacityLimiter:
    return anyio.CapacityLimiter(HASHING_THREADS)


def is_hashing_full() -> bool:
    return hashing_limiter().statistics().tasks_waiting >= MAX_WAITING_FOR_HASHING


def transact(flow: Flow[T], data: RequestData) -> T:
    """Protocol errors are results, so their records (a spent code, a revoked family) are committed too."""
    with transaction() as session:
        uow = UnitOfWork(session)
        result = flow(uow, data)
    for event in uow.events:
        publish(**event)
    return result


def _count_and_transact(flow: Flow[T], data: RequestData) -> T:
    rate_limit.count_request(data.peer)
    return (_transact_again if data.method in _SAFE_METHODS else transact)(flow, data)


def _transact_again(flow: Flow[T], data: RequestData) -> T:
    return run_again(partial(transact, flow, data))


async def run(flow: Flow[T], data: RequestData, *, hashes: bool = False) -> T:
    """Counts the request against the rate limit of its address, on the same thread, and runs the flow."""
    return await _run_in_turn(_count_and_transact, flow, data, hashes=hashes)


async def _run_in_turn(
    work: Callable[[Flow[T], RequestData], T], flow: Flow[T], data: RequestData, *, hashes: bool
) -> T:
    """Runs it on a thread, a few at once of one browser: ten of its pages had taken every thread."""
    turn = _turns.setdefault(data.cookie, anyio.Semaphore(FLOWS_OF_A_BROWSER)) if data.cookie else nullcontext()
    async with turn:
        return await anyio.to_thread.run_sync(work, flow, data, limiter=hashing_limiter() if hashes else limiter())


async def count_request(peer: str) -> None:
    """Counts a request of a handler that may answer without a flow; its flow runs with `run_counted`."""
    if rate_limit.limit_per_minute(peer) is not None:  # no thread is taken for an address without limit
        await anyio.to_thread.run_sync(rate_limit.count_request, peer, limiter=limiter())


async def run_counted(flow: Flow[T], data: RequestData, *, hashes: bool = False, again: bool = False) -> T:
    """Runs a flow for a request that was counted already; `again`: it may be repeated after the database was lost."""
    return await _run_in_turn(_transact_again if again else transact, flow, data, hashes=hashes)
