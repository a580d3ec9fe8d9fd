"""How our own programs reach each other over HTTP: address, Host header, login and the name of the session cookie.

The address inside an installation may differ from the public one, so the public name is sent as Host.
"""

from collections.abc import Mapping
from typing import NamedTuple, Self
from urllib.parse import urlsplit

import httpx

from shared.http import client
from shared.secrets import split_secret, well_formed
from shared.settings import settings
from shared.telemetry.traces import get_trace_headers

TIMEOUT = httpx.Timeout(3, connect=1)
PAGE_TOKEN = "awt_pt_"  # noqa: S105 - prefix of tokens of the web host's own pages
PAGE_CALLS_PATH, MAX_PAGE_CALLS = "/api/v1/tools", 20  # what one page shows, in one request
DRAW_FLIGHTS = "draw_flights"  # among those calls, though no tool: the map of flights, with facts of each
_PAGE_TOKEN_CHARACTERS = len(PAGE_TOKEN) + 64 + 10 + 1 + 64


class AuthServerClient:
    """Requests to the auth server as the service's own confidential client."""

    def __init__(self, timeout: httpx.Timeout | None = None) -> None:
        config = settings()
        # Without a base: the operator's own address may be a private one.
        self.http = client(timeout=timeout or TIMEOUT)
        self.address = config.auth_internal_url or config.web_url
        self.headers = {"Host": urlsplit(config.web_url).netloc}
        self.login = (config.service_client_id, split_secret(config.service_client_secret.get_secret_value())[0])

    async def get(self, path: str) -> httpx.Response:
        """A public page: without the login."""
        return await self.http.get(self.address + path, headers=self.headers)

    async def post(self, path: str, form: Mapping[str, str]) -> httpx.Response:
        headers = self.headers | get_trace_headers()
        return await self.http.post(self.address + path, data=form, auth=self.login, headers=headers)

    async def aclose(self) -> None:
        await self.http.aclose()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()


def may_be_token(text: str, prefix: str) -> bool:
    """Whether it is worth asking the auth server about: a secret with this prefix, or a token of a page."""
    is_of_page = text.startswith(PAGE_TOKEN) and len(text) == _PAGE_TOKEN_CHARACTERS and text.isascii()
    return is_of_page or well_formed(text, prefix)


class Endpoint(NamedTuple):
    url: str
    headers: dict[str, str]


def mcp_endpoint(token: str) -> Endpoint:
    """/mcp of the tool server, called with a bearer token as by any MCP client."""
    return _tool_server_endpoint("/mcp", token)


def page_calls_endpoint(token: str) -> Endpoint:
    """Where a page asks several tools at once, with a token that may only look."""
    return _tool_server_endpoint(PAGE_CALLS_PATH, token)


def tool_description_endpoint(tool: str) -> Endpoint:
    """The public description of a tool, with the JSON Schema of its arguments."""
    return _tool_server_endpoint(f"{PAGE_CALLS_PATH}/{tool}")


def _tool_server_endpoint(path: str, token: str = "") -> Endpoint:
    config = settings()
    origin = config.mcp_upstream_url or config.mcp_url.removesuffix("/mcp")
    headers = {"Host": urlsplit(config.mcp_url).netloc} | ({"Authorization": f"Bearer {token}"} if token else {})
    return Endpoint(origin + path, headers | get_trace_headers())


def session_cookie_name() -> str:
    """The web host's session cookie; the prefix binds it to the host (RFC 6265bis 4.1.3) and needs https."""
    return "__Host-award" if settings().secure else "award"


def browser_cookie_name() -> str:
    """Another cookie of the web host, by which a browser is known for a year, signed in or not."""
    return f"{session_cookie_name()}-browser"
