"""GET /shared/trips/SECRET: trips that people share by a secret link; all other links get the same 404."""

from functools import partial

import anyio.to_thread
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response
from starlette.routing import Route

from mcp_server.pages.public_pages import PAGE_HEADERS, redirect_to_site
from mcp_server.pages.shared_documents import PRIVATE_HEADERS, find_wait, refuse
from mcp_server.pages.templates import render_page
from mcp_server.toolkit.thread_limiter import limiter
from shared.asgi import is_browser
from shared.db.base import transaction
from shared.reference.load import reference
from shared.services.bookings import shared_trips
from shared.services.bookings.shared_trips import PATH, SharedTrip

PER_PAGE = 24  # entries: a page of the longest stays below 30 kB


async def show_trip(request: Request) -> Response:
    """Shows the trip as it is now: changes and withdrawals show at once."""
    if wait := await find_wait(request):
        return refuse(request, 429, {"Retry-After": str(wait)})
    work = partial(_read_trip, request.path_params["secret"], _read_page(request))
    trip = await anyio.to_thread.run_sync(work, limiter=limiter())
    if trip is None:
        return refuse(request, 404)
    if is_browser(request.scope) and (elsewhere := redirect_to_site(request)):
        return elsewhere
    return HTMLResponse(render_page("shared_trip.html", trip=trip), 200, {**PAGE_HEADERS, **PRIVATE_HEADERS})


def _read_page(request: Request) -> int:
    text = request.query_params.get("page", "")
    return max(1, int(text)) if text.isascii() and text.isdecimal() and len(text) < 5 else 1


def _read_trip(secret: str, page: int) -> SharedTrip | None:
    with transaction() as session:
        owner = shared_trips.find_trip(session, secret)
    if owner is None:
        return None
    account_id, trip_id = owner
    with transaction(account_id) as session:
        return shared_trips.read_trip(session, reference(), trip_id, page, PER_PAGE)


def routes() -> list[Route]:
    return [Route(f"{PATH}/{{secret}}", show_trip, methods=["GET", "HEAD"])]
