"""The cache of answers in Redis, and the locks that let one process fetch an answer for all (single flight)."""

import hashlib
import zlib
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from functools import lru_cache
from typing import Any, Literal, NamedTuple, cast

from pydantic import TypeAdapter
from redis.exceptions import RedisError

from shared import clock
from shared.providers.contract import VERBS, Provider, Reading
from shared.redis import connect, key
from shared.settings import settings

MAX_AGE = timedelta(hours=4)  # the greatest age of a cached answer, even if a provider allows more
_VERSION = "2"  # of the records next to a cached answer: 1 had prices without the names of their rows
_FIRST_LINE_BYTES = 511
LOCK_SECONDS = 5.0  # a process that does not renew its lock in this time is lost
FAILURE_SECONDS = 10  # those waiting for a failed request check it four times a second
_RENEW = "if redis.call('get', KEYS[1]) == ARGV[1] then redis.call('pexpire', KEYS[1], ARGV[2]) end"
_RELEASE = """
if ARGV[2] ~= '' then redis.call('set', KEYS[2], ARGV[2], 'ex', ARGV[3]) end
if redis.call('get', KEYS[1]) == ARGV[1] then redis.call('del', KEYS[1]) end
"""
_ZLIB_LEVEL = 1  # answers are repetitive: the fastest level leaves a thirteenth of their size


@dataclass(frozen=True)
class CacheKey:
    """Where the answer to one question is cached: provider, who may see the answer, question."""

    provider: Provider
    verb: str
    name: str

    @property
    def max_age(self) -> timedelta:
        return min(self.provider.fresh_for, MAX_AGE)

    @property
    def lock_name(self) -> str:
        return f"{self.name}:asking"

    @property
    def lock_seconds(self) -> float:
        return min(LOCK_SECONDS, self.provider.timeout)

    def failure_name(self, ticket: str) -> str:
        """The key for the failure of the request with this ticket."""
        return f"{self.name}:failed:{ticket}"


@dataclass(frozen=True)
class _Metadata:
    """The first line of a cache entry: everything of a reading but its value."""

    status: Literal["ok", "no_data"]
    reason: str | None
    taken_at: datetime
    provider_checked_at: datetime | None


@lru_cache(maxsize=32)
def _adapter(kind: Any) -> TypeAdapter[Any]:
    return TypeAdapter(kind)


def build_key(provider: Provider, scope: str, verb: str, question: Any) -> CacheKey:
    """A key of the data mode and, where the provider's terms forbid sharing, of the asking credential."""
    reach = "anyone" if provider.terms == "anyone" else scope
    kind: Any = type(question)
    digest = hashlib.sha256(_adapter(kind).dump_json(question)).hexdigest()[:32]
    return CacheKey(provider, verb, key("reading", _VERSION, provider.name, reach, verb, digest))


def get_many(lookups: Sequence[tuple[CacheKey, timedelta | None]]) -> list[Reading[Any] | None]:
    """The cached reading of each key, if it is no older than the age given; nothing while Redis is down."""
    if not lookups:
        return []
    names = list(dict.fromkeys(cache_key.name for cache_key, _ in lookups))
    try:
        entries = dict(zip(names, connect().mget(names), strict=True))
    except (RedisError, OSError):
        return [None] * len(lookups)
    decoded: dict[tuple[str, timedelta | None], Reading[Any] | None] = {}
    for cache_key, max_age in lookups:
        if (cache_key.name, max_age) not in decoded:
            decoded[cache_key.name, max_age] = _decode(cache_key, entries[cache_key.name], max_age)
    return [decoded[cache_key.name, max_age] for cache_key, max_age in lookups]


def put_many(answers: Sequence[tuple[CacheKey, Reading[Any]]]) -> list[Reading[Any]]:
    """Caches answers (never failures), frees their locks, and returns them with their expiry."""
    try:
        pipe = connect().pipeline(transaction=False)
        for cache_key, reading in answers:
            if cache_key.max_age > timedelta(0):
                pipe.set(cache_key.name, _encode(cache_key, reading), px=cache_key.max_age)
            pipe.delete(cache_key.lock_name)
        pipe.execute()
    except (RedisError, OSError):
        return [reading for _, reading in answers]
    return [
        replace(reading, good_until=reading.taken_at + cache_key.max_age)
        if cache_key.max_age > timedelta(0)
        else reading
        for cache_key, reading in answers
    ]


class Fetch(NamedTuple):
    """Whether a request is still fetching, and if it failed, what it left for those waiting."""

    is_running: bool
    failure: str = ""


class Turn(NamedTuple):
    """Whether a request may fetch the answer itself now, what was cached meanwhile, and whose request fetches
    it.
    """

    may_fetch: bool
    reading: Reading[Any] | None
    fetcher: str | None = None


def acquire_fetch(lookups: Sequence[tuple[CacheKey, str, timedelta | None]]) -> list[Turn]:
    """Lets one request for each key, named by its ticket, fetch the answer.

    The lock is a lease that its holder renews; it ends with `put_many` or `release_fetch`. While Redis is down all may
    fetch.
    """
    if not lookups:
        return []
    try:
        pipe = connect().pipeline(transaction=False)
        for cache_key, ticket, _ in lookups:
            pipe.set(cache_key.lock_name, ticket, nx=True, px=round(cache_key.lock_seconds * 1000))
            pipe.get(cache_key.lock_name)
            pipe.get(cache_key.name)
        replies = pipe.execute()
    except (RedisError, OSError):
        return [Turn(True, None)] * len(lookups)
    turns = [
        Turn(bool(locked), _decode(cache_key, entry, max_age), holder.decode() if holder else None)
        for (cache_key, _, max_age), locked, holder, entry in zip(
            lookups, replies[::3], replies[1::3], replies[2::3], strict=True
        )
    ]
    done = [(key, ticket) for (key, ticket, _), turn in zip(lookups, turns, strict=True) if all(turn[:2])]
    if done:
        release_fetch([(key, ticket, "") for key, ticket in done])
    return turns


def find_fresh(lookups: Sequence[tuple[CacheKey, timedelta | None]]) -> list[bool]:
    """For each key whether it has an answer no older than the age given, or is being asked; no answer is read."""
    try:
        pipe = connect().pipeline(transaction=False)
        for cache_key, _ in lookups:
            pipe.getrange(cache_key.name, 0, _FIRST_LINE_BYTES)
            pipe.exists(cache_key.lock_name)
        replies = pipe.execute()
    except (RedisError, OSError):
        return [False] * len(lookups)
    return [
        bool(is_asking) or _read_metadata(cache_key, entry, max_age) is not None
        for (cache_key, max_age), entry, is_asking in zip(lookups, replies[::2], replies[1::2], strict=True)
    ]


def renew_fetch(fetches: Sequence[tuple[CacheKey, str]]) -> None:
    """Renews the leases of requests that still fetch, or wait for their place."""
    with suppress(RedisError, OSError):
        pipe = connect().pipeline(transaction=False)
        for cache_key, ticket in fetches:
            pipe.eval(_RENEW, 1, cache_key.lock_name, ticket, round(cache_key.lock_seconds * 1000))
        pipe.execute()


def release_fetch(fetches: Sequence[tuple[CacheKey, str, str]]) -> None:
    """Lets the next request fetch. Each ticket may have a failure, for those waiting for this one."""
    with suppress(RedisError, OSError):
        pipe = connect().pipeline(transaction=False)
        for cache_key, ticket, failure in fetches:
            keys = cache_key.lock_name, cache_key.failure_name(ticket)
            pipe.eval(_RELEASE, 2, *keys, ticket, failure, FAILURE_SECONDS)
        pipe.execute()


def read_fetch(key: CacheKey, ticket: str) -> Fetch:
    """The state of another request's fetch; over, while Redis is down."""
    try:
        holder, failure = cast(list[bytes | None], connect().mget(key.lock_name, key.failure_name(ticket)))
    except (RedisError, OSError):
        return Fetch(is_running=False)
    return Fetch(holder == ticket.encode(), (failure or b"").decode())


def _encode(cache_key: CacheKey, reading: Reading[Any]) -> bytes:
    metadata = _Metadata(
        "ok" if reading.value else "no_data", reading.reason, reading.taken_at, reading.provider_checked_at
    )
    body = _adapter(VERBS[cache_key.verb].answer).dump_json(reading.value)
    return _adapter(_Metadata).dump_json(metadata) + b"\n" + zlib.compress(body, _ZLIB_LEVEL)


def _read_metadata(cache_key: CacheKey, entry: bytes, max_age: timedelta | None) -> _Metadata | None:
    """Reads the first line; None if it is missing, too old or unreadable."""
    try:
        metadata: _Metadata = _adapter(_Metadata).validate_json(entry.split(b"\n", 1)[0])
    except ValueError:
        return None  # written by another version
    is_old = clock.now() - metadata.taken_at > min(cache_key.max_age, max_age or cache_key.max_age)
    return None if is_old else metadata


def _decode(cache_key: CacheKey, entry: Any, max_age: timedelta | None) -> Reading[Any] | None:
    """Decodes an entry; None if it is missing, too old or unreadable."""
    metadata = _read_metadata(cache_key, entry, max_age) if entry else None
    if metadata is None:
        return None
    try:
        body = zlib.decompress(entry.split(b"\n", 1)[1])
        value = _adapter(VERBS[cache_key.verb].answer).validate_json(body)
    except (ValueError, IndexError, zlib.error):
        return None
    return Reading(
        source=cache_key.provider.name,
        status=metadata.status,
        value=value,
        reason=metadata.reason,
        data_mode=settings().data_mode,
        taken_at=metadata.taken_at,
        provider_checked_at=metadata.provider_checked_at,
        cached=True,
        good_until=metadata.taken_at + cache_key.max_age,
    )
