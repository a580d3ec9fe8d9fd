"""Rows a day that a source has of each route, learnt from its answers; a Redis that was emptied knows none."""

from collections.abc import Collection, Iterable, Mapping
from contextlib import suppress
from datetime import timedelta

from redis.exceptions import RedisError

from shared.providers.contract import SeatsPart
from shared.redis import connect, key

USUAL = 2.0  # of a route nobody has asked about
RETENTION = timedelta(days=30)
Route = tuple[str, str]


def read(health: str, origins: Collection[str]) -> Mapping[Route, float]:
    """Blocks. What is known of the routes from these airports."""
    try:
        pipe = connect().pipeline(transaction=False)
        for origin in origins:
            pipe.hgetall(_name(health, origin))
        rows = pipe.execute()
    except (RedisError, OSError):
        return {}
    return {
        (origin, end.decode()): float(rate)
        for origin, of_origin in zip(origins, rows, strict=True)
        for end, rate in of_origin.items()
    }


def learn(health: str, parts: Iterable[SeatsPart]) -> None:
    """Blocks. The newest count of each route is kept."""
    with suppress(RedisError, OSError):
        pipe = connect().pipeline(transaction=False)
        for part in parts:
            if part.rows_a_day is not None:
                name = _name(health, part.question.origin)
                pipe.hset(name, part.question.destination, str(round(part.rows_a_day, 3)))
                pipe.expire(name, RETENTION)
        pipe.execute()


def _name(health: str, origin: str) -> str:
    return key("rows", health, origin)
