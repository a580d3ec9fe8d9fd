"""GET /feeds/SECRET.ics: a calendar asks with the secret of a link; the owner's upcoming bookings go out as a feed."""

import hashlib
import logging

import anyio.to_thread
from sqlalchemy.exc import OperationalError
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from mcp_server.calls.problem_details import RETRY_LATER, ProblemResponse
from mcp_server.toolkit.thread_limiter import limiter
from shared import clock
from shared.db.base import transaction
from shared.limits import address_key, hit
from shared.reference.load import reference
from shared.services.bookings import calendar_feed, secret_links

log = logging.getLogger(__name__)
PER_MINUTE = 600  # of one address: services that fetch calendars for many people use few
PRIVATE = {"Cache-Control": "private, no-cache", "X-Robots-Tag": "noindex", "Referrer-Policy": "no-referrer"}


async def feed(request: Request) -> Response:
    """404 for what was never a link and for one that has ended alike. Nothing here is logged: the path is a secret."""
    address = address_key(request.client.host if request.client else "")
    made = await anyio.to_thread.run_sync(_made, address, request.path_params["secret"], limiter=limiter())
    if made is None:
        raise HTTPException(404)
    tag = f'"{hashlib.sha256(made).hexdigest()[:32]}"'
    headers = PRIVATE | {"ETag": tag}
    if tag in request.headers.get("if-none-match", "") or request.headers.get("if-none-match") == "*":
        return Response(status_code=304, headers=headers)
    headers["Content-Disposition"] = 'inline; filename="award-travel.ics"'
    return Response(made, 200, headers, "text/calendar")


def _made(address: str, secret: str) -> bytes | None:
    """Raises Stopped when an address asks too often, or when the database is away."""
    verdict = hit(f"feeds:{address}", PER_MINUTE, 60)
    if not verdict.allowed:
        words = f"More than {PER_MINUTE} such requests in a minute."
        raise ProblemResponse("too_many_requests", words, {"Retry-After": str(verdict.retry_after)})
    try:
        with transaction() as session:
            account_id = secret_links.holder(session, calendar_feed.PURPOSE, secret)
        if account_id is None:
            return None
        with transaction(account_id) as session:
            return calendar_feed.feed(session, reference(), clock.now())
    except OperationalError as error:
        log.warning("feeds: the database is away (%s)", type(error).__name__)
        raise ProblemResponse("temporarily_unavailable", "Try again shortly.", {"Retry-After": RETRY_LATER}) from None


def routes() -> list[Route]:
    return [Route("/feeds/{secret}.ics", feed)]
