"""How each source fares: outcomes of calls go in, and out comes whether to ask it, kept in Redis for all processes."""

import logging
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from redis.exceptions import RedisError

from shared import clock
from shared.redis import connect, key

log = logging.getLogger(__name__)
FAILURES = 5  # in a row open the breaker
OPEN_FOR = timedelta(seconds=60)
_KEPT = timedelta(days=30)
_LOCAL: "dict[str, Health]" = {}  # what this process saw, used while Redis is away


@dataclass(frozen=True)
class Health:
    """One source with one credential."""

    failures: int = 0
    failing_since: datetime | None = None
    open_until: datetime | None = None
    last_success_at: datetime | None = None
    reason: str | None = None

    @property
    def open(self) -> bool:
        return self.open_until is not None and self.open_until > clock.now()

    @property
    def retry_after(self) -> int | None:
        return max(1, round((self.open_until - clock.now()).total_seconds())) if self.open and self.open_until else None


def _where(name: str) -> str:
    return key("health", name)


def of_everybody(name: str) -> str:
    """Where the health of all accounts' own connections to a source is kept; other names stand for themselves."""
    source, _, scope = name.partition(":")
    return source if scope.startswith("account-") else name


def _moment(raw: bytes | None) -> datetime | None:
    return datetime.fromtimestamp(float(raw), UTC) if raw else None


def _parse(raw: dict[bytes, bytes]) -> Health:
    return Health(
        failures=int(raw.get(b"failures", 0)),
        failing_since=_moment(raw.get(b"failing_since")),
        open_until=_moment(raw.get(b"open_until")),
        last_success_at=_moment(raw.get(b"last_success_at")),
        reason=raw[b"reason"].decode() if b"reason" in raw else None,
    )


def read(names: Iterable[str]) -> dict[str, Health]:
    """The health of sources by `provider:credential scope`; a source never asked is healthy."""
    wanted = list(dict.fromkeys(names))
    try:
        pipe = connect().pipeline(transaction=False)
        for name in wanted:
            pipe.hgetall(_where(name))
        return dict(zip(wanted, map(_parse, pipe.execute()), strict=True))
    except (RedisError, OSError):
        return remembered(wanted)


def remembered(names: Iterable[str]) -> dict[str, Health]:
    """The same from this process's own memory, without a look at Redis."""
    return {name: _LOCAL.get(name, Health()) for name in names}


def succeeded(*names: str) -> None:
    now = clock.now()
    _LOCAL.update(dict.fromkeys(names, Health(last_success_at=now)))
    try:
        pipe = connect().pipeline()
        for place in {_where(name) for name in [*names, *map(of_everybody, names)]}:
            pipe.hdel(place, "failures", "failing_since", "open_until", "reason")
            pipe.hset(place, "last_success_at", now.timestamp())
            pipe.expire(place, _KEPT)
        pipe.execute()
    except (RedisError, OSError):
        log.warning("health: Redis is away, kept in memory")


def failed(name: str, reason: str) -> Health:
    """Counts one failure; the fifth in a row, and each one after it, opens the breaker for a minute."""
    now = clock.now()
    before = _LOCAL.get(name, Health())
    count = before.failures + 1
    try:
        pipe = connect().pipeline()
        pipe.hincrby(_where(name), "failures", 1)
        pipe.hsetnx(_where(name), "failing_since", now.timestamp())
        pipe.hset(_where(name), "reason", reason)
        pipe.expire(_where(name), _KEPT)
        if (everybody := of_everybody(name)) != name:
            pipe.hincrby(_where(everybody), "failures", 1)
            pipe.expire(_where(everybody), _KEPT)
        count = int(pipe.execute()[0])
        if count >= FAILURES:
            connect().hset(_where(name), "open_until", (now + OPEN_FOR).timestamp())
    except (RedisError, OSError):
        log.warning("health: Redis is away, counting in memory")
    until = now + OPEN_FOR if count >= FAILURES else None
    _LOCAL[name] = Health(count, before.failing_since or now, until, before.last_success_at, reason)
    return _LOCAL[name]


def rest(name: str, reason: str, seconds: int) -> None:
    """Leaves a source alone for so long, at most a day: it said itself that it will not answer before."""
    now = clock.now()
    until = now + timedelta(seconds=min(seconds, 86_400))
    before = _LOCAL.get(name, Health())
    _LOCAL[name] = Health(before.failures, before.failing_since, until, before.last_success_at, reason)
    try:
        connect().hset(_where(name), mapping={"reason": reason, "open_until": until.timestamp()})
        connect().expire(_where(name), _KEPT)
    except (RedisError, OSError):
        log.warning("health: Redis is away, kept in memory")
