"""Flows run here: one worker thread, one transaction, one protocol server; what they revoked is published after."""

from collections.abc import Callable
from functools import lru_cache
from typing import TypeVar

import anyio
import anyio.to_thread

from auth_server.oauth.server import Server
from auth_server.web import rate_limit
from auth_server.web.request_data import RequestData
from shared.db.base import transaction
from shared.redis import publish
from shared.settings import settings

T = TypeVar("T")
Flow = Callable[[Server, RequestData], T]
HASHERS = 2  # argon2 takes 19 MiB and a processor each
WAITING_MAX = 64


@lru_cache(maxsize=1)
def limiter() -> anyio.CapacityLimiter:
    """Together with the hashing threads as many as the pool has connections."""
    return anyio.CapacityLimiter(max(1, settings().database_threads - HASHERS))


@lru_cache(maxsize=1)
def hashing() -> anyio.CapacityLimiter:
    return anyio.CapacityLimiter(HASHERS)


def hashing_is_full() -> bool:
    return hashing().statistics().tasks_waiting >= WAITING_MAX


def transact(flow: Flow[T], inc: RequestData, counted: bool = False) -> T:
    """Protocol errors are results, so what they recorded (a spent code, a revoked family) is committed too."""
    if not counted:
        rate_limit.count(inc.peer)
    with transaction() as session:
        server = Server(session)
        result = flow(server, inc)
    for event in server.events:
        publish(**event)
    return result


async def run(flow: Flow[T], inc: RequestData, *, hashes: bool = False, counted: bool = False) -> T:
    return await anyio.to_thread.run_sync(transact, flow, inc, counted, limiter=hashing() if hashes else limiter())
