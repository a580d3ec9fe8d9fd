"""Counters per key and window in Redis, with a bounded memory fallback: a key goes in, a verdict comes out."""

import logging
from collections import OrderedDict
from dataclasses import dataclass

from redis.exceptions import RedisError

from shared import clock
from shared.redis import connect, key

log = logging.getLogger(__name__)
_MEMORY: "OrderedDict[str, tuple[int, int]]" = OrderedDict()
_MEMORY_SIZE = 10_000


@dataclass(frozen=True)
class Verdict:
    allowed: bool
    count: int
    retry_after: int


def _slot(window: int) -> tuple[int, int]:
    moment = int(clock.now().timestamp())
    return moment // window, window - moment % window


def _remembered(name: str, slot: int, amount: int) -> int:
    """The fallback while Redis is away: per process, oldest keys dropped first."""
    known, count = _MEMORY.pop(name, (slot, 0))
    count = (count if known == slot else 0) + amount
    _MEMORY[name] = (slot, count)
    while len(_MEMORY) > _MEMORY_SIZE:
        _MEMORY.popitem(last=False)
    return count


def hit(name: str, limit: int, window: int, amount: int = 1) -> Verdict:
    """Counts `amount` on `name` in the current window of `window` seconds; amount 0 only looks."""
    slot, left = _slot(window)
    try:
        pipe = connect().pipeline(transaction=False)
        where = key("limit", name, str(slot))
        pipe.incrby(where, amount)
        pipe.expire(where, window + 60)
        count = int(pipe.execute()[0])
    except (RedisError, OSError):
        log.warning("limits: Redis is away, counting in memory")
        count = _remembered(name, slot, amount)
    return Verdict(count <= limit if amount else count < limit, count, left)
