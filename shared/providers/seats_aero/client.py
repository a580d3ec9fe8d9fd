"""Client of seats.aero: searches page by page, and the trips behind a row."""

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


@asynccontextmanager
async def connect(credential: str | None) -> AsyncIterator["Client"]:
    """The credential is a bare key, or `Bearer ...` of an account's own connection; one header takes both."""
    headers = {"Partner-Authorization": credential or ""}
    async with http.client(settings().seats_aero_base_url, headers=headers) as client:
        yield Client(client)


class Client:
    def __init__(self, client: http.AsyncClient) -> None:
        self._client = client
        self.calls = 0  # each page is one of the day

    async def award_seats(self, question: SeatsQuestion) -> tuple[AwardSeat, ...]:
        params = {
            "origin_airport": question.origin,
            "destination_airport": question.destination,
            "start_date": question.earliest.isoformat(),
            "end_date": question.latest.isoformat(),
            "include_trips": "true",
            "minify_trips": str((question.latest - question.earliest).days > MANY_DAYS).lower(),
            "take": str(TAKE),
        }
        if question.airlines:
            params["carriers"] = ",".join(question.airlines)
        rows = await self._pages(params)
        return await anyio.to_thread.run_sync(parse.parse_seats, rows, question, abandon_on_cancel=True)

    async def _pages(self, params: dict[str, str]) -> list[dict[str, Any]]:
        """All rows of a search. The first cursor stays and `skip` grows, so that a crawl in between moves nothing."""
        rows: dict[str, dict[str, Any]] = {}
        received = 0
        for _ in range(PAGES):
            body = await self._get("/search", params | ({"skip": str(received)} if received else {}))
            page = await anyio.to_thread.run_sync(parse.parse_page, body, abandon_on_cancel=True)
            rows |= {str(row["ID"]): row for row in page.rows}
            received += len(page.rows)
            if not page.more or not page.rows:
                return list(rows.values())
            params = {"cursor": str(page.cursor)} | params
        raise Unanswered("not_covered", "too_many_rows")

    async def award_trip(self, question: TripQuestion) -> tuple[AwardTrip, ...]:
        row, _, trip_id = question.ref.partition(":")
        if not parse.ID_PATTERN.fullmatch(row):
            raise Unanswered("no_data", "gone")
        try:
            body = await self._get(f"/trips/{row}", {})
        except httpx.HTTPStatusError as error:
            if error.response.status_code == 404:
                raise Unanswered("no_data", "gone") from None
            raise
        return await anyio.to_thread.run_sync(parse.parse_trips, body, question.ref, trip_id, abandon_on_cancel=True)

    async def _get(self, path: str, params: dict[str, str]) -> bytes:
        self.calls += 1
        try:
            return await http.get(self._client, path, params=params)
        except httpx.HTTPStatusError as error:
            refusal = classify_refusal(error.response)
            if refusal:
                raise refusal from None
            raise


def classify_refusal(response: httpx.Response) -> Unanswered | None:
    """A key that is wrong, one that may not, and a page of the network in front are told apart by what is said."""
    if response.status_code not in (401, 403):
        return None
    body = response.extensions.get("said", b"").lower()
    if b"<html" in body:
        return Unanswered("down", "blocked")
    if b"live" in body or b"commercial" in body or b"pro_" in body:
        return Unanswered("not_permitted", "plan")
    return Unanswered("broken", "bad_key") if response.status_code == 401 else None
