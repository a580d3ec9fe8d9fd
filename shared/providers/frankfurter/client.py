"""Client of Frankfurter's API, version 2."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import date
from decimal import Decimal

import httpx
from pydantic import BaseModel, Field, TypeAdapter

from shared import http
from shared.providers.contract import Rate, RatesQuestion, Unanswered
from shared.settings import settings

# Parser of Frankfurter's rates, each with its own day.


class _Row(BaseModel):
    date: date
    base: str
    quote: str
    rate: Decimal = Field(gt=0, allow_inf_nan=False)


_ROWS = TypeAdapter(list[_Row])


def parse_rates(body: bytes) -> tuple[Rate, ...]:
    rows = _ROWS.validate_json(body)
    if any(row.base != "EUR" for row in rows):
        raise ValueError("rates to another currency")
    return tuple(Rate(row.quote, row.rate, row.date) for row in rows)


class Client:
    def __init__(self, client: http.AsyncClient) -> None:
        self._client = client

    async def exchange_rates(self, question: RatesQuestion) -> tuple[Rate, ...]:
        params = {"base": "EUR"}
        if question.currencies:
            params["quotes"] = ",".join(question.currencies)
        try:
            body = await http.get(self._client, "/v2/rates", params=params)
        except httpx.HTTPStatusError as error:
            if error.response.status_code in (404, 422):  # it knows none of them
                raise Unanswered("no_data", "unknown_currency") from None
            raise
        return tuple(r for r in parse_rates(body) if not question.currencies or r.currency in question.currencies)


@asynccontextmanager
async def connect(_credential: str | None) -> AsyncIterator[Client]:
    async with http.client(settings().frankfurter_base_url) as client:
        yield Client(client)
