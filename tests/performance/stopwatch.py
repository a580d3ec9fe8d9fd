"""Seconds of a piece of work, and bounds that hold on a machine which other programs use too."""

import gc
import time
from collections.abc import Awaitable, Callable
from html.parser import HTMLParser

import anyio

TICK_SECONDS = 0.001
PAGE = "".join(
    f'<tr class="row{n}"><td style="color:#333">{n}</td><td>GBP {n}.40 &amp; tax</td></tr>' for n in range(250)
)
PAGES = 10  # one alone would be over before the clock has moved far


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


Stopwatch = Callable[[Callable[[], object]], float]


def cost_in_pages(work: Callable[[], object], tries: int = 7, stopwatch: Stopwatch = processor_seconds) -> float:
    """The seconds of a piece of work, where 1 is what the standard library takes to read a page of markup.

    Machines differ by more than a factor of two, and one machine by half of that from minute to minute. Python code
    that reads text is slowed down as the work is; a loop in C is not. Each is done `tries` times in turn, and the
    least counts.
    Work that other processes do for this one is timed with `wall_seconds`.
    """
    gc.freeze()  # as the servers do: a collection does not walk through all that was loaded before
    try:
        pairs = [(stopwatch(work), stopwatch(_read_pages)) for _ in range(tries)]
    finally:
        gc.unfreeze()
    own, yardstick = (min(seconds) for seconds in zip(*pairs, strict=True))
    return own / yardstick * PAGES


def _read_pages() -> None:
    for _ in range(PAGES):
        parser = HTMLParser()
        parser.feed(PAGE)
        parser.close()


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
