"""Circuit breakers: what each answer or failure does to the health of a provider with a credential.

Five failures in a row open the breaker for a minute: the provider is not asked, and the answer is its last failure.
The breaker of a provider that the operator switched off stays open.
"""

import logging
from datetime import timedelta

from redis.exceptions import RedisError

from shared import clock
from shared.provider_health import (
    FAILURES_TO_OPEN,
    LOCAL,
    OPEN_DURATION,
    SWITCHED_OFF,
    Health,
    build_redis_key,
    mirror_switches,
    read_health,
    read_local,
    shared_name,
)
from shared.redis import connect

__all__ = [
    "FAILURES_TO_OPEN",
    "LOCAL",
    "SWITCHED_OFF",
    "Health",
    "mirror_switches",
    "read_health",
    "read_local",
    "shared_name",
]
log = logging.getLogger(__name__)
_RETENTION = timedelta(days=30)


def record_success(*names: str) -> None:
    now = clock.now()
    LOCAL.update(dict.fromkeys(names, Health(last_success_at=now)))
    try:
        pipe = connect().pipeline()
        for redis_key in {build_redis_key(name) for name in [*names, *map(shared_name, names)]}:
            pipe.hdel(redis_key, "failures", "failing_since", "open_until", "reason")
            pipe.hset(redis_key, "last_success_at", now.timestamp())
            pipe.expire(redis_key, _RETENTION)
        pipe.execute()
    except (RedisError, OSError):
        log.warning("health: Redis is down, kept in this process")


def record_failure(name: str, reason: str) -> Health:
    """Counts one failure; the fifth in a row, and each one after it, opens the breaker."""
    now = clock.now()
    before = LOCAL.get(name, Health())
    count = before.failures + 1
    try:
        pipe = connect().pipeline()
        pipe.hincrby(build_redis_key(name), "failures", 1)
        pipe.hsetnx(build_redis_key(name), "failing_since", now.timestamp())
        pipe.hset(build_redis_key(name), "reason", reason)
        pipe.expire(build_redis_key(name), _RETENTION)
        if (together := shared_name(name)) != name:
            pipe.hincrby(build_redis_key(together), "failures", 1)
            pipe.expire(build_redis_key(together), _RETENTION)
        count = int(pipe.execute()[0])
        if count >= FAILURES_TO_OPEN:
            connect().hset(build_redis_key(name), "open_until", (now + OPEN_DURATION).timestamp())
    except (RedisError, OSError):
        log.warning("health: Redis is down, counted in this process")
    until = now + OPEN_DURATION if count >= FAILURES_TO_OPEN else None
    LOCAL[name] = Health(count, before.failing_since or now, until, before.last_success_at, reason)
    return LOCAL[name]


def pause(name: str, reason: str, seconds: int) -> None:
    """Opens the breaker for as long as the provider itself asked for, at most a day."""
    now = clock.now()
    until = now + timedelta(seconds=min(seconds, 86_400))
    before = LOCAL.get(name, Health())
    LOCAL[name] = Health(before.failures, before.failing_since, until, before.last_success_at, reason)
    try:
        connect().hset(build_redis_key(name), mapping={"reason": reason, "open_until": until.timestamp()})
        connect().expire(build_redis_key(name), _RETENTION)
    except (RedisError, OSError):
        log.warning("health: Redis is down, kept in this process")
