"""The person signed in with a browser, asked of the auth server, which serves the same host and owns the sessions."""

from dataclasses import dataclass
from typing import Any

import httpx
from starlette.requests import Request

from shared.internal_api import AuthServerClient, session_cookie_name
from shared.secrets import digest

MAX_COOKIE_CHARACTERS = 128


class AuthServerUnavailable(Exception):
    """The auth server does not answer, so no one can say who it is."""


@dataclass(frozen=True)
class BrowserSession:
    public_id: str
    session: str  # a digest of the cookie


async def find_session(request: Request) -> BrowserSession | None:
    """None when no one is signed in. Raises AuthServerUnavailable."""
    cookie = request.cookies.get(session_cookie_name(), "")
    if not cookie or len(cookie) > MAX_COOKIE_CHARACTERS:
        return None
    document = await _look_up(cookie)
    if document.get("active") is not True or not isinstance(document.get("sub"), str):
        return None
    return BrowserSession(document["sub"], digest(cookie))


async def _look_up(cookie: str) -> dict[str, Any]:
    try:
        async with AuthServerClient() as auth_server:
            response = await auth_server.post("/internal/session", {"cookie": cookie})
            document = response.json() if response.status_code == 200 else None
    except (httpx.HTTPError, ValueError):
        raise AuthServerUnavailable from None
    if not isinstance(document, dict):
        raise AuthServerUnavailable
    return document
