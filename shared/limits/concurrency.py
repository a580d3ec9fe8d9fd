"""A bounded gather."""

from collections.abc import Awaitable, Callable, Sequence
from typing import TypeVar

import anyio

T = TypeVar("T")


async def gather_limited(calls: Sequence[Callable[[], Awaitable[T]]], limit: int = 4) -> list[T]:
    """Runs the calls side by side, at most `limit` at once; results in their order.

    The first failure cancels the others and is raised itself, not within an exception group.
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
