"""Small work of many callers done at once: pieces go in one by one; a thread takes all that gathered meanwhile."""

import asyncio
import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Generic, TypeVar

import anyio
import anyio.to_thread
from anyio.lowlevel import RunVar

log = logging.getLogger(__name__)
T = TypeVar("T")
R = TypeVar("R")


@dataclass
class _Lane(Generic[T, R]):
    """Of one event loop: who waits, and the task that serves them while there are any."""

    waiting: list[tuple[T, asyncio.Future[R]]] = field(default_factory=list)
    limiter: anyio.CapacityLimiter = field(default_factory=lambda: anyio.CapacityLimiter(1))
    task: asyncio.Task[None] | None = None


class Together(Generic[T, R]):
    """`work` blocks, takes pieces, and returns as many results in their order.

    A caller alone is served at once; those who come while a batch is worked on make the next one. A batch that fails
    is worked on piece by piece, so that nobody suffers from another's. Who is cancelled leaves; the work is done.
    """

    def __init__(self, work: Callable[[Sequence[T]], Sequence[R]]) -> None:
        self._work = work
        self._lanes: RunVar[_Lane[T, R]] = RunVar("together")

    async def __call__(self, piece: T) -> R:
        lane = self._lanes.get(None)
        if lane is None:
            self._lanes.set(lane := _Lane())
        result: asyncio.Future[R] = asyncio.get_running_loop().create_future()
        lane.waiting.append((piece, result))
        if lane.task is None:
            lane.task = asyncio.create_task(self._serve(lane))
        return await result

    async def _serve(self, lane: _Lane[T, R]) -> None:
        try:
            while lane.waiting:
                batch, lane.waiting = lane.waiting, []
                await self._serve_batch(lane, batch)
        finally:
            lane.task = None

    async def _serve_batch(self, lane: _Lane[T, R], batch: Sequence[tuple[T, asyncio.Future[R]]]) -> None:
        pieces = [piece for piece, _ in batch]
        try:
            done = await anyio.to_thread.run_sync(self._work, pieces, limiter=lane.limiter)
        except Exception as error:  # the edge of the work: whoever waits for it hears of it
            if len(batch) > 1:
                log.warning("%s together failed (%s), each is tried alone", len(batch), type(error).__name__)
                for one in batch:
                    await self._serve_batch(lane, [one])
            elif not batch[0][1].done():
                batch[0][1].set_exception(error)
            return
        for (_, result), value in zip(batch, done, strict=True):
            if not result.done():
                result.set_result(value)
