"""Answers of people to questions on the streams of calls: a client may post one to another process than asked it."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import anyio
import anyio.to_thread
from redis.exceptions import RedisError

from mcp_server.toolkit.thread_limiter import limiter
from mcp_server.transport.open_questions import close_question
from shared.redis import call_redis, connect, connect_async, key

MAX_WAITING = 500  # calls of this process that wait for a person
MAX_ANSWER_BYTES = 10_000
_LISTEN_SECONDS, _RETRY_SECONDS = 4.0, 1.0  # the first below the connection's own time-out


@dataclass
class _Answer:
    """What one call waits for."""

    result: Any = None
    event: anyio.Event = field(default_factory=anyio.Event)

    async def wait(self) -> Any:
        await self.event.wait()
        return self.result


class PersonAnswers:
    """The calls of this process that wait for a person."""

    def __init__(self) -> None:
        self._waiting: dict[str, _Answer] = {}

    @property
    def are_full(self) -> bool:
        return len(self._waiting) >= MAX_WAITING

    @contextmanager
    def expect(self, question_id: str) -> Iterator[_Answer]:
        self._waiting[question_id] = answer = _Answer()
        try:
            yield answer
        finally:
            del self._waiting[question_id]

    async def take(self, account_id: int, message: dict[str, Any]) -> bool:
        """Whether the message answers an open question of this account; if so, the waiting call continues.

        An error instead of a result is an answer too: no one was asked.
        """
        question_id, result = message.get("id"), message.get("result")
        body = json.dumps({"id": question_id, "result": result})
        if not isinstance(question_id, str) or len(body) > MAX_ANSWER_BYTES:
            return False
        if not await close_question(account_id, question_id):
            return False
        if not self._settle(question_id, result):
            publish = partial(call_redis, lambda: connect().publish(_name_channel(), body))
            await anyio.to_thread.run_sync(publish, limiter=limiter())
        return True

    def _settle(self, question_id: str, result: Any) -> bool:
        answer = self._waiting.get(question_id)
        if answer is None:
            return False
        answer.result = result
        answer.event.set()
        return True

    async def follow_others(self) -> None:
        """Runs for ever, passing on answers that other processes received. While Redis is down nothing new is asked."""
        while True:
            try:
                await self._listen()
            except (RedisError, OSError):
                await anyio.sleep(_RETRY_SECONDS)

    async def _listen(self) -> None:
        async with connect_async() as redis, redis.pubsub() as channel:
            await channel.subscribe(_name_channel())
            while True:
                message = await channel.get_message(ignore_subscribe_messages=True, timeout=_LISTEN_SECONDS)
                if message is not None:
                    answer = json.loads(message["data"])
                    self._settle(answer["id"], answer["result"])


def _name_channel() -> str:
    return key("answers")
