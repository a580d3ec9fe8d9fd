"""Small work of many callers done at once: pieces go in one by one; a thread takes all that gathered meanwhile."""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Generic, TypeVar

import anyio
import anyio.to_thread
from anyio.lowlevel import RunVar

T = TypeVar("T")
R = TypeVar("R")


@dataclass
class _LoopQueue(Generic[T, R]):
    """Of one event loop: who waits, and the task that serves them while there are any."""

    waiting: list[tuple[T, asyncio.Future[R]]] = field(default_factory=list)
    limiter: anyio.CapacityLimiter = field(default_factory=lambda: anyio.CapacityLimiter(1))
    task: asyncio.Task[None] | None = None


class Batcher(Generic[T, R]):
    """`work` blocks, takes pieces, and returns as many results in their order.

    A caller alone is served at once; those who come while a batch is worked on make the next one. When the work fails
    all callers of its batch hear of it. Who is cancelled leaves, and the work is done all the same.
    """

    def __init__(self, work: Callable[[Sequence[T]], Sequence[R]]) -> None:
        self._work = work
        self._lanes: RunVar[_LoopQueue[T, R]] = RunVar("together")

    async def __call__(self, piece: T) -> R:
        lane = self._lanes.get(None)
        if lane is None:
            self._lanes.set(lane := _LoopQueue())
        result: asyncio.Future[R] = asyncio.get_running_loop().create_future()
        lane.waiting.append((piece, result))
        if lane.task is None:
            lane.task = asyncio.create_task(self._serve(lane))
        return await result

    async def _serve(self, lane: _LoopQueue[T, R]) -> None:
        try:
            while lane.waiting:
                batch, lane.waiting = lane.waiting, []
                await self._serve_batch(lane, batch)
        finally:
            lane.task = None

    async def _serve_batch(self, lane: _LoopQueue[T, R], batch: Sequence[tuple[T, asyncio.Future[R]]]) -> None:
        waiting = [result for _, result in batch]
        try:
            done = await anyio.to_thread.run_sync(self._work, [piece for piece, _ in batch], limiter=lane.limiter)
        except Exception as error:  # each caller hears of it at its own edge
            for result in waiting:
                if not result.done():
                    result.set_exception(error)
        else:
            for result, found in zip(waiting, done, strict=True):
                if not result.done():
                    result.set_result(found)
