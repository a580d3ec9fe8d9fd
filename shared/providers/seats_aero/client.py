"""seats.aero over HTTP: a question goes out page by page, seats or trips come back, refusals as one word."""

import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import anyio.to_thread
import httpx

from shared import http
from shared.providers.contract import AwardSeat, AwardTrip, SeatsQuestion, TripQuestion, Unanswered
from shared.providers.seats_aero import parse
from shared.settings import settings

TAKE = 300  # a page with its trips stays at a megabyte or two, which is read in one go
PAGES = 10
MANY_DAYS = 7  # longer windows ask for trips without their segments
_ROW = re.compile(r"[A-Za-z0-9_-]{1,64}")


@asynccontextmanager
async def connect(credential: str | None) -> AsyncIterator["Client"]:
    """The credential is a bare key, or `Bearer ...` of an account's own connection; one header takes both."""
    headers = {"Partner-Authorization": credential or ""}
    async with http.client(settings().seats_aero_base_url, headers=headers) as client:
        yield Client(client)


class Client:
    def __init__(self, client: http.AsyncClient) -> None:
        self._client = client

    async def award_seats(self, question: SeatsQuestion) -> tuple[AwardSeat, ...]:
        asked = {
            "origin_airport": question.origin,
            "destination_airport": question.destination,
            "start_date": question.earliest.isoformat(),
            "end_date": question.latest.isoformat(),
            "include_trips": "true",
            "minify_trips": str((question.latest - question.earliest).days > MANY_DAYS).lower(),
            "take": str(TAKE),
        }
        if question.airlines:
            asked["carriers"] = ",".join(question.airlines)
        rows = await self._pages(asked)
        return await anyio.to_thread.run_sync(parse.seats, rows, question, abandon_on_cancel=True)

    async def _pages(self, asked: dict[str, str]) -> list[dict[str, Any]]:
        """All rows of a search. The first cursor stays and `skip` grows, so that a crawl in between moves nothing."""
        rows: dict[str, dict[str, Any]] = {}
        received = 0
        for _ in range(PAGES):
            body = await self._get("/search", asked | ({"skip": str(received)} if received else {}))
            page = await anyio.to_thread.run_sync(parse.page, body, abandon_on_cancel=True)
            rows |= {str(row["ID"]): row for row in page.rows}
            received += len(page.rows)
            if not page.more or not page.rows:
                return list(rows.values())
            asked = {"cursor": str(page.cursor)} | asked
        raise Unanswered("not_covered", "too_many_rows")

    async def award_trip(self, question: TripQuestion) -> tuple[AwardTrip, ...]:
        row, _, wanted = question.ref.partition(":")
        if not _ROW.fullmatch(row):
            raise Unanswered("no_data", "gone")
        try:
            body = await self._get(f"/trips/{row}", {})
        except httpx.HTTPStatusError as error:
            if error.response.status_code == 404:
                raise Unanswered("no_data", "gone") from None
            raise
        return await anyio.to_thread.run_sync(parse.trips, body, question.ref, wanted, abandon_on_cancel=True)

    async def _get(self, path: str, asked: dict[str, str]) -> bytes:
        try:
            return await http.get(self._client, path, params=asked)
        except httpx.HTTPStatusError as error:
            told = refusal(error.response)
            if told:
                raise told from None
            raise


def refusal(response: httpx.Response) -> Unanswered | None:
    """A key that is wrong, one that may not, and a page of the network in front are told apart by what is said."""
    if response.status_code not in (401, 403):
        return None
    said = response.extensions.get("said", b"").lower()
    if b"<html" in said:
        return Unanswered("down", "blocked")
    if b"live" in said or b"commercial" in said or b"pro_" in said:
        return Unanswered("not_permitted", "plan")
    return Unanswered("broken", "bad_key") if response.status_code == 401 else None
