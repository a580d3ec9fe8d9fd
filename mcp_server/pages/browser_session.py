"""A browser's request comes in, who is signed in with it comes out: asked at the auth server behind the same host."""

from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

import httpx
from starlette.requests import Request

from shared.http import client
from shared.secrets import digest
from shared.settings import settings

TIMEOUT = httpx.Timeout(3, connect=1)


class Away(Exception):
    """Nobody can say right now who it is."""


@dataclass(frozen=True)
class Browser:
    public_id: str
    session: str  # a digest of the cookie


def _cookie(request: Request) -> str:
    """As the web host names it."""
    return request.cookies.get("__Host-award" if settings().secure else "award", "")


async def browser(request: Request) -> Browser | None:
    """None when nobody is signed in. Raises Away."""
    cookie = _cookie(request)
    if not cookie or len(cookie) > 128:
        return None
    told = await _ask(cookie)
    if told.get("active") is not True or not isinstance(told.get("sub"), str):
        return None
    return Browser(told["sub"], digest(cookie))


async def _ask(cookie: str) -> dict[str, Any]:
    address = (settings().auth_internal_url or settings().web_url) + "/internal/session"
    login = (settings().service_client_id, settings().service_client_secret.get_secret_value())
    host = {"Host": urlsplit(settings().web_url).netloc}
    try:
        async with client(timeout=TIMEOUT) as wire:
            answer = await wire.post(address, data={"cookie": cookie}, auth=login, headers=host)
            told = answer.json() if answer.status_code == 200 else None
    except (httpx.HTTPError, ValueError):
        raise Away from None
    if not isinstance(told, dict):
        raise Away
    return told
