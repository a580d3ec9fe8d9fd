"""Client of the ECB's daily reference rates."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from shared import http
from shared.providers.contract import Rate, RatesQuestion
from shared.providers.ecb import parse
from shared.settings import settings

MAX_BYTES = 2 * 1024 * 1024


class Client:
    def __init__(self, client: http.AsyncClient) -> None:
        self._client = client

    async def exchange_rates(self, question: RatesQuestion) -> tuple[Rate, ...]:
        rates = parse.daily(await http.get(self._client, "/eurofxref-daily.xml", limit=MAX_BYTES))
        return tuple(rate for rate in rates if not question.currencies or rate.currency in question.currencies)


@asynccontextmanager
async def connect(_credential: str | None) -> AsyncIterator[Client]:
    async with http.client(settings().ecb_base_url) as client:
        yield Client(client)
