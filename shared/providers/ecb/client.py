"""Client of the ECB's daily reference rates."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import date
from decimal import Decimal

from defusedxml.ElementTree import fromstring

from shared import http
from shared.providers.contract import Rate, RatesQuestion
from shared.settings import settings

# Parser of the ECB's daily XML file; the euro itself is added with rate 1.

_CUBE = "{http://www.ecb.int/vocabulary/2002-08-01/eurofxref}Cube"


def daily(body: bytes) -> tuple[Rate, ...]:
    days = fromstring(body, forbid_dtd=True).findall(f".//{_CUBE}[@time]")
    newest = max(days, key=lambda cube: cube.attrib["time"])
    day = date.fromisoformat(newest.attrib["time"])
    rows = [Rate(cube.attrib["currency"], Decimal(cube.attrib["rate"]), day) for cube in newest.findall(_CUBE)]
    if not rows or not all(row.per_euro.is_finite() and row.per_euro > 0 for row in rows):
        raise ValueError("no rates in it")
    return (Rate("EUR", Decimal(1), day), *rows)


MAX_BYTES = 2 * 1024 * 1024


class Client:
    def __init__(self, client: http.AsyncClient) -> None:
        self._client = client

    async def exchange_rates(self, question: RatesQuestion) -> tuple[Rate, ...]:
        rates = daily(await http.get(self._client, "/eurofxref-daily.xml", limit=MAX_BYTES))
        return tuple(rate for rate in rates if not question.currencies or rate.currency in question.currencies)


@asynccontextmanager
async def connect(_credential: str | None) -> AsyncIterator[Client]:
    async with http.client(settings().ecb_base_url) as client:
        yield Client(client)
