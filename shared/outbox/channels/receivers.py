"""Receivers that people name: which addresses messages may be sent to, and one guarded POST."""

import ipaddress
import socket
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from concurrent.futures import TimeoutError as FutureTimeout
from contextlib import suppress
from dataclasses import dataclass
from urllib.parse import urlsplit

import anyio
import httpx

from shared.http import AddressRefused, Refused, is_public, post_to_stranger
from shared.outbox.channels import Begin, NotSent
from shared.settings import settings

_LOOK_UP_SECONDS = 3.0
_MAYBE = (502, 504)  # a gateway that lost the answer: the message may have been taken
_GONE = (401, 403, 404, 410)  # whatever is there does not take messages, or not with this key


@dataclass(frozen=True)
class Post:
    """One request to a receiver."""

    url: str
    content: bytes
    headers: Mapping[str, str]


def is_ready() -> bool:
    """Whether messages may go out: invented data reaches no phone unless the operator allows it."""
    s = settings()
    return s.data_mode == "live" or s.sandbox_allow_messages


def is_allowed(address: str) -> bool:
    """Whether messages may be sent to this IP address: a public one, or one in a network the operator opened."""
    return is_public(address) or _is_in_open_network(address)


def _is_in_open_network(address: str) -> bool:
    with suppress(ValueError):
        ip = ipaddress.ip_address(address)
        names = (name.strip() for name in settings().channel_networks.split(","))
        return any(ip in ipaddress.ip_network(name, strict=False) for name in names if name)
    return False


def check_receiver(url: str) -> None:
    """Raises Refused, with a sentence for anyone who entered the address. Asks the name service."""
    _check_encryption(url)
    host = urlsplit(url).hostname or ""
    pool = ThreadPoolExecutor(1)
    try:
        addresses = pool.submit(_look_up, host).result(_LOOK_UP_SECONDS)
    except (OSError, UnicodeError, FutureTimeout):
        raise Refused(f"{host} was not found. Please check the address.") from None
    finally:
        pool.shutdown(wait=False)  # the name service may take longer than the person waits
    if not addresses or not all(map(is_allowed, addresses)):
        raise Refused(f"{host} is in a private network, which this service does not send to.")


def _check_encryption(url: str) -> None:
    parts = urlsplit(url)
    if parts.scheme != "https" and not _is_in_open_network(parts.hostname or ""):
        raise Refused("The address must begin with https://.")


def _look_up(host: str) -> list[str]:
    with suppress(ValueError):
        return [str(ipaddress.ip_address(host))]
    return [str(entry[4][0]) for entry in socket.getaddrinfo(host, None, type=socket.SOCK_STREAM)]


def send_post(post: Post, begin: Begin) -> None:
    """Sends it. Raises NotSent when it surely was not accepted; another error after `begin` leaves that unknown."""
    if not is_ready():
        raise NotSent("messages to people's channels are not allowed here", permanent=True)
    try:
        _check_encryption(post.url)
        status = anyio.run(_send, post, begin, backend_options={"use_uvloop": True})
    except Refused:
        raise NotSent("its address is not encrypted", permanent=True) from None
    except (httpx.ConnectError, httpx.ConnectTimeout, httpx.PoolTimeout) as error:
        if isinstance(error.__cause__, AddressRefused):
            raise NotSent("its address is in a private network", permanent=True) from None
        raise NotSent(f"it could not be reached ({type(error).__name__})") from None
    if not 200 <= status < 300:
        raise _build_refusal(status)


async def _send(post: Post, begin: Begin) -> int:
    return await post_to_stranger(post.url, post.content, post.headers, begin=begin, allow=is_allowed)


def _build_refusal(status: int) -> Exception:
    """Reports only the status: the text of an answer may say anything."""
    if status in _MAYBE:
        return ConnectionError(f"it answered {status}")
    if 300 <= status < 400:
        return NotSent(f"it answered {status}, a redirect, which is not followed", permanent=True)
    is_final = 400 <= status < 500 and status not in (408, 425, 429)
    return NotSent(f"it answered {status}", permanent=is_final, unwanted=status in _GONE)
