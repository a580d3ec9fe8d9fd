"""Counters per key and window in Redis, with a bounded memory fallback: a key goes in, a verdict comes out.

And the limits of what is read before anything can be counted: the head of a request.
"""

import asyncio
import ipaddress
from collections import OrderedDict
from dataclasses import dataclass
from functools import partial
from typing import cast

from shared import clock
from shared.redis import asked, connect, key

_MEMORY: "OrderedDict[str, tuple[int, int]]" = OrderedDict()
_MEMORY_SIZE = 10_000
HEAD_SECONDS, HEAD_BYTES = 15.0, 64 * 1024
_TOO_LONG = b"HTTP/1.1 431 Request Header Fields Too Large\r\ncontent-length: 0\r\nconnection: close\r\n\r\n"


@dataclass(frozen=True)
class Verdict:
    allowed: bool
    count: int
    retry_after: int


def _slot(window: int) -> tuple[int, int]:
    moment = int(clock.now().timestamp())
    return moment // window, window - moment % window


def _remembered(name: str, slot: int, amount: int) -> int:
    """The fallback while Redis is away: per process, oldest keys dropped first."""
    known, count = _MEMORY.pop(name, (slot, 0))
    count = (count if known == slot else 0) + amount
    _MEMORY[name] = (slot, count)
    while len(_MEMORY) > _MEMORY_SIZE:
        _MEMORY.popitem(last=False)
    return count


def _counted(where: str, window: int, amount: int) -> int:
    pipe = connect().pipeline(transaction=False)
    pipe.incrby(where, amount)
    pipe.expire(where, window + 60)
    return int(pipe.execute()[0])


def hit(name: str, limit: int, window: int, amount: int = 1) -> Verdict:
    """Counts `amount` on `name` in the current window of `window` seconds; amount 0 only looks."""
    slot, left = _slot(window)
    count = asked(partial(_counted, key("limit", name, str(slot)), window, amount))
    if count is None:
        count = _remembered(name, slot, amount)
    return Verdict(count <= limit if amount else count < limit, count, left)


def address_key(peer: str) -> str:
    """One household per counter: the IPv4 address, or the /64 network of an IPv6 one."""
    try:
        ip = ipaddress.ip_address(peer)
    except ValueError:
        return "unknown"
    if isinstance(ip, ipaddress.IPv6Address) and ip.ipv4_mapped is None:
        return str(ipaddress.ip_network((ip, 64), strict=False).network_address)
    return str(getattr(ip, "ipv4_mapped", None) or ip)


class LimitedHead(asyncio.Protocol):
    """Before a server's own protocol: a request's line and headers come to an end in time and size, or the line closes.

    Bodies are read by those who know how large they may be.
    """

    _line: asyncio.Transport
    _patience: asyncio.TimerHandle | None = None
    _head = 0  # bytes of a head that has not ended; -1 while there is none

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._line = cast("asyncio.Transport", transport)
        self._wait()
        super().connection_made(transport)

    def _wait(self) -> None:
        self._patience = asyncio.get_running_loop().call_later(HEAD_SECONDS, self._line.close)

    def _rest(self) -> None:
        if self._patience is not None:
            self._patience.cancel()
            self._patience = None

    def data_received(self, data: bytes) -> None:
        if self._head >= 0:
            self._head += len(data)
        super().data_received(data)
        if self._head > HEAD_BYTES:
            self._line.write(_TOO_LONG)
            self._line.close()
        elif self._head >= 0 and self._patience is None:
            self._wait()

    def on_message_begin(self) -> None:
        self._head = 0
        super().on_message_begin()  # type: ignore[misc]

    def on_headers_complete(self) -> None:
        self._head = -1
        self._rest()
        super().on_headers_complete()  # type: ignore[misc]

    def connection_lost(self, exc: Exception | None) -> None:
        self._rest()
        super().connection_lost(exc)
