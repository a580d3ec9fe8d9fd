"""Work that takes the processor for more than 50 ms: few pieces at once, one of an account, on separate threads.

On a database thread it would block everyone, and within a transaction it would keep its locks.
"""

from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from functools import partial
from typing import Any, TypeVar
from weakref import WeakValueDictionary

import anyio
import anyio.to_thread
from anyio.lowlevel import RunVar

from shared.errors import Busy
from shared.telemetry.call_context import get_context

T = TypeVar("T")
AT_ONCE = 2  # in one process; what takes long in them runs in processes that give way to those who wait for an answer
WAIT_SECONDS = 2.0
RETRY_SECONDS = 5


@dataclass
class _Places:
    """The places of one event loop. A caller that waits for one holds no thread."""

    free: anyio.Semaphore = field(default_factory=lambda: anyio.Semaphore(AT_ONCE))
    threads: anyio.CapacityLimiter = field(default_factory=lambda: anyio.CapacityLimiter(AT_ONCE))
    turns: WeakValueDictionary[str, anyio.Lock] = field(default_factory=WeakValueDictionary)  # by account


_places: RunVar[_Places] = RunVar("heavy_work")


async def run_heavy(work: Callable[..., T], *arguments: Any) -> T:
    """Runs `work` on a thread and returns its result. Raises Busy, see `take_place`."""
    async with take_place() as places:
        return await anyio.to_thread.run_sync(partial(work, *arguments), limiter=places.threads)


@asynccontextmanager
async def take_place() -> AsyncIterator[_Places]:
    """Waits for the turn of the request's account, then for one of the places.

    Those whose account is not known wait for each other. Raises Busy when two seconds were not enough.
    """
    places = _places.get(None)
    if places is None:
        _places.set(places := _Places())
    context = get_context()
    turn = places.turns.setdefault(context.account if context else "", anyio.Lock())
    async with AsyncExitStack() as gates:
        try:
            with anyio.fail_after(WAIT_SECONDS):
                await gates.enter_async_context(turn)
                await gates.enter_async_context(places.free)
        except TimeoutError:
            words = f"Too much is being read or drawn at present, and nothing was stored. Call again in {RETRY_SECONDS}"
            raise Busy(f"{words} seconds.", retry_after=RETRY_SECONDS) from None
        yield places
