"""GET /feeds/SECRET.ics: the bookings, plans and deadlines of an account as an iCalendar feed, behind a secret link.

The query `alarms=on` adds reminders, `deadlines=off` leaves deadlines out.
"""

import hashlib
from functools import partial

import anyio.to_thread
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from mcp_server.calls.problem_details import ProblemResponse
from mcp_server.toolkit.thread_limiter import limiter
from shared import clock
from shared.db.base import transaction
from shared.db.outages import run_again
from shared.limits import address_key, hit
from shared.reference.load import reference
from shared.services.bookings import calendar_feed, secret_links

PER_MINUTE = 600  # requests of one address: calendar services fetch for many people from few addresses
PRIVATE = {"Cache-Control": "private, no-cache", "X-Robots-Tag": "noindex", "Referrer-Policy": "no-referrer"}


async def send_feed(request: Request) -> Response:
    """Sends it; unknown and ended links get the same 404. The path is a secret, so it is not logged."""
    address = address_key(request.client.host if request.client else "")
    choices = calendar_feed.read_choices(request.query_params)
    work = partial(_build_feed, address, request.path_params["secret"], choices)
    content = await anyio.to_thread.run_sync(work, limiter=limiter())
    if content is None:
        raise HTTPException(404)
    tag = f'"{hashlib.sha256(content).hexdigest()[:32]}"'
    headers = PRIVATE | {"ETag": tag}
    if tag in request.headers.get("if-none-match", "") or request.headers.get("if-none-match") == "*":
        return Response(status_code=304, headers=headers)
    headers["Content-Disposition"] = 'inline; filename="award-travel.ics"'
    return Response(content, 200, headers, "text/calendar")


def _build_feed(address: str, secret: str, choices: calendar_feed.Choices) -> bytes | None:
    """Builds it; raises ProblemResponse if an address asks too often."""
    verdict = hit(f"feeds:{address}", PER_MINUTE, 60)
    if not verdict.allowed:
        words = f"More than {PER_MINUTE} such requests in a minute."
        raise ProblemResponse("too_many_requests", words, {"Retry-After": str(verdict.retry_after)})
    return run_again(partial(_read_feed, secret, choices))


def _read_feed(secret: str, choices: calendar_feed.Choices) -> bytes | None:
    with transaction() as session:
        account_id = secret_links.find_holder(session, calendar_feed.PURPOSE, secret)
    if account_id is None:
        return None
    with transaction(account_id) as session:
        return calendar_feed.build_feed(session, reference(), clock.now(), choices)


def routes() -> list[Route]:
    return [Route("/feeds/{secret}.ics", send_feed)]
