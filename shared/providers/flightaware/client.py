"""Client of AeroAPI's airport delays."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import lru_cache
from typing import Literal

import airportsdata
import anyio.to_thread
import httpx
from pydantic import BaseModel, NonNegativeInt

from shared import http
from shared.providers.contract import AirportDelay, DelaysQuestion, Unanswered
from shared.settings import settings

# Parser of AeroAPI's delays: one row for each reason.
#
# Its seconds of delay are only for comparing, not for display, so `shown_minutes` is None: people read the reason's
# words.

MAX_REASON_CHARACTERS = 200  # characters
Kind = Literal["ground_stop", "ground_delay", "departure", "arrival", "closure"]
# The kind is given only in words; the first match counts.
_KINDS: tuple[tuple[str, Kind], ...] = (
    ("ground stop", "ground_stop"),
    ("ground delay", "ground_delay"),
    ("closed", "closure"),
    ("arriv", "arrival"),
    ("inbound", "arrival"),
)


class _Reason(BaseModel):
    delay_secs: NonNegativeInt | None
    reason: str


class _Delays(BaseModel):
    reasons: list[_Reason]


def parse_delays(body: bytes, airport: str) -> tuple[AirportDelay, ...]:
    return tuple(_parse_reason(airport, reason) for reason in _Delays.model_validate_json(body).reasons)


def _parse_reason(airport: str, reason: _Reason) -> AirportDelay:
    words = " ".join(reason.reason.split())[:MAX_REASON_CHARACTERS]
    kind: Kind = next((kind for word, kind in _KINDS if word in words.lower()), "departure")
    number = reason.delay_secs // 60 if reason.delay_secs else None
    return AirportDelay(airport, kind, number, None, words)


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
        return parse_delays(body, question.airport)


@asynccontextmanager
async def connect(key: str | None) -> AsyncIterator[Client]:
    async with http.client(settings().flightaware_base_url) as client:
        client.headers["x-apikey"] = key or ""
        yield Client(client)
