"""Connections to Redis or Valkey, with a circuit breaker, and one key prefix for each data mode."""

import json
import logging
import time
from collections.abc import Callable
from contextlib import suppress
from functools import lru_cache
from typing import Any, TypeVar

import redis
import redis.asyncio
from redis.asyncio.retry import Retry as AsyncRetry
from redis.backoff import NoBackoff
from redis.exceptions import ConnectionError as Lost
from redis.exceptions import RedisError
from redis.retry import Retry

from shared.settings import SettingsError, settings
from shared.tls import find_bundle

log = logging.getLogger(__name__)
T = TypeVar("T")
EVENTS = "award:events"  # channel: {"family"}, {"token"}, {"account"} or {"client"} that must act at once
FACTS = "award:facts"  # channel: a message after each correction of a fact
_PAUSE_SECONDS = 2.0  # before the next attempt, so that callers do not each wait for it
_away_until = 0.0


@lru_cache(maxsize=1)
def connect() -> "redis.Redis":
    """A client with one retry, for stale connections; its own backoff would make callers wait for seconds.

    A timeout is not retried: a server that hangs counts as down.
    """
    once = Retry(NoBackoff(), 1, (Lost,))
    return redis.Redis.from_url(
        settings().redis_url, socket_timeout=2, socket_connect_timeout=2, retry=once, **_list_tls_options()
    )


def refuse_cluster() -> None:
    """Raises SettingsError if the server is part of a cluster: keys of one job would be on several servers, and
    every worker would end at its first job. A server that does not answer is not checked.
    """
    facts: Any = {}
    with suppress(RedisError, OSError):
        facts = connect().info("cluster")
    if int(facts.get("cluster_enabled", 0)):
        raise SettingsError("REDIS_URL: the server is in cluster mode; name one without it (cluster-enabled no)")


def connect_async() -> "redis.asyncio.Redis":
    """A client for the running event loop; the caller closes it."""
    once = AsyncRetry(NoBackoff(), 1)
    return redis.asyncio.Redis.from_url(
        settings().redis_url, socket_timeout=5, socket_connect_timeout=2, retry=once, **_list_tls_options()
    )


def _list_tls_options() -> dict[str, Any]:
    """Options only for rediss://. The bundle adds to the machine's authorities."""
    bundle = find_bundle() if settings().redis_url.startswith("rediss:") else None
    return {"ssl_ca_certs": bundle} if bundle else {}


def key(*parts: str) -> str:
    """A key with the data mode, so that sandbox and live data never mix."""
    return ":".join(("award", settings().data_mode, *parts))


def call_redis(command: Callable[[], T]) -> T | None:
    """The result of `command`, or None while Redis is down. After the pause one caller tries again for everyone."""
    global _away_until
    now = time.monotonic()
    if now < _away_until:
        return None
    if _away_until:
        _away_until = now + _PAUSE_SECONDS
    try:
        answer = command()
    except (RedisError, OSError):
        _away_until = time.monotonic() + _PAUSE_SECONDS
        log.warning("Redis is down")
        return None
    _away_until = 0.0
    return answer


def publish(**event: str) -> None:
    """Tells every MCP server, after commit, what to drop: family=, token= (its hash), account= (public id) or
    client= (its id).

    Without Redis nothing is lost: caches end by themselves within 30 seconds.
    """
    call_redis(lambda: connect().publish(EVENTS, json.dumps(event)))
