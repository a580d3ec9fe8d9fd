"""Plain ASGI pieces that both servers use: bodies and heads within limits, client disconnects, pages.

Nothing here knows a framework; ASGI 3.0 messages are dictionaries.
"""

import asyncio
import re
from collections.abc import Awaitable, Callable, Coroutine, Mapping, MutableMapping, Sequence
from typing import Any, TypeVar, cast

import anyio

T = TypeVar("T")
Scope = Mapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
Headers = Sequence[tuple[bytes, bytes]]

MAX_HEAD_SECONDS, MAX_HEAD_BYTES, MAX_HEADERS = 15.0, 64 * 1024, 200
MAX_TARGET_BYTES = 8192  # RFC 9110 4.1 asks for at least 8,000
MAX_REST_SECONDS = 5.0  # for the rest of a body that was answered early
MAX_UNREAD_SECONDS, MIN_TAKEN_BYTES_PER_SECOND = 15.0, 1024  # no waiting for a reader slower than 8 kbit/s
_OUTPUT_CHECK_SECONDS = 5.0
LAST_REQUEST_SECONDS = 2.0  # that an ending server still listens to an idle connection
_HEAD_TOO_LARGE = b"HTTP/1.1 431 Request Header Fields Too Large\r\ncontent-length: 0\r\nconnection: close\r\n\r\n"
_TARGET_TOO_LONG = b"HTTP/1.1 414 URI Too Long\r\ncontent-length: 0\r\nconnection: close\r\n\r\n"


class BodyTooLarge(Exception):
    """The body, or the length announced for it, exceeds the limit."""


class BodyIncomplete(Exception):
    """The body did not arrive whole in time: the client is too slow, or has disconnected."""


class ClientDisconnected(Exception):
    """The client disconnected, and its work was cancelled."""


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


def is_browser(scope: Scope) -> bool:
    """Whether a person opens the address: browsers accept text/html; MCP clients, calendars and scripts do not."""
    names = {name for name, _ in scope["headers"]}
    accepted = b",".join(value for name, value in scope["headers"] if name == b"accept")
    return scope["method"] in ("GET", "HEAD") and b"text/html" in accepted and b"authorization" not in names


# Requests of pages (CORS, Fetch standard 3.3). No response allows credentials, so such requests have no cookies:
# a page may only do what its token or key allows. Pages with cookies have none of these headers.

_LOOPBACK_ORIGIN = re.compile(rb"https?://(127\.0\.0\.1|localhost|\[::1\])(:[1-9][0-9]{0,4})?")
ANY_ORIGIN = b"*"  # for responses without personal data, and for the steps of signing in
_SENT_HEADERS = (
    b"authorization, content-type, accept, mcp-protocol-version, mcp-session-id, mcp-method, mcp-name, last-event-id,"
    b" x-api-key, *"  # the rest; the star does not cover authorization
)
_SHOWN_HEADERS = (
    b"www-authenticate, mcp-session-id, mcp-protocol-version, retry-after, ratelimit, ratelimit-policy,"
    b" ratelimit-limit, ratelimit-remaining, ratelimit-reset, etag"
)


def read_origin(headers: Headers) -> bytes | None:
    """The origin of the page that sends the request; None for other programs, which send none."""
    return next((value.strip(b" \t") for name, value in headers if name == b"origin"), None)


def is_preflight(scope: Scope) -> bool:
    return scope["method"] == "OPTIONS" and b"access-control-request-method" in {name for name, _ in scope["headers"]}


def is_page_served(origin: bytes, further: frozenset[bytes]) -> bool:
    """Whether pages of that origin may call: those on loopback addresses, and `further` ones, byte for byte."""
    return origin in further or _LOOPBACK_ORIGIN.fullmatch(origin) is not None


def share_with(origin: bytes) -> Headers:
    """Headers that let a page of that origin read a response."""
    headers = [(b"access-control-allow-origin", origin), (b"access-control-expose-headers", _SHOWN_HEADERS)]
    return headers if origin == ANY_ORIGIN else [*headers, (b"vary", b"Origin")]


async def answer_preflight(send: Send, origin: bytes) -> None:
    """The answer to a browser's preflight, which comes without a token."""
    methods = b"GET, POST, OPTIONS"
    headers = [
        *share_with(origin),
        (b"access-control-allow-methods", methods),
        (b"access-control-allow-headers", _SENT_HEADERS),
        (b"access-control-max-age", b"7200"),
        (b"allow", methods),
    ]
    await send({"type": "http.response.start", "status": 204, "headers": headers})
    await send({"type": "http.response.body", "body": b""})


class UnclearHost(ValueError):
    """The head of a request names several hosts (RFC 9112 3.2)."""


class TooManyHeaders(ValueError):
    """The head has more fields than any client sends."""


class TargetTooLong(ValueError):
    """The path and the query of a request are longer than `MAX_TARGET_BYTES`."""


def check_host(target: bytes, headers: Headers) -> None:
    """Checks for at most one Host, and that an absolute target names the same one. Raises UnclearHost.

    RFC 9112 3.2.2 lets the target win over Host; servers and proxies differ here, so a mismatch is refused.
    """
    hosts = [value.strip(b" \t").lower() for name, value in headers if name.lower() == b"host"]
    _, is_address, rest = target.partition(b"://")
    authority = rest.split(b"/")[0].split(b"?")[0].lower() if is_address and not target.startswith(b"/") else None
    if len(hosts) > 1 or (authority is not None and hosts != [authority]):
        raise UnclearHost


class HeadLimitProtocol(asyncio.Protocol):
    """Mix-in before uvicorn's HTTP protocol: a head that is too large or too slow closes the connection, one that
    has too many fields or names several hosts is answered with 400, one whose target is too long with 414, and an
    unread answer ends the connection.

    uvicorn waits for ever for a head, for the rest of a body after its answer, and for a reader. Bodies are limited by
    `read_body`.
    """

    url: bytes
    headers: list[tuple[bytes, bytes]]
    cycle: Any
    _connection: asyncio.Transport
    _head_timer: asyncio.TimerHandle | None = None
    _output_timer: asyncio.TimerHandle | None = None
    _head_bytes = 0  # of an unfinished head; -1 outside one
    _unread_bytes = 0  # that the client had not read at the last check
    _unread_seconds = 0.0  # since the client read fast enough
    _has_resumed = False  # writing resumed since the last check
    _is_ending = False  # the server is ending: the current or next answer is the last here

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._connection = cast("asyncio.Transport", transport)
        self._start_timer()
        self._output_timer = asyncio.get_running_loop().call_later(_OUTPUT_CHECK_SECONDS, self._check_output)
        super().connection_made(transport)

    def _start_timer(self, seconds: float | None = None) -> None:
        delay = MAX_HEAD_SECONDS if seconds is None else seconds
        self._head_timer = asyncio.get_running_loop().call_later(delay, self._connection.close)

    def _stop_timer(self) -> None:
        if self._head_timer is not None:
            self._head_timer.cancel()
            self._head_timer = None

    def _check_output(self) -> None:
        """Ends a connection whose reader is too slow for too long; a closing one would wait for it too."""
        before, self._unread_bytes = self._unread_bytes, self._connection.get_write_buffer_size()
        taken = self._has_resumed or before - self._unread_bytes >= MIN_TAKEN_BYTES_PER_SECOND * _OUTPUT_CHECK_SECONDS
        self._has_resumed = False
        is_waiting = before and self._unread_bytes and not taken
        self._unread_seconds = self._unread_seconds + _OUTPUT_CHECK_SECONDS if is_waiting else 0
        if self._unread_seconds >= MAX_UNREAD_SECONDS:
            self._connection.abort()
        else:
            self._output_timer = asyncio.get_running_loop().call_later(_OUTPUT_CHECK_SECONDS, self._check_output)

    def resume_writing(self) -> None:
        self._has_resumed = True
        super().resume_writing()

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

    def on_url(self, url: bytes) -> None:
        super().on_url(url)  # type: ignore[misc]
        if len(self.url) > MAX_TARGET_BYTES:
            self._connection.write(_TARGET_TOO_LONG)
            self._connection.close()
            raise TargetTooLong

    def on_header(self, name: bytes, value: bytes) -> None:
        """Refuses at the first field too many: the parser would call this for each of the rest."""
        if len(self.headers) >= MAX_HEADERS:
            raise TooManyHeaders  # uvicorn answers an error in here with 400
        super().on_header(name, value)  # type: ignore[misc]

    def on_headers_complete(self) -> None:
        self._head_bytes = -1
        self._stop_timer()
        check_host(self.url, self.headers)
        super().on_headers_complete()  # type: ignore[misc]
        if self._is_ending:
            self.cycle.keep_alive = False

    def on_response_complete(self) -> None:
        """From here the next head is awaited: other data, such as the rest of a body, gains no time."""
        super().on_response_complete()  # type: ignore[misc]
        if self.cycle.response_complete and self._head_timer is None:
            self._start_timer(MAX_REST_SECONDS if self.cycle.more_body else None)

    def shutdown(self) -> None:
        """Ends it with the server. An idle connection is closed a moment later, or after answering a last request.

        Closed at once, it would lose a request already on its way (RFC 9112 9.6 has the server tell the client
        by `Connection: close`).
        """
        self._is_ending = True
        if self.cycle is None or self.cycle.response_complete:
            self._stop_timer()
            self._start_timer(LAST_REQUEST_SECONDS)
        else:
            self.cycle.keep_alive = False

    def connection_lost(self, exc: Exception | None) -> None:
        self._stop_timer()
        if self._output_timer is not None:
            self._output_timer.cancel()
        super().connection_lost(exc)
