"""Client of AeroAPI's airport delays."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import lru_cache

import airportsdata
import anyio.to_thread
import httpx

from shared import http
from shared.providers.contract import AirportDelay, DelaysQuestion, Unanswered
from shared.providers.flightaware import parse
from shared.settings import settings


@lru_cache(maxsize=1)
def _icao() -> dict[str, str]:
    """The four-letter codes, which this source prefers."""
    return {code: row["icao"] for code, row in airportsdata.load("IATA").items() if row["icao"]}


class Client:
    def __init__(self, client: http.AsyncClient) -> None:
        self._client = client

    async def airport_delays(self, question: DelaysQuestion) -> tuple[AirportDelay, ...]:
        code = (await anyio.to_thread.run_sync(_icao)).get(question.airport, question.airport)
        try:
            body = await http.get(self._client, f"/airports/{code}/delays")
        except httpx.HTTPStatusError as error:
            if error.response.status_code in (400, 404):
                raise Unanswered("not_covered", "airport_not_covered") from None
            raise
        return parse.parse_delays(body, question.airport)


@asynccontextmanager
async def connect(key: str | None) -> AsyncIterator[Client]:
    async with http.client(settings().flightaware_base_url) as client:
        client.headers["x-apikey"] = key or ""
        yield Client(client)
