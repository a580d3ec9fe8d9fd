"""POST /hooks/mail: booking confirmations delivered by a mail service, which authenticates by a shared secret.

2xx: stored, do not send again. 4xx: never will be stored. 5xx: try again later.
"""

import anyio.to_thread
from sqlalchemy.exc import SQLAlchemyError
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from mcp_server.calls.problem_details import ProblemResponse
from mcp_server.toolkit.thread_limiter import limiter
from shared.asgi import BodyIncomplete, BodyTooLarge, read_body
from shared.limits import address_key, hit, peek
from shared.secrets import is_same_secret
from shared.services.bookings.inbound_mail import MAX_MAIL_BYTES, MailRefused, RefusalReason, store
from shared.settings import settings

PATH = "/hooks/mail"
MAX_BODY_SECONDS = 60.0
GUESSES_PER_MINUTE = 20
_NO_STORE = {"Cache-Control": "no-store"}
_RETRY_HEADERS = {"Retry-After": "60"}


async def receive_mail(request: Request) -> Response:
    """The recipient is in ?to=; the body is the raw message (message/rfc822)."""
    secret = settings().inbound_hook_secret
    if secret is None:
        raise ProblemResponse("no_such_page", "This installation takes no mail here.")
    await _check_secret(request, secret.get_secret_value())
    recipients = [r for r in request.query_params.getlist("to") if r][:20]
    if not recipients:
        raise ProblemResponse("unreadable", "Say whom it is for: ?to=ADDRESS.")
    raw = await _body(request)
    try:
        new = await anyio.to_thread.run_sync(store, recipients, raw, limiter=limiter())
    except MailRefused as refusal:
        if refusal.why in (RefusalReason.FULL, RefusalReason.NO_ROOM):
            raise ProblemResponse("temporarily_unavailable", "There is no room for it.", _RETRY_HEADERS) from None
        raise ProblemResponse("not_found", "No mailbox of this address takes mail.") from None
    except SQLAlchemyError:
        raise ProblemResponse("temporarily_unavailable", "Send it again.", _RETRY_HEADERS) from None
    return JSONResponse({"stored": new}, headers=_NO_STORE)


async def _check_secret(request: Request, secret: str) -> None:
    """Raises ProblemResponse; an address that guesses must wait."""
    counter = f"hook:{address_key(request.client.host if request.client else '')}"
    verdict = await anyio.to_thread.run_sync(peek, counter, GUESSES_PER_MINUTE, 60, limiter=limiter())
    if not verdict.allowed:
        raise ProblemResponse("too_many_requests", "Too many wrong secrets.", {"Retry-After": str(verdict.retry_after)})
    if not is_same_secret(request.headers.get("x-hook-secret", ""), secret):
        await anyio.to_thread.run_sync(hit, counter, GUESSES_PER_MINUTE, 60, limiter=limiter())
        raise ProblemResponse("unauthorized", "X-Hook-Secret is missing or wrong.")


async def _body(request: Request) -> bytes:
    try:
        body = await read_body(request.scope, request.receive, max_bytes=MAX_MAIL_BYTES, max_seconds=MAX_BODY_SECONDS)
    except BodyTooLarge:
        raise ProblemResponse("too_large", f"A mail may have {MAX_MAIL_BYTES >> 20} MiB.") from None
    except BodyIncomplete:
        raise ProblemResponse("too_slow", "The message did not arrive in time.") from None
    if not body:
        raise ProblemResponse("unreadable", "The message is empty.")
    return body


def routes() -> list[Route]:
    return [Route(PATH, receive_mail, methods=["POST"])]
