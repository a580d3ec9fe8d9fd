"""Concurrency tools: batching of small work from many callers, and a bounded gather."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from typing import Generic, TypeVar

import anyio
import anyio.to_thread
from anyio.lowlevel import RunVar

T = TypeVar("T")
R = TypeVar("R")


@dataclass
class _LoopQueue(Generic[T, R]):
    """The waiting callers of one event loop, and the task that serves them while there are any."""

    waiting: list[tuple[T, asyncio.Future[R]]] = field(default_factory=list)
    limiter: anyio.CapacityLimiter = field(default_factory=lambda: anyio.CapacityLimiter(1))
    task: asyncio.Task[None] | None = None


class Batcher(Generic[T, R]):
    """`work` blocks, takes pieces, and returns as many results in their order.

    A single caller is served at once; callers that arrive while a batch runs form the next one, so batches grow with
    load. When the work fails, every caller of its batch gets the exception. Cancelling a caller does not stop the work.
    """

    def __init__(self, work: Callable[[Sequence[T]], Sequence[R]]) -> None:
        self._work = work
        self._queues: RunVar[_LoopQueue[T, R]] = RunVar("batcher")

    async def __call__(self, piece: T) -> R:
        queue = self._queues.get(None)
        if queue is None:
            self._queues.set(queue := _LoopQueue())
        result: asyncio.Future[R] = asyncio.get_running_loop().create_future()
        queue.waiting.append((piece, result))
        if queue.task is None:
            queue.task = asyncio.create_task(self._serve(queue))
        return await result

    async def _serve(self, queue: _LoopQueue[T, R]) -> None:
        try:
            while queue.waiting:
                batch, queue.waiting = queue.waiting, []
                await self._serve_batch(queue, batch)
        finally:
            queue.task = None

    async def _serve_batch(self, queue: _LoopQueue[T, R], batch: Sequence[tuple[T, asyncio.Future[R]]]) -> None:
        waiting = [result for _, result in batch]
        try:
            done = await anyio.to_thread.run_sync(self._work, [piece for piece, _ in batch], limiter=queue.limiter)
        except Exception as error:  # raised again in each caller
            for result in waiting:
                if not result.done():
                    result.set_exception(error)
        else:
            for result, value in zip(waiting, done, strict=True):
                if not result.done():
                    result.set_result(value)


async def gather_limited(calls: Sequence[Callable[[], Awaitable[T]]], limit: int = 4) -> list[T]:
    """Runs the calls side by side, at most `limit` at once; results in their order.

    The first failure cancels the others and is raised as it is, not within an exception group.
    """
    results: dict[int, T] = {}
    failures: list[Exception] = []
    limiter = anyio.CapacityLimiter(limit)

    async def run(index: int, call: Callable[[], Awaitable[T]]) -> None:
        try:
            async with limiter:
                results[index] = await call()
        except Exception as error:
            failures.append(error)
            tasks.cancel_scope.cancel()

    async with anyio.create_task_group() as tasks:
        for index, call in enumerate(calls):
            tasks.start_soon(run, index, call)
    if failures:
        raise failures[0]
    return [results[index] for index in range(len(calls))]
