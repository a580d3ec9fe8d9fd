"""Plain ASGI pieces that both servers use: bodies and heads within limits, client disconnects, security headers.

Nothing here knows a framework; ASGI 3.0 messages are dictionaries.
"""

import asyncio
from collections.abc import Awaitable, Callable, Coroutine, Mapping, MutableMapping, Sequence
from typing import Any, TypeVar, cast

import anyio

T = TypeVar("T")
Scope = Mapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
Headers = Sequence[tuple[bytes, bytes]]

MAX_HEAD_SECONDS, MAX_HEAD_BYTES = 15.0, 64 * 1024
_HEAD_TOO_LARGE = b"HTTP/1.1 431 Request Header Fields Too Large\r\ncontent-length: 0\r\nconnection: close\r\n\r\n"


class BodyTooLarge(Exception):
    """The body, or the length announced for it, exceeds the limit."""


class BodyIncomplete(Exception):
    """The body did not arrive whole in time: the client is too slow, or has disconnected."""


class ClientDisconnected(Exception):
    """The client went away, and the work under way for it was cancelled."""


async def read_body(scope: Scope, receive: Receive, *, max_bytes: int, max_seconds: float) -> bytes:
    """The whole request body. Raises BodyTooLarge or BodyIncomplete."""
    announced = dict(scope["headers"]).get(b"content-length", b"0")
    if not announced.isdigit() or len(announced) > 12 or int(announced) > max_bytes:
        raise BodyTooLarge
    body = bytearray()
    try:
        async with asyncio.timeout(max_seconds):
            while True:
                message = await receive()
                if message["type"] == "http.disconnect":
                    raise BodyIncomplete
                body += message.get("body", b"")
                if len(body) > max_bytes:
                    raise BodyTooLarge
                if not message.get("more_body", False):
                    return bytes(body)
    except TimeoutError:
        raise BodyIncomplete from None


async def wait_for_disconnect(receive: Receive) -> None:
    """Returns once the client has disconnected; its body must have been read before."""
    while (await receive())["type"] != "http.disconnect":
        pass


async def run_while_connected(disconnect: Coroutine[Any, Any, None], work: Awaitable[T]) -> T:
    """The result of `work`. When `disconnect` returns first, `work` is cancelled and ClientDisconnected raised."""
    watch = asyncio.ensure_future(disconnect)
    with anyio.CancelScope() as scope:
        watch.add_done_callback(lambda done: None if done.cancelled() else scope.cancel())
        try:
            return await work
        finally:
            watch.cancel()
    raise ClientDisconnected


def security_headers(*, https: bool) -> Headers:
    """Headers of every response: no guessing of media types and, over https, HSTS (RFC 6797)."""
    headers = [(b"x-content-type-options", b"nosniff")]
    if https:
        headers.append((b"strict-transport-security", b"max-age=31536000; includeSubDomains"))
    return headers


def add_headers(send: Send, headers: Headers) -> Send:
    """A `send` that adds `headers` to the response."""

    async def send_with_headers(message: Message) -> None:
        if message["type"] == "http.response.start":
            message["headers"] = [*message["headers"], *headers]
        await send(message)

    return send_with_headers


class HeadLimitProtocol(asyncio.Protocol):
    """Mix-in before uvicorn's HTTP protocol: a request head that is too large or too slow closes the connection.

    uvicorn waits for a head for ever. Bodies are limited by `read_body`.
    """

    _connection: asyncio.Transport
    _head_timer: asyncio.TimerHandle | None = None
    _head_bytes = 0  # of a head that has not ended; -1 while there is none

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._connection = cast("asyncio.Transport", transport)
        self._start_timer()
        super().connection_made(transport)

    def _start_timer(self) -> None:
        self._head_timer = asyncio.get_running_loop().call_later(MAX_HEAD_SECONDS, self._connection.close)

    def _stop_timer(self) -> None:
        if self._head_timer is not None:
            self._head_timer.cancel()
            self._head_timer = None

    def data_received(self, data: bytes) -> None:
        if self._head_bytes >= 0:
            self._head_bytes += len(data)
        super().data_received(data)
        if self._head_bytes > MAX_HEAD_BYTES:
            self._connection.write(_HEAD_TOO_LARGE)
            self._connection.close()
        elif self._head_bytes >= 0 and self._head_timer is None:
            self._start_timer()

    def on_message_begin(self) -> None:
        self._head_bytes = 0
        super().on_message_begin()  # type: ignore[misc]

    def on_headers_complete(self) -> None:
        self._head_bytes = -1
        self._stop_timer()
        super().on_headers_complete()  # type: ignore[misc]

    def connection_lost(self, exc: Exception | None) -> None:
        self._stop_timer()
        super().connection_lost(exc)
