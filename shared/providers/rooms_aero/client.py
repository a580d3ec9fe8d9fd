"""Client of rooms.aero's search: hotels of one city are searched for together."""

import json
import logging
from collections import Counter
from collections.abc import AsyncIterator, Iterable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from functools import partial
from itertools import groupby
from typing import Any

import anyio.to_thread
import httpx

from shared import http
from shared.domain import hotel_match
from shared.domain.minor_units import from_minor_units
from shared.domain.names import normalize_name
from shared.limits.concurrency import gather_limited
from shared.providers.contract import HotelSpot, StayOffer, StaysQuestion, Unanswered
from shared.settings import settings

# Parser of rooms.aero's rows: the stays of hotels we recognise. A price of 0 means that it is not known.

log = logging.getLogger(__name__)
ROOM = "standard room"
_PROGRAMS = {
    "choice": "choice-privileges",
    "hilton": "hilton-honors",
    "hyatt": "world-of-hyatt",
    "ihg": "ihg-one-rewards",
    "iprefer": "i-prefer-hotel-rewards",
    "marriott": "marriott-bonvoy",
    "wyndham": "wyndham-rewards",
}
_SOURCES = {program: source for source, program in _PROGRAMS.items()}


def source_name(program: str | None) -> str | None:
    """Their name for one of our programmes."""
    return _SOURCES.get(program or "")


def parse_page(body: bytes) -> tuple[list[dict[str, Any]], bool]:
    answer = json.loads(body)
    rows = answer["data"] or []
    if not all(isinstance(row, dict) for row in rows):
        raise ValueError
    return rows, bool(answer.get("has_more"))


def parse_stays(
    rows: Iterable[dict[str, Any]], hotels: Sequence[HotelSpot], first: date, last: date, nights: int
) -> tuple[StayOffer, ...]:
    """Stays that start in the window. An ambiguous hotel is left out."""
    listed: dict[str, list[tuple[hotel_match.ListedHotel, dict[str, Any]]]] = {}
    passed: Counter[str] = Counter()
    for row in rows:
        try:
            hotel = row["hotel"]
            near = len(hotels) == 1 and hotels[0].latitude is not None  # the search was around only this hotel
            one = hotel_match.ListedHotel(str(hotel["id"]), str(hotel["name"]), near=near)
            if hotel["source"] in _PROGRAMS:
                listed.setdefault(_PROGRAMS[hotel["source"]], []).append((one, row))
            else:
                passed["program"] += 1
        except (KeyError, TypeError):
            passed["shape"] += 1
    offers = [o for spot in hotels if (o := _find_offer(spot, listed.get(spot.program or "", []), first, last, nights))]
    if passed:
        log.warning("rooms_aero: passed over %s", ", ".join(f"{n} of unknown {what}" for what, n in passed.items()))
    if passed["shape"] and not listed:
        raise Unanswered("down", "wrong_shape")
    return tuple(offers)


def _find_offer(
    spot: HotelSpot,
    listed: Sequence[tuple[hotel_match.ListedHotel, dict[str, Any]]],
    first: date,
    last: date,
    nights: int,
) -> StayOffer | None:
    """The offer of a hotel; city and country in their row, if given, must match."""
    here = [(one, row) for one, row in listed if _is_in_city(spot, row["hotel"]) or one.near]
    one = hotel_match.find_same_hotel(spot.name, spot.city, spot.latitude, spot.longitude, [one for one, _ in here])
    return _parse_stay(spot, next(row for o, row in here if o == one), first, last, nights) if one else None


def _is_in_city(spot: HotelSpot, hotel: dict[str, Any]) -> bool:
    theirs, ours = (normalize_name(str(text)) for text in (hotel.get("city") or "", spot.city))
    return not theirs or not ours or theirs in ours or ours in theirs


def _parse_stay(spot: HotelSpot, row: dict[str, Any], first: date, last: date, nights: int) -> StayOffer | None:
    day = date.fromisoformat(row["standard_date"][:10]) if row.get("standard_date") else None
    points, cents, currency = row.get("lowest_award_standard"), row.get("lowest_cash_standard"), row["currency_code"]
    if day is None or not first <= day <= last or row.get("standard_nights") != nights:
        return None
    if first != last:
        cents = None  # in a window, the cheapest cash may be for another day
    if not points and not cents:
        return None
    return StayOffer(
        hotel_code=spot.hotel_code,
        check_in=day,
        check_out=day + timedelta(days=nights),
        available=True,
        points=int(points) if points else None,
        cash=from_minor_units(int(cents), currency) if cents else None,
        currency=currency if cents else None,
        room_type=ROOM,
        checked_at=_parse_time(row.get("last_checked_at") or row["hotel"]["last_checked_at"]),
    )


def _parse_time(text: str) -> datetime:
    moment = datetime.fromisoformat(text)
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


NIGHTS, GUESTS = 5, 2  # the most its prices cover
TAKE, PAGES = 500, 4
CALLS = 31  # of one question: a month of days at one place
REACH = 0.02  # degrees around a hotel, whose location is known to a hundredth


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
        """Asks for each day of arrival; if those are too many calls, for all at once: each hotel's cheapest day."""
        if question.nights > NIGHTS:
            raise Unanswered("not_covered", "nights")
        if question.guests > GUESTS:
            raise Unanswered("not_covered", "guests")
        places = _group_by_city([h for h in question.hotels if source_name(h.program)])
        if not places:
            raise Unanswered("not_covered", "program")
        days = [question.earliest + timedelta(days=n) for n in range((question.latest - question.earliest).days + 1)]
        windows = [(d, d) for d in days] if len(places) * len(days) <= CALLS else [(days[0], days[-1])]
        if len(places) * len(windows) > CALLS:
            raise Unanswered("not_covered", "too_many_places")
        calls = [partial(self._stays, place, *window, question) for place in places for window in windows]
        return tuple(offer for offers in await gather_limited(calls) for offer in offers)

    async def _stays(self, place: _Place, first: date, last: date, question: StaysQuestion) -> tuple[StayOffer, ...]:
        sources = sorted({name for h in place.hotels if (name := source_name(h.program))})
        params = place.search_area | {
            "start_date": first.isoformat(),
            "end_date": last.isoformat(),
            "nights": str(question.nights),
            "source": ",".join(sources),
            "take": str(TAKE),
        }
        rows = await self._rows(params)
        return await anyio.to_thread.run_sync(
            parse_stays, rows, place.hotels, first, last, question.nights, abandon_on_cancel=True
        )

    async def _rows(self, params: dict[str, str]) -> list[dict[str, Any]]:
        rows: list[dict[str, Any]] = []
        for _ in range(PAGES):
            body = await self._get("/search", params | ({"skip": str(len(rows))} if rows else {}))
            new, more = await anyio.to_thread.run_sync(parse_page, body, abandon_on_cancel=True)
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


def _classify_refusal(response: httpx.Response) -> Unanswered | None:
    body = response.extensions.get("said", b"").lower()
    if response.status_code in (401, 403) and b"<html" in body:
        return Unanswered("down", "blocked")
    if response.status_code == 401:
        return Unanswered("broken", "bad_key")
    return Unanswered("not_permitted", "plan") if response.status_code == 403 and b"pro_" in body else None
