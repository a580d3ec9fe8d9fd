"""Events of the other programs come in from Redis; what they name is dropped from the bearer cache at once."""

import json
import logging
from typing import Any

import anyio
from redis.exceptions import RedisError

from mcp_server.transport.token_verifier import TokenVerifier
from shared.redis import EVENTS, connect_async

log = logging.getLogger(__name__)
PING_SECONDS = 4.0  # seconds of silence before the line is tried; below the connection's own time-out
RETRY_SECONDS = 1.0


async def follow_events(*bearers: TokenVerifier) -> None:
    """Follows the channel for ever. While Redis is away entries end by themselves within half a minute."""
    told = False
    while True:
        try:
            await _follow(*bearers)
        except (RedisError, OSError) as error:
            if not told:
                log.warning("events: Redis is away (%s), tokens are remembered by time alone", type(error).__name__)
            told = True
        else:
            told = False
        await anyio.sleep(RETRY_SECONDS)


async def _follow(*bearers: TokenVerifier) -> None:
    async with connect_async() as redis, redis.pubsub() as channel:
        await channel.subscribe(EVENTS)
        waiting = False
        while True:
            message = await channel.get_message(timeout=PING_SECONDS)
            if message is not None:
                waiting = False
                _apply(message, *bearers)
            elif waiting:
                return  # no answer to the ping: the line is dead, open another
            else:
                waiting = True
                await channel.ping()


def _apply(message: dict[str, Any], *bearers: TokenVerifier) -> None:
    """Each (re)subscription empties the cache: whatever was said meanwhile was not heard."""
    if message["type"] == "subscribe":
        for cache in bearers:
            cache.forget_all()
    elif message["type"] == "message":
        try:
            event = json.loads(message["data"])
        except ValueError:
            event = None
        if isinstance(event, dict):
            for cache in bearers:
                cache.forget(event)
        else:
            log.warning("events: something that is no event was published")
