"""Answers of long calls, kept in Redis for minutes: a page that waits for one looks again and never asks twice."""

import asyncio
import json
from collections import Counter
from collections.abc import Awaitable, Callable
from typing import Any

from anyio import to_thread

from shared.redis import call_redis, connect, key
from shared.secrets import digest

KEEP_SECONDS = 600
REFUSAL_SECONDS = 30  # until the page that waits has looked again; then the same question is asked again
LONGEST_SECONDS = 75  # a call ends by itself after 60; what a process that ended had begun is then asked again
MAX_OF_ONE, MAX_OF_ALL = 3, 40  # that run at once in this process, which has 100 connections for all its pages
MAX_BYTES = 1 << 20
_RUNNING = b"running"
WAITING = {"status": "waiting"}
_FULL = {"status": "limit_reached", "message": "Other searches still run. Please wait for one of them to end."}

Send = Callable[[], Awaitable[dict[str, Any]]]


class KeptAnswers:
    """Runs each question once, whichever process and however often it is asked for."""

    def __init__(self) -> None:
        self.running: Counter[str] = Counter()
        self._tasks: dict[str, asyncio.Task[dict[str, Any]]] = {}

    async def close(self) -> None:
        tasks = [*self._tasks.values()]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def take(self, owner: str, question: str, send: Send, seconds: float) -> dict[str, Any]:
        """What was answered within the last minutes, or is within so many seconds; else the status `waiting`.

        A question is begun by anyone who asks first. While Redis is down each process asks for itself.
        """
        name = key("page-answer", digest(f"{owner}\0{question}"))
        if name not in self._tasks:
            answer = await self._begin(owner, name, send)
            if answer is not None:
                return answer
        task = self._tasks[name]
        await asyncio.wait({task}, timeout=seconds)
        if not task.done():
            return dict(WAITING)
        if not _is_good(task.result()):
            await to_thread.run_sync(_drop, name)
        return task.result()

    async def _begin(self, owner: str, name: str, send: Send) -> dict[str, Any] | None:
        """What is there instead of a new task: the kept answer, or why none is begun here. None when it has begun."""
        state = await to_thread.run_sync(_claim, name)
        if isinstance(state, dict):
            if not _is_good(state):
                await to_thread.run_sync(_drop, name)
            return state
        if name in self._tasks:  # begun here, while Redis was asked
            return None
        if not state:
            return dict(WAITING)
        if self.running[owner] >= MAX_OF_ONE or self.running.total() >= MAX_OF_ALL:
            await to_thread.run_sync(_drop, name)
            return dict(_FULL)
        self.running[owner] += 1
        task = self._tasks[name] = asyncio.create_task(self._finish(owner, name, send))
        task.add_done_callback(lambda _: self._tasks.pop(name, None))
        return None

    async def _finish(self, owner: str, name: str, send: Send) -> dict[str, Any]:
        try:
            answer = await send()
        finally:
            self.running[owner] -= 1
            if not self.running[owner]:
                del self.running[owner]
        await to_thread.run_sync(_keep, name, answer)
        return answer


def _is_good(answer: dict[str, Any]) -> bool:
    return answer.get("status") in ("ok", "partial", "no_data")


def _claim(name: str) -> dict[str, Any] | bool:
    """The answer; True for who is to ask, which everybody is while Redis is down; False while it is asked."""

    def claim() -> dict[str, Any] | bool:
        if connect().set(name, _RUNNING, nx=True, ex=LONGEST_SECONDS):
            return True
        content = connect().get(name)
        if not isinstance(content, bytes) or content == _RUNNING:
            return False
        answer: dict[str, Any] = json.loads(content)
        return answer

    state = call_redis(claim)
    return True if state is None else state


def _keep(name: str, answer: dict[str, Any]) -> None:
    content = json.dumps(answer, separators=(",", ":")).encode()
    if len(content) > MAX_BYTES:
        content = json.dumps({"status": "internal_error", "message": "The answer is too long to be shown."}).encode()
    seconds = KEEP_SECONDS if _is_good(answer) else REFUSAL_SECONDS
    call_redis(lambda: connect().set(name, content, ex=seconds))


def _drop(name: str) -> None:
    call_redis(lambda: connect().delete(name))
