"""Rows a day that a source has of each route, learnt from its answers; an emptied Redis has none."""

from collections import defaultdict
from collections.abc import Collection, Mapping
from contextlib import suppress
from datetime import timedelta

from redis.exceptions import RedisError

from shared.redis import connect, key

USUAL = 2.0  # for a route never asked about
RETENTION = timedelta(days=30)
Route = tuple[str, str]
_Word = bytes | bytearray | memoryview | str | int | float  # for the Redis client


def read_rates(health: str, origins: Collection[str]) -> Mapping[Route, float]:
    """Reads the rates of routes from these airports. Blocks."""
    try:
        pipe = connect().pipeline(transaction=False)
        for origin in origins:
            pipe.hgetall(_key(health, origin))
        rows = pipe.execute()
    except (RedisError, OSError):
        return {}
    return {
        (origin, end.decode()): float(rate)
        for origin, of_origin in zip(origins, rows, strict=True)
        for end, rate in of_origin.items()
    }


def learn_rates(health: str, rates: Mapping[Route, float]) -> None:
    """Stores the newest count of each route. Blocks."""
    by_origin: dict[str, dict[_Word, _Word]] = defaultdict(dict)
    for (origin, end), rate in rates.items():
        by_origin[origin][end] = str(round(rate, 3))
    with suppress(RedisError, OSError):
        pipe = connect().pipeline(transaction=False)
        for origin, ends in by_origin.items():
            pipe.hset(_key(health, origin), mapping=ends)
            pipe.expire(_key(health, origin), RETENTION)
        pipe.execute()


def _key(health: str, origin: str) -> str:
    return key("rows", health, origin)
