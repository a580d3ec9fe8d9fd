"""The database threads of this process: as many as the pool has connections, and few for one account."""

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
# By event loop and account; a waiting caller holds no thread.
_turns: WeakValueDictionary[tuple[EventLoopToken, int], anyio.Semaphore] = WeakValueDictionary()


@lru_cache(maxsize=1)
def limiter() -> anyio.CapacityLimiter:
    return anyio.CapacityLimiter(settings().database_threads)


async def run_for_account(account_id: int, work: Callable[..., T], *arguments: Any) -> T:
    """Runs it on a thread, at most two for one account: computations share one interpreter with everyone's calls.

    Calls without an account do not wait here; they are limited by address.
    """
    if not account_id:
        return await anyio.to_thread.run_sync(partial(work, *arguments), limiter=limiter())
    turn = _turns.setdefault((current_token(), account_id), anyio.Semaphore(THREADS_OF_AN_ACCOUNT, fast_acquire=True))
    async with turn:
        return await anyio.to_thread.run_sync(partial(work, *arguments), limiter=limiter())
