"""The database threads of this process: as many as the connection pool has connections, and few of one account."""

from collections.abc import Callable
from functools import lru_cache, partial
from typing import Any, TypeVar
from weakref import WeakValueDictionary

import anyio
import anyio.to_thread
from anyio.lowlevel import EventLoopToken, current_token

from shared.settings import settings

T = TypeVar("T")
THREADS_OF_AN_ACCOUNT = 2
# By event loop and account; who waits holds no thread.
_turns: WeakValueDictionary[tuple[EventLoopToken, int], anyio.Semaphore] = WeakValueDictionary()


@lru_cache(maxsize=1)
def limiter() -> anyio.CapacityLimiter:
    return anyio.CapacityLimiter(settings().database_threads)


async def run_for_account(account_id: int, work: Callable[..., T], *arguments: Any) -> T:
    """On a thread, two of one account at once: all that compute share one interpreter with the calls of everybody else.

    Calls without an account wait for no one here; they are counted by their address.
    """
    if not account_id:
        return await anyio.to_thread.run_sync(partial(work, *arguments), limiter=limiter())
    turn = _turns.setdefault((current_token(), account_id), anyio.Semaphore(THREADS_OF_AN_ACCOUNT, fast_acquire=True))
    async with turn:
        return await anyio.to_thread.run_sync(partial(work, *arguments), limiter=limiter())
