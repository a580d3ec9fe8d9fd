"""Client of the FAA's status document, which holds the whole country."""

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

import anyio
import anyio.to_thread
import httpx
from pydantic import TypeAdapter
from redis.exceptions import RedisError

from shared import clock, http
from shared.providers.contract import AirportDelay, DelaysQuestion, Unanswered
from shared.providers.faa_nas import parse
from shared.redis import connect as redis
from shared.redis import key
from shared.reference.load import reference
from shared.settings import settings

COUNTRIES = ("US", "PR", "VI", "GU", "AS", "MP")
MAX_BYTES = 2 * 1024 * 1024
TRY_SECONDS = 6.0  # for each of two documents, within the fifteen seconds of a call
CACHE_SECONDS = 120
REDIS_SECONDS = 1.0
_ROWS = TypeAdapter(tuple[AirportDelay, ...])


class Client:
    def __init__(self, client: http.AsyncClient) -> None:
        self._client = client

    async def airport_delays(self, question: DelaysQuestion) -> tuple[AirportDelay, ...]:
        airport = reference().airports.get(question.airport)
        if airport is None or airport.country not in COUNTRIES:
            raise Unanswered("not_covered", "airport_not_covered")
        return tuple(row for row in await self._fetch_country() if row.airport == question.airport)

    async def _fetch_country(self) -> tuple[AirportDelay, ...]:
        cached: list[tuple[AirportDelay, ...]] = []
        await _run_with_timeout(lambda: cached.extend(_read_cache()))
        if cached:
            return cached[0]
        rows = await self._fetch()
        await _run_with_timeout(lambda: _write_cache(rows))
        return rows

    async def _fetch(self) -> tuple[AirportDelay, ...]:
        """The published document, or where that fails in whatever way what the FAA's own page is made of."""
        try:
            with anyio.fail_after(TRY_SECONDS):
                body = await http.get(self._client, "/airport-status-information", limit=MAX_BYTES)
            return parse.parse_document(body, clock.now())
        except Exception as first:
            if isinstance(first, httpx.HTTPStatusError) and first.response.status_code == 429:
                raise
            return await self._fetch_from_page(first)

    async def _fetch_from_page(self, first: Exception) -> tuple[AirportDelay, ...]:
        try:
            with anyio.fail_after(TRY_SECONDS):
                body = await http.get(self._client, "/airport-events", limit=MAX_BYTES)
            return parse.parse_events(body, clock.now())
        except Exception:
            raise first from None


async def _run_with_timeout(work: Callable[[], None]) -> None:
    """Redis is a help here and never waited for."""
    with anyio.move_on_after(REDIS_SECONDS):
        await anyio.to_thread.run_sync(work, abandon_on_cancel=True)


def _read_cache() -> list[tuple[AirportDelay, ...]]:
    try:
        raw = redis().get(key("faa_nas", "country"))
        return [_ROWS.validate_json(raw)] if isinstance(raw, bytes) else []
    except (RedisError, OSError, ValueError):
        return []


def _write_cache(rows: tuple[AirportDelay, ...]) -> None:
    try:
        redis().set(key("faa_nas", "country"), _ROWS.dump_json(rows), ex=CACHE_SECONDS)
    except (RedisError, OSError):
        return


@asynccontextmanager
async def connect(_credential: str | None) -> AsyncIterator[Client]:
    async with http.client(settings().faa_nas_base_url) as client:
        yield Client(client)
