"""The health of each provider with each credential, in Redis for all processes, and the operator's switches.

It is a circuit breaker: five failures in a row open it for a minute, in which the provider is not asked, and the answer
is its last failure. The breaker of a provider that was switched off stays open.
"""

import logging
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Literal

from redis.exceptions import RedisError

from shared import clock
from shared.redis import connect, key

log = logging.getLogger(__name__)
FAILURES_TO_OPEN = 5
OPEN_DURATION = timedelta(seconds=60)
_RETENTION = timedelta(days=30)
SWITCHED_OFF = "switched_off"
State = Literal["live", "degraded", "down"]
_SWITCHES: dict[str, datetime] = {}  # as last read: since when a provider is off
LOCAL: "dict[str, Health]" = {}  # what this process has seen, used while Redis is down


@dataclass(frozen=True)
class Health:
    """One provider with one credential."""

    failures: int = 0
    failing_since: datetime | None = None
    open_until: datetime | None = None
    last_success_at: datetime | None = None
    reason: str | None = None

    @property
    def is_open(self) -> bool:
        return self.open_until is not None and self.open_until > clock.now()

    @property
    def retry_after(self) -> int | None:
        if self.open_until is None or not self.is_open:
            return None
        return max(1, round((self.open_until - clock.now()).total_seconds()))

    @property
    def state(self) -> State:
        if self.is_open or self.failures >= FAILURES_TO_OPEN:
            return "down"
        return "degraded" if self.failures else "live"


def build_redis_key(name: str) -> str:
    return key("health", name)


def shared_name(name: str) -> str:
    """The name that counts all accounts' own connections to a provider; any other name is returned unchanged."""
    source, _, scope = name.partition(":")
    return source if scope.startswith("account-") else name


def _parse_time(raw: bytes | None) -> datetime | None:
    return datetime.fromtimestamp(float(raw), UTC) if raw else None


def _parse_health(raw: dict[bytes, bytes]) -> Health:
    return Health(
        failures=int(raw.get(b"failures", 0)),
        failing_since=_parse_time(raw.get(b"failing_since")),
        open_until=_parse_time(raw.get(b"open_until")),
        last_success_at=_parse_time(raw.get(b"last_success_at")),
        reason=raw[b"reason"].decode() if b"reason" in raw else None,
    )


def read_health(names: Iterable[str]) -> dict[str, Health]:
    """Health by `provider:credential scope`; a provider never asked is healthy."""
    unique = list(dict.fromkeys(names))
    try:
        pipe = connect().pipeline(transaction=False)
        pipe.hgetall(key(SWITCHED_OFF))
        for name in unique:
            pipe.hgetall(build_redis_key(name))
        switches, *rows = pipe.execute()
    except (RedisError, OSError):
        return read_local(unique)
    _SWITCHES.clear()
    _SWITCHES.update({name.decode(): datetime.fromisoformat(at.decode()) for name, at in switches.items()})
    return {name: _hold_open(name, _parse_health(row)) for name, row in zip(unique, rows, strict=True)}


def mirror_switches(switches: Mapping[str, datetime]) -> None:
    """Tells all processes which providers are off: what the database says. Raises RedisError."""
    pipe = connect().pipeline()
    pipe.delete(key(SWITCHED_OFF))
    if switches:
        pipe.hset(key(SWITCHED_OFF), mapping={name: at.isoformat() for name, at in switches.items()})
    pipe.execute()


def _hold_open(name: str, health: Health) -> Health:
    """The health, with the breaker held open where the provider is off."""
    since = _SWITCHES.get(name.partition(":")[0])
    if since is None:
        return health
    return replace(health, failing_since=since, open_until=clock.now() + OPEN_DURATION, reason=SWITCHED_OFF)


def read_local(names: Iterable[str]) -> dict[str, Health]:
    """The health this process has seen itself, without reading Redis."""
    return {name: _hold_open(name, LOCAL.get(name, Health())) for name in names}


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
