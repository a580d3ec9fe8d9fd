"""One way to Redis or Valkey: a connection per process kind, and one prefix for keys of each data mode."""

import json
import logging
from functools import lru_cache

import redis
import redis.asyncio
from redis.asyncio.retry import Retry as AsyncRetry
from redis.backoff import NoBackoff
from redis.exceptions import RedisError
from redis.retry import Retry

from shared.settings import settings

log = logging.getLogger(__name__)
EVENTS = "award:events"  # channel: {"family"}, {"token"} or {"account"} after a change that must act at once
FACTS = "award:facts"  # channel: a word after each correction of a fact


@lru_cache(maxsize=1)
def connect() -> "redis.Redis":
    """One retry at once, for a connection that went stale; the client's own pauses are seconds a caller would wait."""
    once = Retry(NoBackoff(), 1)
    return redis.Redis.from_url(settings().redis_url, socket_timeout=5, socket_connect_timeout=2, retry=once)


def connect_async() -> "redis.asyncio.Redis":
    """A client for the running event loop; the caller closes it."""
    once = AsyncRetry(NoBackoff(), 1)
    return redis.asyncio.Redis.from_url(settings().redis_url, socket_timeout=5, socket_connect_timeout=2, retry=once)


def key(*parts: str) -> str:
    """Keys of sandbox and live data never meet."""
    return ":".join(("award", settings().data_mode, *parts))


def publish(**event: str) -> None:
    """Tells every MCP server, after commit, what to forget: family=, token= (its hash) or account= (public id).

    Without Redis nothing is lost: caches end by themselves within 30 seconds.
    """
    try:
        connect().publish(EVENTS, json.dumps(event))
    except (RedisError, OSError):
        log.warning("events: Redis is away, caches end by time")
