"""Counters per key and window in Redis, with a bounded memory fallback: a key goes in, a verdict comes out."""

import ipaddress
from collections import OrderedDict
from dataclasses import dataclass
from functools import partial

from shared import clock
from shared.redis import asked, connect, key

_MEMORY: "OrderedDict[str, tuple[int, int]]" = OrderedDict()
_MEMORY_SIZE = 10_000


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
