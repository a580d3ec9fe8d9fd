"""Client of SerpApi's Google Flights search. The key travels in the query; addresses are never logged."""

import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from datetime import UTC, datetime, timedelta
from decimal import Decimal

from pydantic import BaseModel, Field, ValidationError

from shared import clock, http
from shared.providers.contract import CashFare, FaresQuestion, Unanswered
from shared.settings import settings

# Parser of SerpApi's pages of Google Flights, cheapest first.
#
# A price is for all passengers; for a round trip it covers both ways, while only outbound flights are listed.
# The cabin of a fare is that of its longest flight: short feeders seldom have the cabin asked for.

log = logging.getLogger(__name__)
NOTHING_FOUND = "hasn't returned any results"
FRESH_ANSWER = timedelta(minutes=1)  # an older answer comes from the source's cache
MAX_FARES = 50
_CABINS = {"economy": "economy", "premium economy": "premium_economy", "business": "business", "first": "first"}


class _Stop(BaseModel):
    time: str | None = None


class _Flight(BaseModel):
    departure_airport: _Stop
    arrival_airport: _Stop
    duration: int
    travel_class: str
    flight_number: str


class _Offer(BaseModel):
    flights: list[_Flight] = Field(min_length=1)
    total_duration: int | None = None
    price: Decimal = Field(gt=0, allow_inf_nan=False)


class _Metadata(BaseModel):
    status: str
    created_at: str | None = None
    google_flights_url: str | None = None


class _Parameters(BaseModel):
    currency: str | None = None


class _Page(BaseModel):
    search_metadata: _Metadata
    search_parameters: _Parameters = _Parameters()
    error: str | None = None
    best_flights: list[object] = []
    other_flights: list[object] = []


def parse_fares(body: bytes, question: FaresQuestion, now: datetime) -> tuple[CashFare, ...]:
    page = _Page.model_validate_json(body)
    if page.error and NOTHING_FOUND in page.error:
        return ()
    if page.error or page.search_metadata.status != "Success":
        raise Unanswered("down", "source_error")
    offers = [offer for row in (*page.best_flights, *page.other_flights) if (offer := _parse_offer(row))]
    rows = [_build_fare(offer, page, question, now) for offer in offers if _cabin(offer) == question.cabin]
    if left_out := len(page.best_flights) + len(page.other_flights) - len(rows):
        log.info("serpapi: %d offers without a price, of another cabin or of an unknown shape left out", left_out)
    return tuple(sorted(rows, key=lambda fare: fare.price)[:MAX_FARES])


def _parse_offer(row: object) -> _Offer | None:
    try:
        return _Offer.model_validate(row)
    except ValidationError:
        return None


def _cabin(offer: _Offer) -> str | None:
    longest = max(offer.flights, key=lambda flight: flight.duration)
    return _CABINS.get(longest.travel_class.strip().lower())


def _build_fare(offer: _Offer, page: _Page, question: FaresQuestion, now: datetime) -> CashFare:
    numbers = tuple(flight.flight_number.replace(" ", "") for flight in offer.flights)
    link = page.search_metadata.google_flights_url
    return CashFare(
        price=offer.price,
        currency=page.search_parameters.currency or question.currency,
        cabin=question.cabin,
        carriers=tuple(dict.fromkeys(flight.flight_number.split(" ")[0] for flight in offer.flights)),
        flight_numbers=numbers,
        departs_at=_parse_local_time(offer.flights[0].departure_airport.time),
        arrives_at=_parse_local_time(offer.flights[-1].arrival_airport.time),
        duration_minutes=offer.total_duration,
        stops=len(offer.flights) - 1,
        booking_url=link if link and link.startswith("https://www.google.com/travel/") else None,
        checked_at=_parse_created_at(page.search_metadata.created_at, now),
    )


def _parse_local_time(text: str | None) -> str | None:
    return text.replace(" ", "T") if text else None


def _parse_created_at(text: str | None, now: datetime) -> datetime | None:
    """When the source made this answer, unless fresh."""
    with suppress(ValueError):
        moment = datetime.strptime(text or "", "%Y-%m-%d %H:%M:%S UTC").replace(tzinfo=UTC)
        return moment if now - moment > FRESH_ANSWER else None
    return None


CLASSES = {"economy": "1", "premium_economy": "2", "business": "3", "first": "4"}


class Client:
    def __init__(self, client: http.AsyncClient) -> None:
        self._client = client

    async def cash_fares(self, question: FaresQuestion) -> tuple[CashFare, ...]:
        body = await http.get(self._client, "/search.json", params=self._client.params.merge(_build_query(question)))
        return parse_fares(body, question, clock.now())


def _build_query(question: FaresQuestion) -> dict[str, str]:
    """Builds the query; without `type` a round trip would be assumed."""
    back = {"return_date": question.return_date.isoformat()} if question.return_date else {}
    return back | {
        "engine": "google_flights",
        "departure_id": question.origin,
        "arrival_id": question.destination,
        "outbound_date": question.date.isoformat(),
        "type": "1" if back else "2",
        "travel_class": CLASSES[question.cabin],
        "adults": str(question.passengers),
        "currency": question.currency,
        "hl": "en",
    }


@asynccontextmanager
async def connect(key: str | None) -> AsyncIterator[Client]:
    async with http.client(settings().serpapi_base_url, params={"api_key": key or ""}) as client:
        yield Client(client)
