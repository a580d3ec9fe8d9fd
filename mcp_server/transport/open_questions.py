"""Questions that wait for a person, in Redis for all processes: few per account at once, each answered once."""

import secrets

import anyio.to_thread

from mcp_server.toolkit.thread_limiter import limiter
from shared import clock
from shared.redis import call_redis, connect, key

MAX_OPEN = 5  # of one account; beyond it a call answers as if no one could be asked
MAX_SECONDS = 900  # that a question stays open


async def open_question(account_id: int, seconds: float = MAX_SECONDS) -> str | None:
    """Opens a question and returns its id; None if too many are open, or Redis is down."""
    return await anyio.to_thread.run_sync(_open, account_id, seconds, limiter=limiter())


async def close_question(account_id: int, question_id: str) -> bool:
    """Closes it; whether it was open. A second, late or foreign answer finds none."""
    return await anyio.to_thread.run_sync(_close, account_id, question_id, limiter=limiter())


def _open(account_id: int, seconds: float) -> str | None:
    name, now, question_id = key("questions", str(account_id)), clock.now().timestamp(), secrets.token_urlsafe(18)
    pipe = connect().pipeline()
    pipe.zremrangebyscore(name, "-inf", now)
    pipe.zadd(name, {question_id: now + seconds})
    pipe.zcard(name)
    pipe.expire(name, MAX_SECONDS)
    replies = call_redis(pipe.execute)
    if replies is None:
        return None
    if replies[2] > MAX_OPEN:
        call_redis(lambda: connect().zrem(name, question_id))
        return None
    return question_id


def _close(account_id: int, question_id: str) -> bool:
    name = key("questions", str(account_id))
    pipe = connect().pipeline()
    pipe.zremrangebyscore(name, "-inf", clock.now().timestamp())
    pipe.zrem(name, question_id)
    replies = call_redis(pipe.execute)
    return replies is not None and replies[1] == 1
