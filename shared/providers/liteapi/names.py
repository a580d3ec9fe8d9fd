"""Cache in Redis of which LiteAPI hotel is which of ours."""

import hashlib
from collections.abc import Mapping, Sequence
from datetime import timedelta

from redis.exceptions import RedisError

from shared.providers.contract import HotelSpot
from shared.redis import connect, key

FOUND_TTL, NOT_FOUND_TTL = timedelta(days=30), timedelta(days=2)


def _redis_key(hotel: HotelSpot) -> str:
    """Everything it was recognised by is part of the key."""
    return key("liteapi", "hotel", hashlib.sha256(repr(hotel).encode()).hexdigest()[:32])


def read_names(hotels: Sequence[HotelSpot]) -> dict[HotelSpot, str | None]:
    """None for a hotel that was looked for in vain; those never looked for are absent."""
    try:
        values = connect().mget([_redis_key(hotel) for hotel in hotels]) if hotels else []
    except (RedisError, OSError):
        return {}
    return {
        hotel: (raw.decode() if isinstance(raw, bytes) else raw) or None
        for hotel, raw in zip(hotels, values, strict=True)
        if raw is not None
    }


def store_names(hotel_names: Mapping[HotelSpot, str | None]) -> None:
    try:
        pipe = connect().pipeline(transaction=False)
        for hotel, theirs in hotel_names.items():
            pipe.set(_redis_key(hotel), theirs or "", ex=FOUND_TTL if theirs else NOT_FOUND_TTL)
        pipe.execute()
    except (RedisError, OSError):
        return
