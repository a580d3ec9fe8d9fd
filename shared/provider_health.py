"""The health of each provider with each credential, in Redis for all processes, and which the operator switched off.

It is written by the circuit breakers of `shared.providers`, and read by anyone who says how providers fare.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Literal

from redis.exceptions import RedisError

from shared import clock
from shared.redis import connect, key

FAILURES_TO_OPEN = 5
OPEN_DURATION = timedelta(seconds=60)
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
    """The name that counts all accounts' own connections to a provider; any other name is returned as it is."""
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
    _remember_switches({name.decode(): datetime.fromisoformat(at.decode()) for name, at in switches.items()})
    return {name: _hold_open(name, _parse_health(row)) for name, row in zip(unique, rows, strict=True)}


def mirror_switches(switches: Mapping[str, datetime]) -> None:
    """Tells all processes which providers are off: what the database says. Raises RedisError."""
    pipe = connect().pipeline()
    pipe.delete(key(SWITCHED_OFF))
    if switches:
        pipe.hset(key(SWITCHED_OFF), mapping={name: at.isoformat() for name, at in switches.items()})
    pipe.execute()


def _remember_switches(switches: Mapping[str, datetime]) -> None:
    _SWITCHES.clear()
    _SWITCHES.update(switches)


def _hold_open(name: str, health: Health) -> Health:
    """The health as it is, or with the breaker held open where the provider is off."""
    since = _SWITCHES.get(name.partition(":")[0])
    if since is None:
        return health
    return replace(health, failing_since=since, open_until=clock.now() + OPEN_DURATION, reason=SWITCHED_OFF)


def read_local(names: Iterable[str]) -> dict[str, Health]:
    """What this process has seen itself; Redis is not read."""
    return {name: _hold_open(name, LOCAL.get(name, Health())) for name in names}
