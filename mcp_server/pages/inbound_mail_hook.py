"""POST /hooks/mail: a mail service's raw message and the shared secret come in; the stored mail's answer goes out.

2xx: stored, do not send it again. 4xx: never will be. 5xx: try again later.
"""

import asyncio

import anyio.to_thread
from sqlalchemy.exc import SQLAlchemyError
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from mcp_server.calls.problem_details import ProblemResponse
from mcp_server.toolkit.thread_limiter import limiter
from shared.limits import address_key, hit, peek
from shared.secrets import same
from shared.services.bookings.inbound_mail import MOST_BYTES, No, Refused, store
from shared.settings import settings

PATH = "/hooks/mail"
SECONDS = 60
GUESSES_PER_MINUTE = 20
_NO_STORE = {"Cache-Control": "no-store"}
_LATER = {"Retry-After": "60"}


async def take(request: Request) -> Response:
    """The recipient stands in ?to=; the body is the message as it came (message/rfc822)."""
    secret = settings().inbound_hook_secret
    if secret is None:
        raise ProblemResponse("no_such_page", "This installation takes no mail here.")
    await _known(request, secret.get_secret_value())
    recipients = [r for r in request.query_params.getlist("to") if r][:20]
    if not recipients:
        raise ProblemResponse("unreadable", "Say whom it is for: ?to=ADDRESS.")
    raw = await _body(request)
    try:
        new = await anyio.to_thread.run_sync(store, recipients, raw, limiter=limiter())
    except Refused as no:
        if no.why is No.FULL:
            raise ProblemResponse("temporarily_unavailable", "The mailbox is full.", _LATER) from None
        raise ProblemResponse("not_found", "No mailbox of this address takes mail.") from None
    except SQLAlchemyError:
        raise ProblemResponse("temporarily_unavailable", "Not stored.", _LATER) from None
    return JSONResponse({"stored": new}, headers=_NO_STORE)


async def _known(request: Request, secret: str) -> None:
    """Raises Stopped; an address that guesses is soon not listened to."""
    who = f"hook:{address_key(request.client.host if request.client else '')}"
    before = await anyio.to_thread.run_sync(peek, who, GUESSES_PER_MINUTE, 60, limiter=limiter())
    if not before.allowed:
        raise ProblemResponse("too_many_requests", "Too many wrong secrets.", {"Retry-After": str(before.retry_after)})
    if not same(request.headers.get("x-hook-secret", ""), secret):
        await anyio.to_thread.run_sync(hit, who, GUESSES_PER_MINUTE, 60, limiter=limiter())
        raise ProblemResponse("unauthorized", "X-Hook-Secret is missing or wrong.")


async def _body(request: Request) -> bytes:
    body = bytearray()
    try:
        async with asyncio.timeout(SECONDS):
            async for chunk in request.stream():
                body += chunk
                if len(body) > MOST_BYTES:
                    raise ProblemResponse("too_large", f"A mail may have {MOST_BYTES >> 20} MiB.")
    except (TimeoutError, ClientDisconnect):
        raise ProblemResponse("too_slow", "The message did not arrive in time.") from None
    if not body:
        raise ProblemResponse("unreadable", "The message is empty.")
    return bytes(body)


def routes() -> list[Route]:
    return [Route(PATH, take, methods=["POST"])]
