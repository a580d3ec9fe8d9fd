"""Client of seats.aero: searches page by page, and the trips behind a row."""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from functools import partial
from typing import Any

import anyio.to_thread
import httpx

from shared import http
from shared.providers.contract import AwardSeat, AwardTrip, SeatsQuestion, SeatsTogether, TripQuestion, Unanswered
from shared.providers.seats_aero import parse, parts
from shared.settings import settings

TAKE = 300  # a page with its trips stays at a megabyte or two, which is read in one go
TAKE_TOGETHER = 1000  # the most they allow: a call of the day is paid for each page
MAX_BYTES_TOGETHER = 16 * 1024 * 1024  # of a page, at up to ten kilobytes a row
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
        rows, is_whole = await self._read_pages(_build_search([question]) | {"take": str(TAKE)}, http.MAX_BYTES)
        if not is_whole:
            raise parts.TOO_MANY_ROWS
        return await anyio.to_thread.run_sync(parse.parse_seats, rows, question, abandon_on_cancel=True)

    async def award_seats_together(self, questions: Sequence[SeatsQuestion]) -> SeatsTogether:
        """One search over all their airports and days; each gets what it would have been answered alone."""
        search = _build_search(questions)
        rows, is_whole = await self._read_pages(search | {"take": str(TAKE_TOGETHER)}, MAX_BYTES_TOGETHER)
        brief = [q for q in questions if _is_brief(q)]
        read = partial(parts.read_rows, rows, questions, brief, is_whole=is_whole, is_filtered="carriers" in search)
        return await anyio.to_thread.run_sync(read, abandon_on_cancel=True)

    async def _read_pages(self, params: dict[str, str], limit: int) -> tuple[list[dict[str, Any]], bool]:
        """The rows of a search, and whether these are all: only so many pages are read.

        The first cursor stays and `skip` grows, so that a crawl in between moves nothing.
        """
        rows: dict[str, dict[str, Any]] = {}
        received = 0
        for _ in range(PAGES):
            body = await self._get("/search", params | ({"skip": str(received)} if received else {}), limit)
            page = await anyio.to_thread.run_sync(parse.parse_page, body, abandon_on_cancel=True)
            rows |= {str(row["ID"]): row for row in page.rows}
            received += len(page.rows)
            if not page.more or not page.rows:
                return list(rows.values()), True
            params = {"cursor": str(page.cursor)} | params
        return list(rows.values()), False

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

    async def _get(self, path: str, params: dict[str, str], limit: int = http.MAX_BYTES) -> bytes:
        self.calls += 1
        try:
            return await http.get(self._client, path, params=params, limit=limit)
        except httpx.HTTPStatusError as error:
            refusal = classify_refusal(error.response)
            if refusal:
                raise refusal from None
            raise


def _is_brief(question: SeatsQuestion) -> bool:
    return (question.latest - question.earliest).days > MANY_DAYS


def _build_search(questions: Sequence[SeatsQuestion]) -> dict[str, str]:
    """Everything that these questions ask for. Airlines are named where every question names some."""
    airlines = {code for q in questions for code in q.airlines} if all(q.airlines for q in questions) else set()
    return {
        "origin_airport": ",".join(dict.fromkeys(q.origin for q in questions)),
        "destination_airport": ",".join(dict.fromkeys(q.destination for q in questions)),
        "start_date": min(q.earliest for q in questions).isoformat(),
        "end_date": max(q.latest for q in questions).isoformat(),
        "include_trips": "true",
        "minify_trips": str(all(map(_is_brief, questions))).lower(),
    } | ({"carriers": ",".join(sorted(airlines))} if airlines else {})


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
