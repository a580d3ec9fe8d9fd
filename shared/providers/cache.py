"""The cache of answers in Redis: readings go in, and come out again marked as cached with the time they were taken."""

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

MAX_AGE = timedelta(hours=4)  # no answer is replayed later than this, whatever a provider allows
_QUICK = 1  # the level of compression: answers repeat themselves, so a thirteenth of their size is left


@dataclass(frozen=True)
class CacheKey:
    """Where the answer to one question is kept: one provider, one reach of people who may see it, one question."""

    provider: Provider
    verb: str
    name: str

    @property
    def lasts(self) -> timedelta:
        return min(self.provider.fresh_for, MAX_AGE)


@dataclass(frozen=True)
class _Head:
    """What is kept of a reading beside its value; the first line of what is stored."""

    status: Literal["ok", "no_data"]
    reason: str | None
    taken_at: datetime
    provider_checked_at: datetime | None


@lru_cache(maxsize=32)
def _adapter(kind: Any) -> TypeAdapter[Any]:
    return TypeAdapter(kind)


def place(provider: Provider, scope: str, verb: str, question: Any) -> CacheKey:
    """The key holds the data mode and, where the terms forbid sharing, the credential that asked."""
    reach = "anyone" if provider.terms == "anyone" else scope
    kind: Any = type(question)
    asked = _adapter(kind).dump_json(question)
    return CacheKey(provider, verb, key("reading", provider.name, reach, verb, hashlib.sha256(asked).hexdigest()[:32]))


def get_many(asked: Sequence[tuple[CacheKey, timedelta | None]]) -> list[Reading[Any] | None]:
    """What is kept at each place, still fresh and no older than said; nothing while Redis is away."""
    if not asked:
        return []
    try:
        kept = connect().mget([at.name for at, _ in asked])
    except (RedisError, OSError):
        return [None] * len(asked)
    return [_read(at, raw, max_age) if raw else None for (at, max_age), raw in zip(asked, kept, strict=True)]


def acquire_fetch(
    asked: Sequence[tuple[CacheKey, timedelta | None]],
) -> list[tuple[bool, Reading[Any] | None]]:
    """Of each question whether the caller is the one to ask now, over all processes, and what was kept meanwhile.

    While Redis is away everybody asks. Who asks keeps the answer or says `given_up`; one that was lost is waited for as
    long as a call may take.
    """
    if not asked:
        return []
    try:
        pipe = connect().pipeline(transaction=False)
        for at, _ in asked:
            pipe.set(_asking(at), 1, nx=True, px=timedelta(seconds=at.provider.timeout))
            pipe.get(at.name)
        said = pipe.execute()
    except (RedisError, OSError):
        return [(True, None)] * len(asked)
    known = [_read(at, raw, max_age) if raw else None for (at, max_age), raw in zip(asked, said[1::2], strict=True)]
    release_fetch([at for (at, _), mine, reading in zip(asked, said[::2], known, strict=True) if mine and reading])
    return [(bool(mine), reading) for mine, reading in zip(said[::2], known, strict=True)]


def release_fetch(places: Sequence[CacheKey]) -> None:
    """The next one may ask."""
    if places:
        with suppress(RedisError, OSError):
            connect().delete(*map(_asking, places))


def _asking(at: CacheKey) -> str:
    return f"{at.name}:asking"


def _read(at: CacheKey, raw: Any, max_age: timedelta | None) -> Reading[Any] | None:
    try:
        first, body = raw.split(b"\n", 1)
        head = _adapter(_Head).validate_json(first)
        value = _adapter(VERBS[at.verb].answer).validate_json(zlib.decompress(body))
    except (ValueError, zlib.error):
        return None  # written by another version: ask again
    if clock.now() - head.taken_at > min(at.lasts, max_age or at.lasts):
        return None
    return Reading(
        source=at.provider.name,
        status=head.status,
        value=value,
        reason=head.reason,
        data_mode=settings().data_mode,
        taken_at=head.taken_at,
        provider_checked_at=head.provider_checked_at,
        cached=True,
        good_until=head.taken_at + at.lasts,
    )


def keep(answered: Sequence[tuple[CacheKey, Reading[Any]]]) -> list[Reading[Any]]:
    """Stores answers (never failures) and returns them with the time until which they may be replayed."""
    try:
        pipe = connect().pipeline(transaction=False)
        for at, reading in answered:
            if at.lasts > timedelta(0):
                pipe.set(at.name, _stored(at, reading), px=at.lasts)
            pipe.delete(_asking(at))
        pipe.execute()
    except (RedisError, OSError):
        return [reading for _, reading in answered]
    return [replace(r, good_until=r.taken_at + at.lasts) if at.lasts > timedelta(0) else r for at, r in answered]


def _stored(at: CacheKey, reading: Reading[Any]) -> bytes:
    head = _Head("ok" if reading.value else "no_data", reading.reason, reading.taken_at, reading.provider_checked_at)
    body = _adapter(VERBS[at.verb].answer).dump_json(reading.value)
    return _adapter(_Head).dump_json(head) + b"\n" + zlib.compress(body, _QUICK)
