"""Outgoing HTTP: the only factory of httpx clients, with timeouts, size caps, no redirects and safe addresses."""

import ipaddress
import logging
import socket
import ssl
import zlib
from collections.abc import AsyncIterator, Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

import anyio
import httpcore
import httpx

from shared.settings import VERSION
from shared.tls import build_context

USER_AGENT = f"award-travel/{VERSION}"
_HEADERS = {"User-Agent": USER_AGENT, "Accept-Encoding": "gzip"}
TIMEOUT = httpx.Timeout(15, connect=5)
MAX_BYTES = 8 * 1024 * 1024
MOST_OVERHEAD_BYTES = 65_536  # of a packed body over what it holds
RETRY_STATUSES = (502, 503, 504)
AsyncClient = httpx.AsyncClient  # for annotations: everybody else gets clients from here
OPENING_BYTES = 2000
OPENING_SECONDS = 1.0
STRANGER_SECONDS = 5.0  # for a message to an address a person named: one slow receiver keeps no worker busy
# At INFO and DEBUG these two log whole URLs, with API keys in their queries.
for _name in ("httpx", "httpcore"):
    logging.getLogger(_name).setLevel(logging.WARNING)


class Refused(Exception):
    """An address or a response this service does not accept; the text is ours."""


def check_url(url: str) -> str:
    """Raises Refused for an address that is neither https nor loopback."""
    parts = urlsplit(url)
    if parts.scheme == "https" or (parts.scheme == "http" and parts.hostname in ("127.0.0.1", "localhost", "::1")):
        return url
    raise Refused(f"{url} is neither https nor loopback")


def _ssl_context() -> ssl.SSLContext:
    return build_context("http")


def client(
    base_url: str = "", *, timeout: httpx.Timeout = TIMEOUT, headers: Mapping[str, str] | None = None, **more: Any
) -> httpx.AsyncClient:
    return httpx.AsyncClient(
        base_url=check_url(base_url) if base_url else "",
        timeout=timeout,
        follow_redirects=False,
        trust_env=False,
        headers={**_HEADERS, **(headers or {})},
        verify=_ssl_context(),
        **more,
    )


def sync_client(base_url: str = "", *, timeout: httpx.Timeout = TIMEOUT, **more: Any) -> httpx.Client:
    return httpx.Client(
        base_url=check_url(base_url) if base_url else "",
        timeout=timeout,
        follow_redirects=False,
        trust_env=False,
        headers=_HEADERS,
        verify=_ssl_context(),
        **more,
    )


async def read_capped(response: httpx.Response, limit: int = MAX_BYTES) -> bytes:
    """The body of a streamed response, refused once it exceeds `limit` bytes."""
    body = b"".join([chunk async for chunk in _unpack(response, limit + 1)])
    if len(body) > limit:
        raise Refused("the answer is too large")
    return body


async def _unpack(response: httpx.Response, most: int) -> AsyncIterator[bytes]:
    """The first `most` bytes of a body, sent as it is or as gzip; any other coding is an error of decoding.

    httpx unpacks a whole chunk at once, layer by layer: 657 bytes packed twice became 300 MB before they were counted.
    """
    coding = response.headers.get("content-encoding", "identity").strip().lower()
    if coding not in ("identity", "gzip", "x-gzip"):
        raise httpx.DecodingError("compressed in another way than was asked for", request=response.request)
    unpacker = None if coding == "identity" else zlib.decompressobj(16 + zlib.MAX_WBITS)
    allowance = most + MOST_OVERHEAD_BYTES  # to be sent: an archive can go on for ever and unpack to nothing
    assert isinstance(response.stream, httpx.AsyncByteStream)
    async for chunk in response.stream:
        try:
            part = chunk[:most] if unpacker is None else unpacker.decompress(chunk, most)
        except zlib.error as error:
            raise httpx.DecodingError(str(error), request=response.request) from None
        yield part
        most, allowance = most - len(part), allowance - len(chunk)
        if most <= 0 or (unpacker is not None and unpacker.eof):  # zlib takes 0 for no limit
            return
        if allowance < 0:
            raise httpx.DecodingError("more was sent than it unpacks to", request=response.request)


async def get(client: httpx.AsyncClient, url: str, *, limit: int = MAX_BYTES, **more: Any) -> bytes:
    """The body of a good response; tried a second time after a gateway error or a failed connection.

    Anything but a 2xx raises: redirects are not followed, and an error page is never read as data. The error's
    response keeps the opening of its body in `extensions["said"]`, for adapters that distinguish refusals by it.
    """
    for last in (False, True):
        try:
            async with client.stream("GET", url, **more) as response:
                if response.status_code not in RETRY_STATUSES or last:
                    return await _read_good_body(response, limit)
        except httpx.ConnectError:
            if last:
                raise
    raise AssertionError("unreachable")


async def post(client: httpx.AsyncClient, url: str, *, limit: int = MAX_BYTES, **more: Any) -> bytes:
    """The same for a POST, which is not retried."""
    async with client.stream("POST", url, **more) as response:
        return await _read_good_body(response, limit)


@dataclass(frozen=True)
class Revalidation:
    """The answer to a conditional GET; `body` is None where nothing changed since the tag."""

    body: bytes | None
    etag: str | None


async def get_if_changed(
    client: httpx.AsyncClient, url: str, etag: str | None, *, limit: int = MAX_BYTES
) -> Revalidation:
    """The body unless it is still what the tag names (RFC 9110 13.1.2). Anything but a 2xx or 304 raises."""
    headers = {"If-None-Match": etag} if etag else {}
    async with client.stream("GET", check_url(url), headers=headers) as response:
        if response.status_code == httpx.codes.NOT_MODIFIED and etag:
            return Revalidation(None, etag)
        return Revalidation(await _read_good_body(response, limit), response.headers.get("etag"))


async def _read_good_body(response: httpx.Response, limit: int) -> bytes:
    if not response.is_success:
        response.extensions["said"] = await _read_opening(response)
        response.raise_for_status()
    return await read_capped(response, limit)


async def _read_opening(response: httpx.Response) -> bytes:
    """The first bytes of an error page, within a second: a hostile server may send it slowly for ever."""
    opening = b""
    with suppress(httpx.HTTPError), anyio.move_on_after(OPENING_SECONDS):
        async for chunk in _unpack(response, OPENING_BYTES):
            opening += chunk
    return opening


_GLOBAL_UNICAST = ipaddress.ip_network("2000::/3")  # all that IANA gives out; ::/96, fec0::/10 and others are outside
_NAT64 = ipaddress.ip_network("64:ff9b::/96")
# Not globally reachable by IANA's registries of special purposes, or tunnels to an IPv4 address inside, and yet counted
# as global by a Python that we run on.
_SPECIAL_BLOCKS = ("192.0.0.0/24", "192.88.99.0/24", "2001::/23", "2001:db8::/32", "2002::/16", "3fff::/20")
_SPECIAL = [ipaddress.ip_network(block) for block in _SPECIAL_BLOCKS]


def is_public(address: str) -> bool:
    """Whether an address is globally routable unicast; one that sockets or NAT64 unwrap counts as the inner one."""
    ip = ipaddress.ip_address(address)
    if isinstance(ip, ipaddress.IPv6Address):
        inner = ip.ipv4_mapped or (ipaddress.IPv4Address(int(ip) & 0xFFFFFFFF) if ip in _NAT64 else None)
        if inner is not None:
            return is_public(str(inner))
        if ip not in _GLOBAL_UNICAST:
            return False
    return ip.is_global and not ip.is_multicast and not any(ip in block for block in _SPECIAL)


class AddressRefused(httpcore.ConnectError):
    """The name leads to an address that strangers may not send us to."""


class _CheckedAddresses(httpcore.AsyncNetworkBackend):
    """Resolves once, refuses any answer that is not public, and connects to the address it checked."""

    def __init__(self, allow: Callable[[str], bool]) -> None:
        self._inner = httpcore.AnyIOBackend()
        self._allow = allow

    async def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[Any] | None = None,
    ) -> httpcore.AsyncNetworkStream:
        addresses = [str(i[4][0]) for i in await anyio.getaddrinfo(host, port, type=socket.SOCK_STREAM)]
        if not addresses or not all(self._allow(a) for a in addresses):
            raise AddressRefused("address not allowed")
        return await self._inner.connect_tcp(addresses[0], port, timeout, local_address, socket_options)

    async def connect_unix_socket(self, *args: Any, **more: Any) -> httpcore.AsyncNetworkStream:  # noqa: ARG002
        raise httpcore.ConnectError("not allowed")

    async def sleep(self, seconds: float) -> None:
        await anyio.sleep(seconds)


def public_client(
    *, timeout: httpx.Timeout | None = None, allow: Callable[[str], bool] = is_public
) -> httpx.AsyncClient:
    """A client for addresses strangers name (client documents, logos): never reaches into our own network."""
    context = _ssl_context()
    transport = httpx.AsyncHTTPTransport(verify=context, http2=False, trust_env=False, retries=0)
    transport._pool = httpcore.AsyncConnectionPool(
        ssl_context=context,
        network_backend=_CheckedAddresses(allow),
        max_connections=4,
        max_keepalive_connections=0,
    )
    return httpx.AsyncClient(
        transport=transport,
        follow_redirects=False,
        trust_env=False,
        timeout=timeout or httpx.Timeout(4, connect=2),
        headers=_HEADERS,
    )


async def post_to_stranger(
    url: str, content: bytes, headers: Mapping[str, str], *, begin: Callable[[], None], allow: Callable[[str], bool]
) -> int:
    """The status of the answer to one POST; its body is not read, and a redirect is not followed.

    `begin` is called once connected, when the first byte is about to go out. All of it ends after
    STRANGER_SECONDS with TimeoutError, however slowly the name service or the stranger answers. Raises httpx's errors;
    the cause of a ConnectError is AddressRefused where an address is not allowed.
    """

    async def watch(step: str, _about: Any) -> None:
        if step == "http11.send_request_headers.started":
            begin()

    with anyio.fail_after(STRANGER_SECONDS):
        async with (
            public_client(allow=allow) as wire,
            wire.stream("POST", url, content=content, headers=headers, extensions={"trace": watch}) as answer,
        ):
            return answer.status_code
