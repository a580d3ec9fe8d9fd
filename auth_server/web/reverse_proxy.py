"""Reverse proxy to the tool server, for local use without another proxy in front of the two servers."""

import logging
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import suppress

import httpx
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.types import Receive, Scope, Send

from auth_server.web.outcomes import find_links
from auth_server.web.rendering import render_page
from shared import clock
from shared.asgi import (
    BodyIncomplete,
    BodyTooLarge,
    ClientDisconnected,
    Message,
    is_browser,
    read_body,
    run_while_connected,
    wait_for_disconnect,
)
from shared.domain.dates import format_instant
from shared.domain.mcp_addresses import find_address
from shared.errors import problem
from shared.http import client
from shared.limits import address_key
from shared.settings import settings

# Bodies read before they are passed on, within bounds of size, time, and memory of one address and of all.

MAX_BYTES = 4 << 20  # as the tool server's own limit
MAX_SECONDS = 15.0
MAX_MAIL_BYTES, MAX_MAIL_SECONDS = 10 << 20, 60.0  # of a mail handed over at /hooks/mail
MAX_BYTES_OF_ONE_ADDRESS, MAX_BYTES_OF_ALL = 32 << 20, 128 << 20  # of unfinished bodies


class TooManyBodies(Exception):
    """Unfinished bodies already use all the memory they may."""


class WaitingBodies:
    """Counts the bytes of unfinished bodies, so that slow senders hold only memory, and a bounded amount."""

    def __init__(self) -> None:
        self.held: Counter[str] = Counter()

    async def read(self, scope: Scope, receive: Receive) -> bytes:
        """The whole body. Raises BodyTooLarge, BodyIncomplete or TooManyBodies."""
        address, count = address_key((scope.get("client") or ("",))[0]), 0

        async def receive_counted() -> Message:
            nonlocal count
            message = await receive()
            size = len(message.get("body", b""))
            count += size
            self.held[address] += size
            if self.held[address] > MAX_BYTES_OF_ONE_ADDRESS or self.held.total() > MAX_BYTES_OF_ALL:
                raise TooManyBodies
            return message

        is_mail = scope["path"].startswith("/hooks/mail")
        limits = (MAX_MAIL_BYTES, MAX_MAIL_SECONDS) if is_mail else (MAX_BYTES, MAX_SECONDS)
        try:
            return await read_body(scope, receive_counted, max_bytes=limits[0], max_seconds=limits[1])
        finally:
            self.held[address] -= count
            if not self.held[address]:
                del self.held[address]


log = logging.getLogger(__name__)
TIMEOUT = httpx.Timeout(connect=2, read=120, write=30, pool=10)
PAGE_TIMEOUT = httpx.Timeout(connect=2, read=10, write=30, pool=10)  # as long as a person waits for a page
LIMITS = httpx.Limits(max_connections=200, max_keepalive_connections=50, keepalive_expiry=4)
_HOP_BY_HOP = {
    "connection",
    "keep-alive",
    "proxy-authenticate",
    "proxy-authorization",
    "proxy-connection",
    "te",
    "trailer",
    "transfer-encoding",
    "upgrade",
}
_OWN_HEADERS = {"date"}  # this server writes one itself
# The tool server trusts these from its proxies; what a caller wrote into them is not passed on.
_FORWARDED_HEADERS = {
    "forwarded",
    "x-forwarded-for",
    "x-forwarded-host",
    "x-forwarded-proto",
    "x-forwarded-port",
    "x-real-ip",
}
STATES = "/status"
UNREACHABLE = "The tool server does not answer."
_BODY_ERRORS: dict[type[Exception], tuple[int, str, str, str]] = {
    BodyTooLarge: (413, "invalid_request", "too_large", "The body is larger than is accepted here."),
    BodyIncomplete: (408, "invalid_request", "too_slow", "The body did not arrive in time."),
    TooManyBodies: (503, "temporarily_unavailable", "temporarily_unavailable", "Too many unfinished requests."),
}
_CREDENTIALS = {"/hooks/mail": b"x-hook-secret"}
Headers = list[tuple[bytes, bytes]]


def _filter_headers(headers: Headers, dropped: set[str]) -> Headers:
    hop_headers = {
        n.strip().lower() for k, v in headers if k.lower() == b"connection" for n in v.decode("latin-1").split(",")
    }
    # Blanks around a value are not part of it (RFC 9110 5.5); httptools keeps them, h11 refuses to send them.
    return [(k, v.strip(b" \t")) for k, v in headers if k.decode("latin-1").lower() not in dropped | hop_headers]


async def _relay_body(response: httpx.Response) -> AsyncIterator[bytes]:
    try:
        async for chunk in response.aiter_raw():
            yield chunk
    finally:
        await response.aclose()


def _build_error(scope: Scope, status: int, error: str, kind: str, text: str) -> JSONResponse:
    """An error in the form callers of the path expect: a problem document over REST, else OAuth's."""
    headers = {"Cache-Control": "no-store"}
    if scope["path"].startswith("/api/"):
        body = problem(settings().web_url, kind, text)
        return JSONResponse(body, status, headers, media_type="application/problem+json")
    return JSONResponse({"error": error, "error_description": text}, status, headers)


def _build_unavailable(scope: Scope) -> Response:
    accepted = b",".join(value for name, value in scope["headers"] if name == b"accept")
    if b"text/html" not in accepted or scope["path"].startswith("/api/"):
        return _build_error(scope, 503, "temporarily_unavailable", "temporarily_unavailable", UNREACHABLE)
    text = "A part of this service is down. Please try again in a moment."
    context = {"title": "Back in a moment", "text": text, "links": find_links(503)}
    return render_page("problem.html", context, 503)


def _describe_away(scope: Scope) -> Response:
    """The status page's text while the tool server, which makes it, does not answer."""
    accepted = b",".join(value for name, value in scope["headers"] if name == b"accept")
    if b"application/json" in accepted and b"text/html" not in accepted:
        parts = [
            {"name": "Web host", "state": "works", "about": "People can sign in."},
            {"name": "Tool server", "state": "away", "about": UNREACHABLE},
        ]
        document = {"state": "away", "checked_at": format_instant(clock.now()), "parts": parts, "sources": []}
        return JSONResponse(document, headers={"Cache-Control": "no-store"})
    return render_page("status_away.html", {})


async def serve_absence(scope: Scope, receive: Receive, send: Send) -> None:
    """Answers a path of the tool server while that server is down."""
    answer = _describe_away(scope) if scope["path"] == STATES else _build_unavailable(scope)
    answer.headers["Retry-After"] = "2"
    await answer(scope, receive, send)


class ReverseProxy:
    """Holds the connections to one upstream; opened at first use, closed with the server."""

    def __init__(self, upstream: str) -> None:
        self.upstream = httpx.URL(upstream)
        self.client = client(upstream, timeout=TIMEOUT, limits=LIMITS)
        self.bodies = WaitingBodies()

    async def close(self) -> None:
        await self.client.aclose()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        headers = _filter_headers(scope["headers"], _HOP_BY_HOP | _FORWARDED_HEADERS)
        if scope.get("client"):  # for rate limits by address; uvicorn has decided whose forwarded address to trust
            headers.append((b"x-forwarded-for", scope["client"][0].encode()))
        try:
            body = await self._read_body(scope, receive)
        except (BodyTooLarge, BodyIncomplete, TooManyBodies) as error:
            await _build_error(scope, *_BODY_ERRORS[type(error)])(scope, receive, send)
            return
        if body is not None:
            headers = [(k, v) for k, v in headers if k.lower() != b"content-length"]
        # Responses read whole, such as pages or lists; a tool may work for minutes, and a stream stays open.
        is_page = is_browser(scope) or (scope["method"] in ("GET", "HEAD") and find_address(scope["path"]) is None)
        timeout = PAGE_TIMEOUT if is_page else TIMEOUT
        raw: bytes = scope.get("raw_path") or scope["path"].encode()
        query: bytes = scope["query_string"]
        outgoing = httpx.Request(
            scope["method"],
            self.upstream.copy_with(raw_path=raw + b"?" + query if query else raw),
            headers=headers,
            content=body,
            extensions={"timeout": timeout.as_dict()},
        )
        # Leaving closes the connection to the tool server, so that it notices too.
        with suppress(ClientDisconnected):
            await run_while_connected(wait_for_disconnect(receive), self._forward(outgoing, scope, receive, send))

    async def _read_body(self, scope: Scope, receive: Receive) -> bytes | None:
        """The body whole, so that an unfinished one holds no connection to the tool server; None without one.

        A request without credentials is refused whatever its body says, so that body is not awaited.
        """
        # Whether the head announces a body (RFC 9112 6.3).
        if not any(name in (b"content-length", b"transfer-encoding") for name, _ in scope["headers"]):
            return None
        credential = b"authorization" if find_address(scope["path"]) else _CREDENTIALS.get(scope["path"].rstrip("/"))
        if credential is not None and not any(name == credential for name, _ in scope["headers"]):
            return b""
        return await self.bodies.read(scope, receive)

    async def _forward(self, outgoing: httpx.Request, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            upstream = await self.client.send(outgoing, stream=True)
        except httpx.LocalProtocolError:  # httptools accepts characters in headers that h11 refuses to send
            text = "A header holds characters that are not allowed."
            await _build_error(scope, 400, "invalid_request", "unreadable", text)(scope, receive, send)
            return
        except httpx.HTTPError as error:
            log.warning("the tool server did not answer: %s", type(error).__name__)
            await serve_absence(scope, receive, send)
            return
        response = StreamingResponse(_relay_body(upstream), upstream.status_code)
        response.raw_headers = [
            (k.lower(), v) for k, v in _filter_headers(upstream.headers.raw, _HOP_BY_HOP | _OWN_HEADERS)
        ]
        await response(scope, receive, send)
