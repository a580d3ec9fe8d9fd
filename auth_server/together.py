"""Asks that come in while a statement is under way share the next one: load makes batches, calm makes no delay."""

import asyncio
from collections.abc import Callable
from typing import Generic, TypeVar

import anyio.to_thread

from auth_server.threads import limiter

Ask = TypeVar("Ask")
Found = TypeVar("Found")


class Together(Generic[Ask, Found]):
    """`work` answers all asks of a batch in one go, on a worker thread; each ask has a key its answer is found by."""

    def __init__(self, work: Callable[[dict[str, Ask]], dict[str, Found]]) -> None:
        self._work = work
        self._asks: dict[str, Ask] = {}
        self._next: asyncio.Future[dict[str, Found]] | None = None
        self._task: asyncio.Task[None] | None = None

    async def find(self, key: str, ask: Ask) -> Found | None:
        """What the work, begun after this was asked, found for it; None when it found nothing."""
        self._asks[key] = ask
        if self._next is None:
            self._next = asyncio.get_running_loop().create_future()
        if self._task is None:
            self._task = asyncio.create_task(self._run())
        found = await asyncio.shield(self._next)
        return found.get(key)

    async def _run(self) -> None:
        while self._next is not None:
            asks, answer = self._asks, self._next
            self._asks, self._next = {}, None
            try:
                answer.set_result(await anyio.to_thread.run_sync(self._work, asks, limiter=limiter()))
            except Exception as error:  # everyone who waits is told, each at its own edge
                answer.set_exception(error)
        self._task = None
