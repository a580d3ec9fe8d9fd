"""Facts an operator corrected: word of a correction comes in from Redis, and this process answers with it at once."""

import logging

import anyio
import anyio.to_thread
from redis.exceptions import RedisError
from sqlalchemy.exc import SQLAlchemyError

from shared.redis import FACTS, connect_async
from shared.services.operations.facts import refresh

log = logging.getLogger(__name__)
LONGEST = 4.0  # seconds until a correction is noticed when nobody tells of it; below the connection's own time-out


async def follow() -> None:
    """Looks at the version at the start, at each word of a correction, and every few seconds; for ever."""
    while True:
        await _look()
        try:
            await _told()
        except (RedisError, OSError):
            await anyio.sleep(LONGEST)


async def _told() -> None:
    async with connect_async() as redis, redis.pubsub() as channel:
        await channel.subscribe(FACTS)
        while True:
            await channel.get_message(ignore_subscribe_messages=True, timeout=LONGEST)
            await _look()


async def _look() -> None:
    try:
        if await anyio.to_thread.run_sync(refresh):
            log.info("facts: corrections are taken up")
    except SQLAlchemyError as error:
        log.warning("facts: the database is away (%s), corrections wait", type(error).__name__)
