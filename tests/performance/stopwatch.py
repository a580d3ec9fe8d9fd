"""Seconds of a piece of work, and bounds that hold on a machine which other programs use too."""

import gc
import time
from collections.abc import Awaitable, Callable

import anyio

TICK_SECONDS = 0.001


def any_attempt_passes(attempt: Callable[[], bool], tries: int = 5) -> bool:
    """Another program may hold up an attempt or two, a slow program holds up all of them."""
    gc.freeze()  # as the servers do: a collection does not walk through all that was loaded before
    try:
        return any(attempt() for _ in range(tries))
    finally:
        gc.unfreeze()


def wall_seconds(work: Callable[[], object]) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def thread_seconds(work: Callable[[], object]) -> float:
    """Processor seconds of this thread alone."""
    start = time.thread_time()
    work()
    return time.thread_time() - start


def processor_seconds(work: Callable[[], object]) -> float:
    """Processor seconds of all threads of this process."""
    start = time.process_time()
    work()
    return time.process_time() - start


def seconds_of_additions(millions: int) -> float:
    """The yardstick of this machine: processor seconds of so many additions."""
    return processor_seconds(lambda: sum(range(1_000_000 * millions)))


async def longest_block(work: Callable[[], Awaitable[object]]) -> float:
    """The longest time the event loop did not come round while the work was awaited."""
    longest = 0.0

    async def tick() -> None:
        nonlocal longest
        while True:
            start = time.perf_counter()
            await anyio.sleep(TICK_SECONDS)
            longest = max(longest, time.perf_counter() - start - TICK_SECONDS)

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(tick)
        await anyio.sleep(0.01)  # the ticking has begun
        await work()
        tasks.cancel_scope.cancel()
    return longest
