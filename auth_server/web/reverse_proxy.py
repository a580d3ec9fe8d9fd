"""The local stand-in for a proxy: a request for the tool server goes through, its answer comes back as it is."""

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
_HOP = {
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
_OURS = {"date"}  # this server writes one itself
# The tool server believes these from its proxies, and this program cannot vouch for what a caller wrote into them.
_CLAIMS = {"forwarded", "x-forwarded-for", "x-forwarded-host", "x-forwarded-proto", "x-forwarded-port", "x-real-ip"}
AWAY = "The tool server does not answer."
Headers = list[tuple[bytes, bytes]]


def _kept(headers: Headers, dropped: set[str]) -> Headers:
    named = {
        n.strip().lower() for k, v in headers if k.lower() == b"connection" for n in v.decode("latin-1").split(",")
    }
    # Blanks around a value are no part of it; one server library leaves them there, another refuses to send them.
    return [(k, v.strip(b" \t")) for k, v in headers if k.decode("latin-1").lower() not in dropped | named]


def _target(upstream: httpx.URL, scope: Scope) -> httpx.URL:
    raw: bytes = scope.get("raw_path") or scope["path"].encode()
    query: bytes = scope["query_string"]
    return upstream.copy_with(raw_path=raw + b"?" + query if query else raw)


async def _body(request: Request, read: asyncio.Event) -> AsyncIterator[bytes]:
    async for chunk in request.stream():
        if chunk:
            yield chunk
    read.set()


async def _gone(read: asyncio.Event, receive: Receive) -> None:
    """Waits until the caller goes. Before the body was read, whoever reads it notices."""
    await read.wait()
    await wait_for_disconnect(receive)


async def _relay(answer: httpx.Response) -> AsyncIterator[bytes]:
    try:
        async for chunk in answer.aiter_raw():
            yield chunk
    finally:
        await answer.aclose()


def _refusal(scope: Scope, status: int, error: str, word: str, words: str) -> JSONResponse:
    """In the form the callers of the path expect: a problem document over REST, else OAuth's."""
    headers = {"Cache-Control": "no-store"}
    if scope["path"].startswith("/api/"):
        about = problem(settings().web_url, word, words)
        return JSONResponse(about, status, headers, media_type="application/problem+json")
    return JSONResponse({"error": error, "error_description": words}, status, headers)


class Passthrough:
    """Holds the connections to one upstream; opened at first use, closed with the server."""

    def __init__(self, upstream: str) -> None:
        self.upstream = httpx.URL(upstream)
        self.client = client(upstream, timeout=TIMEOUT, limits=LIMITS)

    async def close(self) -> None:
        await self.client.aclose()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        request, read = Request(scope, receive), asyncio.Event()
        headers = _kept(scope["headers"], _HOP | _CLAIMS)
        if request.client:  # for the limits by address; whom to believe about it was decided on the way in here
            headers.append((b"x-forwarded-for", request.client.host.encode()))
        body = None
        if any(k in (b"content-length", b"transfer-encoding") for k, _ in scope["headers"]):
            body = _body(request, read)
        else:
            read.set()
        outgoing = httpx.Request(scope["method"], _target(self.upstream, scope), headers=headers, content=body)
        with suppress(
            ClientDisconnect, ClientDisconnected
        ):  # the tool server's connection is closed then, so it hears of it too
            await run_while_connected(_gone(read, receive), self._relayed(outgoing, scope, receive, send))

    async def _relayed(self, outgoing: httpx.Request, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            answer = await self.client.send(outgoing, stream=True)
        except httpx.LocalProtocolError:  # this side takes more of a header than may be sent on
            words = "A header holds characters that are not allowed."
            await _refusal(scope, 400, "invalid_request", "unreadable", words)(scope, receive, send)
            return
        except httpx.HTTPError as error:
            log.warning("the tool server did not answer: %s", type(error).__name__)
            away = _refusal(scope, 503, "temporarily_unavailable", "temporarily_unavailable", AWAY)
            away.headers["Retry-After"] = "2"
            await away(scope, receive, send)
            return
        response = StreamingResponse(_relay(answer), answer.status_code)
        response.raw_headers = [(k.lower(), v) for k, v in _kept(answer.headers.raw, _HOP | _OURS)]
        await response(scope, receive, send)
