"""The pages that connect an account elsewhere: consent, the way to the provider, and the callback (RFC 6749 4.1).

The web host passes them here; the connection becomes that of the person signed in there.
"""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any
from urllib.parse import parse_qs, quote, urlsplit

import anyio.to_thread
import httpx
from sqlalchemy.exc import SQLAlchemyError
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response
from starlette.routing import Route

from mcp_server.pages.templates import render_page
from mcp_server.toolkit.thread_limiter import limiter
from mcp_server.transport.token_verifier import AuthServerUnavailable
from shared.asgi import BodyIncomplete, BodyTooLarge, read_body
from shared.errors import Busy
from shared.internal_api import AuthServerClient, session_cookie_name
from shared.limits import address_key, hit
from shared.providers.connectors import Connector
from shared.secrets import digest
from shared.services.connections import connecting
from shared.services.connections.connecting import ConnectStopped, SignedInBrowser, StopReason
from shared.settings import settings
from shared.telemetry.call_context import note_account

# The person signed in with a browser, from the auth server, which serves the same host and owns the sessions.

MAX_COOKIE_CHARACTERS = 128


@dataclass(frozen=True)
class BrowserSession:
    public_id: str
    session: str  # a digest of the cookie


async def find_session(request: Request) -> BrowserSession | None:
    """Finds the session; None when no one is signed in. Raises AuthServerUnavailable."""
    cookie = request.cookies.get(session_cookie_name(), "")
    if not cookie or len(cookie) > MAX_COOKIE_CHARACTERS:
        return None
    document = await _look_up(cookie)
    if document.get("active") is not True or not isinstance(document.get("sub"), str):
        return None
    note_account(document["sub"])
    return BrowserSession(document["sub"], digest(cookie))


async def _look_up(cookie: str) -> dict[str, Any]:
    try:
        async with AuthServerClient() as auth_server:
            response = await auth_server.post("/internal/session", {"cookie": cookie})
            document = response.json() if response.status_code == 200 else None
    except (httpx.HTTPError, ValueError):
        raise AuthServerUnavailable from None
    if not isinstance(document, dict):
        raise AuthServerUnavailable
    return document


PER_MINUTE = 60  # requests of one address
MAX_FORM_BYTES = 3 * (1024 * 1024 + 8192)  # a calendar of 1 MiB; a form encodes each byte as up to three
MAX_FORM_SECONDS = 20.0
MAX_KEPT_CHARACTERS = 20_000  # of a pasted text that could not be read, shown again for correction
_HEADERS = {
    # Without form-action: browsers apply it to redirects too, and the POST is redirected to the provider.
    "Content-Security-Policy": "default-src 'none'; style-src 'self'; img-src 'self'; base-uri 'none';"
    " frame-ancestors 'none'",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "same-origin",
    "Cache-Control": "no-store",
    "X-Robots-Tag": "noindex",
}
_CONSENTS = {"confirmation_numbers": "Also send my confirmation numbers. With one, a booking can be changed."}
_PAGE_OF_REASON = {
    StopReason.USED: (410, "This link has ended", "It was used, or is too old. Begin again."),
    StopReason.STRANGER: (
        403,
        "Not for this account",
        "The link was made for another account, or in another browser. Sign out, sign in as the account that asked for"
        " it, and begin again.",
    ),
    StopReason.DECLINED: (200, "Nothing was connected", "You did not allow it, so nothing is shared."),
    StopReason.NOT_CONFIGURED: (404, "Not available", "The operator of this service has not set this connection up."),
    StopReason.AWAY: (
        502,
        "Not connected",
        "The other service did not answer as it should. Begin again; if that fails too, wait an hour.",
    ),
}
_TOO_LONG = "This is too long: a calendar may have 1 MiB."
_UNREADABLE = (
    "That is neither the address of a private calendar nor the text of one. The address begins with webcal:// or"
    " https://."
)
Handler = Callable[[Request], Awaitable[Response]]


def _page(heading: str, lines: list[str], status: int = 200, **more: Any) -> HTMLResponse:
    values = {"heading": heading, "lines": lines, "card": None, "fault": None} | more
    return HTMLResponse(render_page("connect.html", **values), status, _HEADERS)


def _offer(
    request: Request, card: Connector, link: str, fault: str | None = None, pasted: str = "", status: int = 422
) -> HTMLResponse:
    """`status` is that of a fault, shown at the field of the pasted calendar."""
    return _page(
        f"Connect {card.title}",
        ["Connecting shares this:"],
        status if fault else 200,
        card=card,
        provider=request.path_params["provider"],
        link=link,
        consents=[(name, _CONSENTS[name]) for name in card.consents],
        fault=fault,
        pasted=pasted if len(pasted) <= MAX_KEPT_CHARACTERS else "",
    )


def _handle_errors(handler: Handler) -> Handler:
    """Turns errors into pages; an address that tries too often has to wait."""

    async def handle(request: Request) -> Response:
        if request.method == "HEAD":  # a link preview: it must not use the link up
            return Response(b"", 200, _HEADERS)
        peer = address_key(request.client.host if request.client else "")
        verdict = await anyio.to_thread.run_sync(hit, f"connect:{peer}", PER_MINUTE, 60, limiter=limiter())
        if not verdict.allowed:
            response = _page("Too many requests", ["Try again in a minute."], 429)
            response.headers["Retry-After"] = str(verdict.retry_after)
            return response
        try:
            return await handler(request)
        except ConnectStopped as stopped:
            status, heading, words = _PAGE_OF_REASON[stopped.why]
            return _page(heading, [words], status)
        except (AuthServerUnavailable, SQLAlchemyError):
            response = _page("Temporarily unavailable", ["A part of this service is down. Try again shortly."], 503)
            response.headers["Retry-After"] = "5"
            return response
        except Busy as busy:
            response = _page("Very busy", [busy.message], 503)
            response.headers["Retry-After"] = str(busy.facts["retry_after"])
            return response

    return handle


def _traveller(session: BrowserSession) -> SignedInBrowser:
    return SignedInBrowser(session.public_id, session.session)


@_handle_errors
async def show_consent(request: Request) -> Response:
    """Shows what will be shared, and the button. A person who is not signed in signs in first and returns here."""
    link, provider = request.query_params.get("link", ""), request.path_params["provider"]
    session = await find_session(request)
    if session is None:
        back = quote(f"/integrations/{provider}/connect?link={quote(link[:100])}", safe="")
        return RedirectResponse(f"{settings().web_url}/signin?return_to={back}", 303, {"Cache-Control": "no-store"})
    return _offer(request, await connecting.check_arrival(provider, link, _traveller(session)), link)


@_handle_errors
async def start_connection(request: Request) -> Response:
    """Redirects to the provider after the button, or takes a pasted calendar instead."""
    provider, form = request.path_params["provider"], await _read_form(request)
    link = request.query_params.get("link", "") if form is None else form.get("link", [""])[0]
    session = await find_session(request)
    if session is None or not _is_same_origin(request):
        raise ConnectStopped(StopReason.STRANGER)
    traveller = _traveller(session)
    if form is None:
        return _offer(request, await connecting.check_arrival(provider, link, traveller), link, _TOO_LONG, status=413)
    if form.get("way") == ["paste"]:
        return await _connect_by_paste(request, link, traveller, form.get("pasted", [""])[0])
    provider_url = await connecting.start_consent(provider, link, traveller, form.get("consent", []))
    return RedirectResponse(provider_url, 303, {"Cache-Control": "no-store", "Referrer-Policy": "no-referrer"})


async def _connect_by_paste(request: Request, link: str, traveller: SignedInBrowser, pasted: str) -> Response:
    """Connects, or shows the same page with the fault at its field and the pasted text."""
    provider = request.path_params["provider"]
    try:
        return _show_connected(await connecting.connect_by_paste(provider, link, traveller, pasted))
    except ConnectStopped as stopped:
        if stopped.why is not StopReason.PASTED:
            raise
        return _offer(request, await connecting.check_arrival(provider, link, traveller), link, _UNREADABLE, pasted)


@_handle_errors
async def finish_connection(request: Request) -> Response:
    """Handles the callback from the provider."""
    session = await find_session(request)
    if session is None:
        raise ConnectStopped(StopReason.STRANGER)
    query = {name: value[:4096] for name, value in request.query_params.items()}
    if len(query) != len(request.query_params.multi_items()):
        raise ConnectStopped(StopReason.USED)  # a parameter sent twice
    return _show_connected(await connecting.finish_consent(request.path_params["provider"], query, _traveller(session)))


def _show_connected(card: Connector) -> Response:
    return _page(f"{card.title} is connected", ["If an assistant sent you here, go on in your conversation."])


def _is_same_origin(request: Request) -> bool:
    """Whether the form was ours: browsers send the origin of a POST."""
    origin = request.headers.get("origin")
    return origin is None or urlsplit(origin).netloc == request.headers.get("host")


async def _read_form(request: Request) -> dict[str, list[str]] | None:
    """Reads a form; None, with nothing read, if it is too large."""
    try:
        body = await read_body(request.scope, request.receive, max_bytes=MAX_FORM_BYTES, max_seconds=MAX_FORM_SECONDS)
        return parse_qs(body.decode("ascii"), keep_blank_values=True, max_num_fields=20, errors="strict")
    except BodyTooLarge:
        return None
    except (BodyIncomplete, ValueError):
        raise ConnectStopped(StopReason.USED) from None


def routes() -> list[Route]:
    return [
        Route("/integrations/{provider}/connect", show_consent, methods=["GET"]),
        Route("/integrations/{provider}/connect", start_connection, methods=["POST"]),
        Route("/integrations/{provider}/callback", finish_connection, methods=["GET"]),
    ]
