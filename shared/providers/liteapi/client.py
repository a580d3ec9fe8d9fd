"""Client of LiteAPI: its name of a hotel is looked up once and cached, rates are asked for day by day."""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from datetime import date, timedelta
from functools import partial
from typing import Any

import anyio.to_thread
import httpx

from shared import http
from shared.concurrency import gather_limited
from shared.providers.contract import HotelSpot, StayOffer, StaysQuestion, Unanswered
from shared.providers.liteapi import names, parse
from shared.settings import settings

TEST_KEYS = "sand_"
MAX_DAYS = 31
SEARCH_RADIUS_METRES = 2000
MAX_LISTED = 200
SUPPLIER_TIMEOUT_SECONDS = 8  # seconds it may take to ask its suppliers
MAX_PARALLEL = 6
NATIONALITY = "US"  # it wants one; of no effect on most rates


@asynccontextmanager
async def connect(credential: str | None) -> AsyncIterator["Client"]:
    key = credential or ""
    async with http.client(settings().liteapi_base_url, headers={"X-API-Key": key}) as client:
        yield Client(client, real=not key.startswith(TEST_KEYS))


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
        """Their name of each hotel -> ours. What was found, or not found, is remembered for some days."""
        names_read = await anyio.to_thread.run_sync(names.read_names, hotels, abandon_on_cancel=True)
        missing = [hotel for hotel in hotels if hotel not in names_read]
        names_found = await gather_limited([partial(self._look_up, hotel) for hotel in missing], MAX_PARALLEL)
        fresh = dict(zip(missing, names_found, strict=True))
        if fresh:
            await anyio.to_thread.run_sync(names.store_names, fresh, abandon_on_cancel=True)
        return {theirs: hotel.hotel_code for hotel, theirs in (names_read | fresh).items() if theirs}

    async def _look_up(self, hotel: HotelSpot) -> str | None:
        where: dict[str, Any] = {"countryCode": hotel.country, "limit": MAX_LISTED}
        if hotel.latitude is None or hotel.longitude is None:
            where["cityName"] = hotel.city
        else:  # the distance has gone by two names
            where |= {
                "latitude": hotel.latitude,
                "longitude": hotel.longitude,
                "radius": SEARCH_RADIUS_METRES,
                "distance": SEARCH_RADIUS_METRES,
            }
        body = await http.get(self._client, "/data/hotels", params=where)
        return await anyio.to_thread.run_sync(parse.find_hotel, body, hotel, abandon_on_cancel=True)

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
            if not parse.is_sold_out(body):
                raise
        return await anyio.to_thread.run_sync(
            parse.parse_offers, body, theirs, day, question.nights, abandon_on_cancel=True
        )
