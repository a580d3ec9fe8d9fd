"""Client of LiteAPI: a hotel's id is looked up once and cached, rates are asked for day by day."""

import hashlib
import json
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager
from datetime import date, timedelta
from decimal import Decimal
from functools import partial
from typing import Any

import anyio.to_thread
import httpx
from redis.exceptions import RedisError

from shared import http
from shared.domain import hotel_match
from shared.limits.concurrency import gather_limited
from shared.providers.contract import HotelSpot, StayOffer, StaysQuestion, Unanswered
from shared.redis import connect as connect_redis
from shared.redis import key
from shared.settings import settings

# Parsers of LiteAPI's hotel lists and rates.

SOLD_OUT_CODE = 2001  # their code of an answer without rooms
MAX_LABEL_CHARACTERS = 80


def _parse_json(body: bytes) -> Any:
    return json.loads(body, parse_float=Decimal)


def find_hotel(body: bytes, hotel: HotelSpot) -> str | None:
    """Their id of one of our hotels, if exactly one listed hotel can be it."""
    rows = _parse_json(body)["data"] or []
    listed = [
        hotel_match.ListedHotel(
            str(row["id"]), str(row["name"]), _parse_degrees(row.get("latitude")), _parse_degrees(row.get("longitude"))
        )
        for row in rows
    ]
    one = hotel_match.find_same_hotel(hotel.name, hotel.city, hotel.latitude, hotel.longitude, listed)
    return one.key if one else None


def _parse_degrees(value: Any) -> float | None:
    return float(value) if isinstance(value, int | float | Decimal) and value else None


def is_sold_out(body: bytes) -> bool:
    try:
        error = _parse_json(body)["error"]
        return bool(error["code"] == SOLD_OUT_CODE)
    except (ValueError, KeyError, TypeError):
        return False


def parse_offers(body: bytes, theirs: Mapping[str, str], day: date, nights: int) -> tuple[StayOffer, ...]:
    """The cheapest room of each hotel, including charges on the spot. A hotel without rates is absent: others may
    still sell it."""
    if is_sold_out(body):
        return ()
    answer = _parse_json(body)
    if answer.get("sandbox"):
        raise Unanswered("not_permitted", "test_data")
    offers = []
    for hotel in answer["data"] or []:
        rates = list(_parse_rates(hotel))
        if hotel["hotelId"] in theirs and rates:
            offers.append(_build_offer(theirs[hotel["hotelId"]], day, nights, *min(rates)))
        elif hotel["roomTypes"] and not rates:
            raise ValueError("no rate can be read")
    return tuple(offers)


def _parse_rates(hotel: Mapping[str, Any]) -> Iterator[tuple[Decimal, str, str]]:
    """Reads rates; skips those whose parts are in different currencies."""
    for room in hotel["roomTypes"]:
        for rate in room["rates"]:
            total = rate["retailRate"]["total"][0]
            extra = [f for f in rate["retailRate"].get("taxesAndFees") or [] if not f.get("included")]
            if all(fee.get("currency") == total["currency"] for fee in extra):
                price = Decimal(total["amount"]) + sum(Decimal(fee["amount"]) for fee in extra)
                yield (
                    price,
                    str(total["currency"]),
                    " ".join(str(rate.get("name") or "").split())[:MAX_LABEL_CHARACTERS],
                )


def _build_offer(code: str, day: date, nights: int, price: Decimal, currency: str, room: str) -> StayOffer:
    return StayOffer(
        hotel_code=code,
        check_in=day,
        check_out=day + timedelta(days=nights),
        available=True,
        points=None,
        cash=price,
        currency=currency,
        room_type=room or None,
    )


# A cache in Redis: which LiteAPI hotel is which of ours.

FOUND_TTL, NOT_FOUND_TTL = timedelta(days=30), timedelta(days=2)


def _redis_key(hotel: HotelSpot) -> str:
    """The key includes everything the hotel was recognised by."""
    return key("liteapi", "hotel", hashlib.sha256(repr(hotel).encode()).hexdigest()[:32])


def read_names(hotels: Sequence[HotelSpot]) -> dict[HotelSpot, str | None]:
    """Their ids; None for a hotel that LiteAPI does not have; hotels never looked up are absent."""
    try:
        values = connect_redis().mget([_redis_key(hotel) for hotel in hotels]) if hotels else []
    except (RedisError, OSError):
        return {}
    return {
        hotel: (raw.decode() if isinstance(raw, bytes) else raw) or None
        for hotel, raw in zip(hotels, values, strict=True)
        if raw is not None
    }


def store_names(hotel_names: Mapping[HotelSpot, str | None]) -> None:
    try:
        pipe = connect_redis().pipeline(transaction=False)
        for hotel, name in hotel_names.items():
            pipe.set(_redis_key(hotel), name or "", ex=FOUND_TTL if name else NOT_FOUND_TTL)
        pipe.execute()
    except (RedisError, OSError):
        return


TEST_KEYS = "sand_"
MAX_DAYS = 31
SEARCH_RADIUS_METRES = 2000
MAX_LISTED = 200
SUPPLIER_TIMEOUT_SECONDS = 8  # seconds it may take to ask its suppliers
MAX_PARALLEL = 6
NATIONALITY = "US"  # required; without effect on most rates


@asynccontextmanager
async def connect(credential: str | None) -> AsyncIterator["Client"]:
    api_key = credential or ""
    async with http.client(settings().liteapi_base_url, headers={"X-API-Key": api_key}) as client:
        yield Client(client, real=not api_key.startswith(TEST_KEYS))


class Client:
    def __init__(self, client: http.AsyncClient, *, real: bool) -> None:
        self._client = client
        self._real = real

    async def hotel_stays(self, question: StaysQuestion) -> tuple[StayOffer, ...]:
        if not self._real:
            raise Unanswered("not_permitted", "test_key")
        days = [question.earliest + timedelta(days=n) for n in range((question.latest - question.earliest).days + 1)]
        if len(days) > MAX_DAYS:
            raise Unanswered("not_covered", "too_many_days")
        theirs = await self._find_names(question.hotels)
        if not theirs:
            raise Unanswered("not_covered", "hotel_unknown")
        answers = await gather_limited([partial(self._fetch_rates, theirs, d, question) for d in days], MAX_PARALLEL)
        return tuple(offer for offers in answers for offer in offers)

    async def _find_names(self, hotels: Sequence[HotelSpot]) -> dict[str, str]:
        """Their id of each hotel -> ours. Results, also negative ones, are cached for some days."""
        names_read = await anyio.to_thread.run_sync(read_names, hotels, abandon_on_cancel=True)
        missing = [hotel for hotel in hotels if hotel not in names_read]
        names_found = await gather_limited([partial(self._look_up, hotel) for hotel in missing], MAX_PARALLEL)
        fresh = dict(zip(missing, names_found, strict=True))
        if fresh:
            await anyio.to_thread.run_sync(store_names, fresh, abandon_on_cancel=True)
        return {theirs: hotel.hotel_code for hotel, theirs in (names_read | fresh).items() if theirs}

    async def _look_up(self, hotel: HotelSpot) -> str | None:
        where: dict[str, Any] = {"countryCode": hotel.country, "limit": MAX_LISTED}
        if hotel.latitude is None or hotel.longitude is None:
            where["cityName"] = hotel.city
        else:  # the radius has had two names there
            where |= {
                "latitude": hotel.latitude,
                "longitude": hotel.longitude,
                "radius": SEARCH_RADIUS_METRES,
                "distance": SEARCH_RADIUS_METRES,
            }
        body = await http.get(self._client, "/data/hotels", params=where)
        return await anyio.to_thread.run_sync(find_hotel, body, hotel, abandon_on_cancel=True)

    async def _fetch_rates(self, theirs: dict[str, str], day: date, question: StaysQuestion) -> tuple[StayOffer, ...]:
        request = {
            "hotelIds": sorted(theirs),
            "checkin": day.isoformat(),
            "checkout": (day + timedelta(days=question.nights)).isoformat(),
            "currency": question.currency,
            "guestNationality": NATIONALITY,
            "occupancies": [{"adults": question.guests, "children": []}],
            "timeout": SUPPLIER_TIMEOUT_SECONDS,
        }
        try:
            body = await http.post(self._client, "/hotels/rates", json=request)
        except httpx.HTTPStatusError as error:
            body = error.response.extensions.get("said", b"")
            if not is_sold_out(body):
                raise
        return await anyio.to_thread.run_sync(parse_offers, body, theirs, day, question.nights, abandon_on_cancel=True)
