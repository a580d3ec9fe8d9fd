"""Which of LiteAPI's hotels is which of ours: what was found goes into Redis, and comes out again for some days."""

import hashlib
from collections.abc import Mapping, Sequence
from datetime import timedelta

from redis.exceptions import RedisError

from shared.providers.contract import HotelSpot
from shared.redis import connect, key

FOUND, NOT_FOUND = timedelta(days=30), timedelta(days=2)


def _place(hotel: HotelSpot) -> str:
    """Everything it was recognised by is part of the key."""
    return key("liteapi", "hotel", hashlib.sha256(repr(hotel).encode()).hexdigest()[:32])


def recall(hotels: Sequence[HotelSpot]) -> dict[HotelSpot, str | None]:
    """None for a hotel that was looked for in vain; those never looked for are absent."""
    try:
        kept = connect().mget([_place(hotel) for hotel in hotels]) if hotels else []
    except (RedisError, OSError):
        return {}
    return {
        hotel: (raw.decode() if isinstance(raw, bytes) else raw) or None
        for hotel, raw in zip(hotels, kept, strict=True)
        if raw is not None
    }


def keep(found: Mapping[HotelSpot, str | None]) -> None:
    try:
        pipe = connect().pipeline(transaction=False)
        for hotel, theirs in found.items():
            pipe.set(_place(hotel), theirs or "", ex=FOUND if theirs else NOT_FOUND)
        pipe.execute()
    except (RedisError, OSError):
        return
