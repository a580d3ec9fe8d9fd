"""Loads an operator's corrections of facts, and new rates, as soon as Redis announces them."""

import logging

import anyio
import anyio.to_thread
from redis.exceptions import RedisError
from sqlalchemy.exc import SQLAlchemyError

from shared.db.outages import OUTAGES
from shared.redis import FACTS, connect_async
from shared.reference.load import reference
from shared.reference.places import prepare_index
from shared.services.operations.facts import refresh
from shared.services.search.exchange_rates import refresh_bank_rates

log = logging.getLogger(__name__)
POLL_SECONDS = 4.0  # between two looks at the version without a message; below the connection's own timeout


async def watch_corrections() -> None:
    """Checks the version at the start, at each message and every few seconds; runs for ever."""
    while True:
        await _refresh()
        try:
            await _listen()
        except (RedisError, OSError):
            await anyio.sleep(POLL_SECONDS)


async def _listen() -> None:
    async with connect_async() as redis, redis.pubsub() as channel:
        await channel.subscribe(FACTS)
        while True:
            await channel.get_message(ignore_subscribe_messages=True, timeout=POLL_SECONDS)
            await _refresh()


async def _refresh() -> None:
    if await anyio.to_thread.run_sync(refresh_bank_rates):
        log.info("facts: newer exchange rates are taken up")
    try:
        if await anyio.to_thread.run_sync(refresh):
            await anyio.to_thread.run_sync(prepare_index, reference())
            log.info("facts: corrections are taken up")
    except SQLAlchemyError as error:
        OUTAGES.note(error)  # corrections wait
