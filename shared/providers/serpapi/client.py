"""Client of SerpApi's Google Flights search. The key travels in the query; addresses are never logged."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from shared import clock, http
from shared.providers.contract import CashFare, FaresQuestion
from shared.providers.serpapi import parse
from shared.settings import settings

CLASSES = {"economy": "1", "premium_economy": "2", "business": "3", "first": "4"}


class Client:
    def __init__(self, client: http.AsyncClient) -> None:
        self._client = client

    async def cash_fares(self, question: FaresQuestion) -> tuple[CashFare, ...]:
        body = await http.get(self._client, "/search.json", params=self._client.params.merge(_build_query(question)))
        return parse.parse_fares(body, question, clock.now())


def _build_query(question: FaresQuestion) -> dict[str, str]:
    """Without `type` a round trip would be assumed."""
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
