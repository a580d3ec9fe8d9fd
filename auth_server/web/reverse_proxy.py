"""Reverse proxy to the tool server, for local use where no other proxy stands before the two servers."""

import asyncio
import logging
from collections.abc import AsyncIterator
from contextlib import suppress

import httpx
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, StreamingResponse
from starlette.types import Receive, Scope, Send

from shared.asgi import ClientDisconnected, run_while_connected, wait_for_disconnect
from shared.errors import problem
from shared.http import client
from shared.settings import settings

log = logging.getLogger(__name__)
TIMEOUT = httpx.Timeout(connect=2, read=120, write=30, pool=10)
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
UNREACHABLE = "The tool server does not answer."
Headers = list[tuple[bytes, bytes]]


def _filter_headers(headers: Headers, dropped: set[str]) -> Headers:
    listed = {
        n.strip().lower() for k, v in headers if k.lower() == b"connection" for n in v.decode("latin-1").split(",")
    }
    # Blanks around a value are not part of it (RFC 9110 5.5); httptools leaves them there, h11 refuses to send them.
    return [(k, v.strip(b" \t")) for k, v in headers if k.decode("latin-1").lower() not in dropped | listed]


def _build_target(upstream: httpx.URL, scope: Scope) -> httpx.URL:
    raw: bytes = scope.get("raw_path") or scope["path"].encode()
    query: bytes = scope["query_string"]
    return upstream.copy_with(raw_path=raw + b"?" + query if query else raw)


async def _stream_body(request: Request, body_read: asyncio.Event) -> AsyncIterator[bytes]:
    async for chunk in request.stream():
        if chunk:
            yield chunk
    body_read.set()


async def _wait_until_gone(body_read: asyncio.Event, receive: Receive) -> None:
    """Waits until the client disconnects. While the body is being read, its reader notices that."""
    await body_read.wait()
    await wait_for_disconnect(receive)


async def _relay_body(response: httpx.Response) -> AsyncIterator[bytes]:
    try:
        async for chunk in response.aiter_raw():
            yield chunk
    finally:
        await response.aclose()


def _build_error(scope: Scope, status: int, error: str, kind: str, text: str) -> JSONResponse:
    """In the form the callers of the path expect: a problem document over REST, else OAuth's."""
    headers = {"Cache-Control": "no-store"}
    if scope["path"].startswith("/api/"):
        body = problem(settings().web_url, kind, text)
        return JSONResponse(body, status, headers, media_type="application/problem+json")
    return JSONResponse({"error": error, "error_description": text}, status, headers)


class ReverseProxy:
    """Holds the connections to one upstream; opened at first use, closed with the server."""

    def __init__(self, upstream: str) -> None:
        self.upstream = httpx.URL(upstream)
        self.client = client(upstream, timeout=TIMEOUT, limits=LIMITS)

    async def close(self) -> None:
        await self.client.aclose()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        request, body_read = Request(scope, receive), asyncio.Event()
        headers = _filter_headers(scope["headers"], _HOP_BY_HOP | _FORWARDED_HEADERS)
        if request.client:  # for rate limits by address; uvicorn has decided whose forwarded address to trust
            headers.append((b"x-forwarded-for", request.client.host.encode()))
        body = None
        if any(k in (b"content-length", b"transfer-encoding") for k, _ in scope["headers"]):
            body = _stream_body(request, body_read)
        else:
            body_read.set()
        outgoing = httpx.Request(scope["method"], _build_target(self.upstream, scope), headers=headers, content=body)
        # Leaving closes the connection to the tool server, which then notices it too.
        with suppress(ClientDisconnect, ClientDisconnected):
            forwarding = self._forward(outgoing, scope, receive, send)
            await run_while_connected(_wait_until_gone(body_read, receive), forwarding)

    async def _forward(self, outgoing: httpx.Request, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            upstream = await self.client.send(outgoing, stream=True)
        except httpx.LocalProtocolError:  # httptools accepts characters in headers that h11 refuses to send
            text = "A header holds characters that are not allowed."
            await _build_error(scope, 400, "invalid_request", "unreadable", text)(scope, receive, send)
            return
        except httpx.HTTPError as error:
            log.warning("the tool server did not answer: %s", type(error).__name__)
            unavailable = _build_error(scope, 503, "temporarily_unavailable", "temporarily_unavailable", UNREACHABLE)
            unavailable.headers["Retry-After"] = "2"
            await unavailable(scope, receive, send)
            return
        response = StreamingResponse(_relay_body(upstream), upstream.status_code)
        response.raw_headers = [
            (k.lower(), v) for k, v in _filter_headers(upstream.headers.raw, _HOP_BY_HOP | _OWN_HEADERS)
        ]
        await response(scope, receive, send)
