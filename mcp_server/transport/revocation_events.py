"""Revocation events from other programs over Redis: drops what they name from the token caches at once."""

import json
import logging
from typing import Any

import anyio
from redis.exceptions import RedisError

from mcp_server.transport.token_verifier import TokenVerifier
from shared.redis import EVENTS, connect_async

log = logging.getLogger(__name__)
PING_SECONDS = 4.0  # of silence before testing the connection; below its own timeout
RETRY_SECONDS = 1.0


async def follow_events(*verifiers: TokenVerifier) -> None:
    """Runs for ever. While Redis is down, cached tokens expire by themselves within half a minute."""
    warned = False
    while True:
        try:
            await _follow(*verifiers)
        except (RedisError, OSError) as error:
            if not warned:
                log.warning("events: Redis is down (%s), cached tokens end by time alone", type(error).__name__)
            warned = True
        else:
            warned = False
        await anyio.sleep(RETRY_SECONDS)


async def _follow(*verifiers: TokenVerifier) -> None:
    async with connect_async() as redis, redis.pubsub() as channel:
        await channel.subscribe(EVENTS)
        pinged = False
        while True:
            message = await channel.get_message(timeout=PING_SECONDS)
            if message is not None:
                pinged = False
                _apply(message, *verifiers)
            elif pinged:
                return  # no answer to the ping: the connection is dead, so open another
            else:
                pinged = True
                await channel.ping()


def _apply(message: dict[str, Any], *verifiers: TokenVerifier) -> None:
    """Each (re)subscription empties the caches: events sent in the meantime were missed."""
    if message["type"] == "subscribe":
        for verifier in verifiers:
            verifier.forget_all()
    elif message["type"] == "message":
        try:
            event = json.loads(message["data"])
        except ValueError:
            event = None
        if isinstance(event, dict):
            for verifier in verifiers:
                verifier.forget(event)
        else:
            log.warning("events: something that is no event was published")
