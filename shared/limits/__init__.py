"""Rate limits: counters per key and fixed window in Redis, with a bounded memory of them for while Redis is down.

Work that takes the processor long has separate places (`heavy_work`); `concurrency` bounds parallel calls.
"""

import ipaddress
import threading
from collections import OrderedDict
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

from shared import clock
from shared.redis import call_redis, connect, key
from shared.settings import SettingsError, settings

_MAX_MEMORY_KEYS = 10_000


class _Counted(NamedTuple):
    """This process's count for a key in a window of time, and the part not yet sent to Redis."""

    window: int
    total: int = 0
    unheard: int = 0


_memory: OrderedDict[str, _Counted] = OrderedDict()
_lock = threading.Lock()


@dataclass(frozen=True)
class Verdict:
    allowed: bool
    count: int
    retry_after: int  # seconds until the window ends


def hit(name: str, limit: int, window: int) -> Verdict:
    """Counts one on `name` in the current window of `window` seconds."""
    count, seconds_left = _count(name, window, 1)
    return Verdict(count <= limit, count, seconds_left)


def peek(name: str, limit: int, window: int) -> Verdict:
    """Whether one more would be allowed; counts nothing."""
    count, seconds_left = _count(name, window, 0)
    return Verdict(count < limit, count, seconds_left)


def count_more(name: str, amount: int, window: int) -> None:
    """Counts several at once, for past events."""
    _count(name, window, amount)


def take_back(name: str, window: int) -> None:
    """Takes back one that was counted. If its window has ended by then, the next one allows one more."""
    _count(name, window, -1)


def _count(name: str, window: int, amount: int) -> tuple[int, int]:
    moment = int(clock.now().timestamp())
    number, seconds_left = moment // window, window - moment % window
    with _lock:
        unheard = _recall(name, number).unheard
    count = call_redis(partial(_count_in_redis, key("limit", name, str(number)), window, amount + unheard))
    return _remember(name, number, amount, unheard, count), seconds_left


def _count_in_redis(redis_key: str, window: int, amount: int) -> int:
    if amount == 0:  # reading makes no key: names come from strangers
        return int(connect().get(redis_key) or 0)
    pipe = connect().pipeline(transaction=False)
    pipe.incrby(redis_key, amount)
    pipe.expire(redis_key, window + 60)
    return int(pipe.execute()[0])


def _recall(name: str, number: int) -> _Counted:
    counted = _memory.get(name)
    return counted if counted is not None and counted.window == number else _Counted(number)


def _remember(name: str, number: int, amount: int, told: int, count: int | None) -> int:
    """The count. One lost answer of Redis would else begin it again, and what was counted in the meantime would be
    forgotten.

    The keys that were counted longest ago are dropped first.
    """
    with _lock:
        counted = _recall(name, number)
        if count is None:
            new = _Counted(number, counted.total + amount, counted.unheard + amount)
        else:
            new = _Counted(number, count, counted.unheard - told)
        _memory[name] = new
        _memory.move_to_end(name)
        while len(_memory) > _MAX_MEMORY_KEYS:
            _memory.popitem(last=False)
    return new.total


def address_key(peer: str) -> str:
    """One household per counter: the IPv4 address, or the /64 network of an IPv6 one."""
    try:
        ip = ipaddress.ip_address(peer)
    except ValueError:
        return "unknown"
    if isinstance(ip, ipaddress.IPv6Address) and ip.ipv4_mapped is None:
        return str(ipaddress.ip_network((ip, 64), strict=False).network_address)
    return str(getattr(ip, "ipv4_mapped", None) or ip)


def parse_trusted_ranges() -> list[ipaddress.IPv4Network | ipaddress.IPv6Network]:
    """The networks of well-known hosts, which act for many people; raises SettingsError when unreadable."""
    ranges = [r.strip() for r in settings().dcr_trusted_ranges.split(",") if r.strip()]
    try:
        return [ipaddress.ip_network(r, strict=False) for r in ranges]
    except ValueError:
        raise SettingsError("DCR_TRUSTED_RANGES: must be a comma list of networks such as 160.79.104.0/21") from None


def choose_limit(peer: str, usual: int, trusted: int) -> int | None:
    """The limit of an address: higher for trusted networks, none (None) for this machine itself."""
    try:
        ip = ipaddress.ip_address(peer)
    except ValueError:
        return usual
    ip = getattr(ip, "ipv4_mapped", None) or ip
    if ip.is_loopback:
        return None
    return trusted if any(ip in network for network in parse_trusted_ranges()) else usual
