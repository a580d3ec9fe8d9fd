"""The cache of answers in Redis, and the locks that let one process fetch an answer for all (single flight)."""

import hashlib
import zlib
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from functools import lru_cache
from typing import Any, Literal

from pydantic import TypeAdapter
from redis.exceptions import RedisError

from shared import clock
from shared.providers.contract import VERBS, Provider, Reading
from shared.redis import connect, key
from shared.settings import settings

MAX_AGE = timedelta(hours=4)  # the greatest age of a cached answer, whatever a provider allows
_VERSION = "2"  # of what is recorded beside a cached answer: with 1, prices without the names of their rows
_FIRST_LINE_BYTES = 511
_ZLIB_LEVEL = 1  # answers repeat themselves: the quickest level leaves a thirteenth of their size


@dataclass(frozen=True)
class CacheKey:
    """Where the answer to one question is cached: one provider, those who may see the answer, one question."""

    provider: Provider
    verb: str
    name: str

    @property
    def max_age(self) -> timedelta:
        return min(self.provider.fresh_for, MAX_AGE)

    @property
    def lock_name(self) -> str:
        return f"{self.name}:asking"


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
    """The key holds the data mode and, where the provider's terms forbid sharing, whose credential asks."""
    reach = "anyone" if provider.terms == "anyone" else scope
    kind: Any = type(question)
    digest = hashlib.sha256(_adapter(kind).dump_json(question)).hexdigest()[:32]
    return CacheKey(provider, verb, key("reading", _VERSION, provider.name, reach, verb, digest))


def get_many(lookups: Sequence[tuple[CacheKey, timedelta | None]]) -> list[Reading[Any] | None]:
    """The cached reading of each key, if it is no older than the age given; nothing while Redis is away."""
    if not lookups:
        return []
    try:
        entries = connect().mget([cache_key.name for cache_key, _ in lookups])
    except (RedisError, OSError):
        return [None] * len(lookups)
    return [_decode(cache_key, entry, max_age) for (cache_key, max_age), entry in zip(lookups, entries, strict=True)]


def put_many(answers: Sequence[tuple[CacheKey, Reading[Any]]]) -> list[Reading[Any]]:
    """Caches answers (never failures), frees their locks, and returns them with the time until which they are good."""
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


def acquire_fetch(
    lookups: Sequence[tuple[CacheKey, timedelta | None]],
) -> list[tuple[bool, Reading[Any] | None]]:
    """For each key whether the caller may fetch the answer now, and what was cached meanwhile.

    The lock ends with `put_many` or `release_fetch`; that of a process that died, when the provider's timeout has
    passed. While Redis is away everybody may fetch.
    """
    if not lookups:
        return []
    try:
        pipe = connect().pipeline(transaction=False)
        for cache_key, _ in lookups:
            pipe.set(cache_key.lock_name, 1, nx=True, px=timedelta(seconds=cache_key.provider.timeout))
            pipe.get(cache_key.name)
        replies = pipe.execute()
    except (RedisError, OSError):
        return [(True, None)] * len(lookups)
    turns = [
        (bool(locked), _decode(cache_key, entry, max_age))
        for (cache_key, max_age), locked, entry in zip(lookups, replies[::2], replies[1::2], strict=True)
    ]
    release_fetch(
        [cache_key for (cache_key, _), (locked, reading) in zip(lookups, turns, strict=True) if locked and reading]
    )
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


def release_fetch(cache_keys: Sequence[CacheKey]) -> None:
    """Lets the next process fetch."""
    if cache_keys:
        with suppress(RedisError, OSError):
            connect().delete(*(cache_key.lock_name for cache_key in cache_keys))


def _encode(cache_key: CacheKey, reading: Reading[Any]) -> bytes:
    metadata = _Metadata(
        "ok" if reading.value else "no_data", reading.reason, reading.taken_at, reading.provider_checked_at
    )
    body = _adapter(VERBS[cache_key.verb].answer).dump_json(reading.value)
    return _adapter(_Metadata).dump_json(metadata) + b"\n" + zlib.compress(body, _ZLIB_LEVEL)


def _read_metadata(cache_key: CacheKey, entry: bytes, max_age: timedelta | None) -> _Metadata | None:
    """None where there is no first line, or none that is young enough and readable."""
    try:
        metadata: _Metadata = _adapter(_Metadata).validate_json(entry.split(b"\n", 1)[0])
    except ValueError:
        return None  # written by another version
    is_old = clock.now() - metadata.taken_at > min(cache_key.max_age, max_age or cache_key.max_age)
    return None if is_old else metadata


def _decode(cache_key: CacheKey, entry: Any, max_age: timedelta | None) -> Reading[Any] | None:
    """None where there is no entry, or none that is young enough and readable."""
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
