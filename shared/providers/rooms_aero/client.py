"""Client of rooms.aero's search: hotels of one city are searched for together."""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import date, timedelta
from functools import partial
from itertools import groupby
from typing import Any

import anyio.to_thread
import httpx

from shared import http
from shared.concurrency import gather_limited
from shared.providers.contract import HotelSpot, StayOffer, StaysQuestion, Unanswered
from shared.providers.rooms_aero import parse
from shared.settings import settings

NIGHTS, GUESTS = 5, 2  # what its prices are for, at most
TAKE, PAGES = 500, 4
CALLS = 31  # of one question: a month of days at one place
REACH = 0.02  # degrees around a hotel, whose own place is known to a hundredth


@dataclass(frozen=True)
class _Place:
    """Hotels of one city, and the box around them."""

    hotels: tuple[HotelSpot, ...]

    @property
    def search_area(self) -> dict[str, str]:
        spots = [(h.latitude, h.longitude) for h in self.hotels if h.latitude is not None and h.longitude is not None]
        if len(spots) < len(self.hotels):
            return {"location": f"{self.hotels[0].city}, {self.hotels[0].country}"}
        lats, lons = [s[0] for s in spots], [s[1] for s in spots]
        corners = (min(lats) - REACH, min(lons) - REACH, max(lats) + REACH, max(lons) + REACH)
        return {k: f"{v:.4f}" for k, v in zip(("sw_lat", "sw_lng", "ne_lat", "ne_lng"), corners, strict=True)}


@asynccontextmanager
async def connect(credential: str | None) -> AsyncIterator["Client"]:
    headers = {"Partner-Authorization": credential or ""}
    async with http.client(settings().rooms_aero_base_url, headers=headers) as client:
        yield Client(client)


class Client:
    def __init__(self, client: http.AsyncClient) -> None:
        self._client = client

    async def hotel_stays(self, question: StaysQuestion) -> tuple[StayOffer, ...]:
        """Each day of arrival is asked alone; where that is too many calls, only each hotel's cheapest day is known."""
        if question.nights > NIGHTS:
            raise Unanswered("not_covered", "nights")
        if question.guests > GUESTS:
            raise Unanswered("not_covered", "guests")
        places = _group_by_city([h for h in question.hotels if parse.source_name(h.program)])
        if not places:
            raise Unanswered("not_covered", "program")
        days = _list_days(question)
        windows = [(d, d) for d in days] if len(places) * len(days) <= CALLS else [(days[0], days[-1])]
        if len(places) * len(windows) > CALLS:
            raise Unanswered("not_covered", "too_many_places")
        calls = [partial(self._stays, place, *window, question) for place in places for window in windows]
        return tuple(offer for offers in await gather_limited(calls) for offer in offers)

    async def _stays(self, place: _Place, first: date, last: date, question: StaysQuestion) -> tuple[StayOffer, ...]:
        sources = sorted({name for h in place.hotels if (name := parse.source_name(h.program))})
        params = place.search_area | {
            "start_date": first.isoformat(),
            "end_date": last.isoformat(),
            "nights": str(question.nights),
            "source": ",".join(sources),
            "take": str(TAKE),
        }
        rows = await self._rows(params)
        return await anyio.to_thread.run_sync(
            parse.parse_stays, rows, place.hotels, first, last, question.nights, abandon_on_cancel=True
        )

    async def _rows(self, params: dict[str, str]) -> list[dict[str, Any]]:
        rows: list[dict[str, Any]] = []
        for _ in range(PAGES):
            body = await self._get("/search", params | ({"skip": str(len(rows))} if rows else {}))
            new, more = await anyio.to_thread.run_sync(parse.parse_page, body, abandon_on_cancel=True)
            rows += new
            if not more or not new:
                return rows
        raise Unanswered("not_covered", "too_many_rows")

    async def _get(self, path: str, params: dict[str, str]) -> bytes:
        try:
            return await http.get(self._client, path, params=params)
        except httpx.HTTPStatusError as error:
            refusal = _classify_refusal(error.response)
            if refusal:
                raise refusal from None
            raise


def _group_by_city(hotels: Sequence[HotelSpot]) -> list[_Place]:
    ordered = sorted(hotels, key=lambda h: (h.country, h.city, h.hotel_code))
    return [_Place(tuple(group)) for _, group in groupby(ordered, key=lambda h: (h.country, h.city))]


def _list_days(question: StaysQuestion) -> list[date]:
    return [question.earliest + timedelta(days=n) for n in range((question.latest - question.earliest).days + 1)]


def _classify_refusal(response: httpx.Response) -> Unanswered | None:
    body = response.extensions.get("said", b"").lower()
    if response.status_code in (401, 403) and b"<html" in body:
        return Unanswered("down", "blocked")
    if response.status_code == 401:
        return Unanswered("broken", "bad_key")
    return Unanswered("not_permitted", "plan") if response.status_code == 403 and b"pro_" in body else None
