"""The local stand-in for a proxy: a request for the tool server goes through, its answer comes back as it is."""

import logging
from collections.abc import AsyncIterator

import httpx
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, StreamingResponse
from starlette.types import Receive, Scope, Send

from shared.http import client

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
# The tool server believes these from its proxies, and this program cannot vouch for what a caller wrote into them.
_CLAIMS = {"forwarded", "x-forwarded-for", "x-forwarded-host", "x-forwarded-proto", "x-forwarded-port", "x-real-ip"}
Headers = list[tuple[bytes, bytes]]


def _kept(headers: Headers, dropped: set[str]) -> Headers:
    named = {
        n.strip().lower() for k, v in headers if k.lower() == b"connection" for n in v.decode("latin-1").split(",")
    }
    return [(k, v) for k, v in headers if k.decode("latin-1").lower() not in dropped | named]


def _target(upstream: httpx.URL, scope: Scope) -> httpx.URL:
    raw: bytes = scope.get("raw_path") or scope["path"].encode()
    query: bytes = scope["query_string"]
    return upstream.copy_with(raw_path=raw + b"?" + query if query else raw)


async def _body(request: Request) -> AsyncIterator[bytes]:
    async for chunk in request.stream():
        if chunk:
            yield chunk


async def _relay(answer: httpx.Response) -> AsyncIterator[bytes]:
    try:
        async for chunk in answer.aiter_raw():
            yield chunk
    finally:
        await answer.aclose()


class Passthrough:
    """Holds the connections to one upstream; opened at first use, closed with the server."""

    def __init__(self, upstream: str) -> None:
        self.upstream = httpx.URL(upstream)
        self.client = client(upstream, timeout=TIMEOUT, limits=LIMITS)

    async def close(self) -> None:
        await self.client.aclose()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        request = Request(scope, receive)
        headers = _kept(scope["headers"], _HOP | _CLAIMS)
        if request.client:  # for the limits by address; whom to believe about it was decided on the way in here
            headers.append((b"x-forwarded-for", request.client.host.encode()))
        has_body = any(k in (b"content-length", b"transfer-encoding") for k, _ in scope["headers"])
        body = _body(request) if has_body else None
        outgoing = httpx.Request(scope["method"], _target(self.upstream, scope), headers=headers, content=body)
        try:
            answer = await self.client.send(outgoing, stream=True)
        except ClientDisconnect:
            return
        except httpx.HTTPError as error:
            log.warning("the tool server did not answer: %s", type(error).__name__)
            away = {"error": "temporarily_unavailable", "error_description": "The tool server does not answer."}
            await JSONResponse(away, 503, {"Retry-After": "2", "Cache-Control": "no-store"})(scope, receive, send)
            return
        response = StreamingResponse(_relay(answer), answer.status_code)
        response.raw_headers = [(k.lower(), v) for k, v in _kept(answer.headers.raw, _HOP)]
        await response(scope, receive, send)
