"""Places at each provider: so many requests at once, of all processes together while Redis answers."""

import secrets
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from typing import NamedTuple, TypeVar

import anyio
import anyio.to_thread
from anyio.lowlevel import RunVar

from shared.providers.contract import Provider
from shared.slots import give_slot_back, take_slot

T = TypeVar("T")
POLL_SECONDS = 0.05  # between two looks for a place that another process gives back
GRACE_SECONDS = 5.0  # a place outlives the time limit of its request by this, and is then taken for lost
RETURN_SECONDS = 1.0

_processes = 1  # that share each provider's places while Redis is away


class _Limiters(NamedTuple):
    whole: anyio.CapacityLimiter  # callers of this process wait in turn, and only so many of them ask Redis
    part: anyio.CapacityLimiter  # what this process may use while nobody counts for all


# Capacity limiters belong to one event loop.
_limiters: RunVar[dict[str, _Limiters]] = RunVar("provider_places")
_threads: RunVar[anyio.CapacityLimiter] = RunVar("provider_place_threads")


def share(processes: int) -> None:
    """This process is one of so many that ask, and keeps to its part of each provider's places without Redis."""
    global _processes
    _processes = processes


@asynccontextmanager
async def hold_place(provider: Provider, seconds: float) -> AsyncIterator[bool]:
    """Waits for a place at most so long; whether there is one. It is given back at the end."""
    async with AsyncExitStack() as places:
        with anyio.move_on_after(seconds) as waiting:
            await _take_place(provider, places)
        yield not waiting.cancelled_caught


async def _take_place(provider: Provider, places: AsyncExitStack) -> None:
    limiters = _limiters_of(provider)
    await _hold(limiters.whole, places)
    if provider.data_mode != "live":  # invented answers come from nobody who could be overrun
        return
    holder = secrets.token_hex(8)
    places.push_async_callback(_give_back, provider, holder)  # also what is taken while this is cancelled
    arguments = (provider.name, provider.concurrency, holder, provider.timeout + GRACE_SECONDS)
    while (taken := await _in_thread(take_slot, *arguments)) is False:
        await anyio.sleep(POLL_SECONDS)
    if taken is None:
        await _hold(limiters.part, places)


async def _hold(limiter: anyio.CapacityLimiter, places: AsyncExitStack) -> None:
    borrower = object()
    await limiter.acquire_on_behalf_of(borrower)
    places.callback(limiter.release_on_behalf_of, borrower)


async def _give_back(provider: Provider, holder: str) -> None:
    with anyio.move_on_after(RETURN_SECONDS, shield=True):
        await _in_thread(give_slot_back, provider.name, holder)


def _limiters_of(provider: Provider) -> _Limiters:
    limiters = _limiters.get(None)
    if limiters is None:
        _limiters.set(limiters := {})
    if provider.name not in limiters:
        part = max(1, provider.concurrency // _processes)
        limiters[provider.name] = _Limiters(anyio.CapacityLimiter(provider.concurrency), anyio.CapacityLimiter(part))
    return limiters[provider.name]


async def _in_thread(work: Callable[..., T], *arguments: object) -> T:
    """On threads of their own: a slow look-up of answers holds up no place. A cancelled caller does not wait."""
    limiter = _threads.get(None)
    if limiter is None:
        _threads.set(limiter := anyio.CapacityLimiter(4))
    return await anyio.to_thread.run_sync(work, *arguments, limiter=limiter, abandon_on_cancel=True)
