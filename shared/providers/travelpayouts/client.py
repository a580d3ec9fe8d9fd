"""Client of the Travelpayouts data API."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from shared import clock, http
from shared.providers.contract import CashFare, FaresQuestion, Unanswered
from shared.providers.travelpayouts import parse
from shared.reference.load import reference
from shared.settings import settings

CLASSES = {"economy": 0, "business": 1, "first": 2}
PAGE = 1000


class Client:
    def __init__(self, client: http.AsyncClient) -> None:
        self._client = client

    async def cash_fares(self, question: FaresQuestion) -> tuple[CashFare, ...]:
        if question.cabin not in CLASSES:
            raise Unanswered("not_covered", "cabin_not_covered")
        ends = (_city(question.origin), _city(question.destination))
        body = await http.get(self._client, "/aviasales/v3/get_latest_prices", params=_build_query(question, *ends))
        return parse.parse_fares(body, question, CLASSES[question.cabin], ends, clock.now())


def _city(airport: str) -> str:
    """Fares are kept by city: LON for LHR, and the airport's own code where it is the only one."""
    return next((city for city, airports in reference().metros.items() if airport in airports), airport)


def _build_query(question: FaresQuestion, origin: str, destination: str) -> dict[str, str]:
    """Without `currency` prices would be roubles. The day is picked from its month: no shorter period can be asked."""
    return {
        "origin": origin,
        "destination": destination,
        "beginning_of_period": question.date.replace(day=1).isoformat(),
        "period_type": "month",
        "one_way": "false" if question.return_date else "true",
        "trip_class": str(CLASSES[question.cabin]),
        "currency": question.currency.lower(),
        "sorting": "price",
        "limit": str(PAGE),
        "page": "1",
    }


@asynccontextmanager
async def connect(token: str | None) -> AsyncIterator[Client]:
    async with http.client(settings().travelpayouts_base_url) as client:
        client.headers["X-Access-Token"] = token or ""
        yield Client(client)
