"""How our own programs reach each other over HTTP: address, Host header, login and the name of the session cookie.

The address inside an installation may differ from the public one, so the public name is sent as Host.
"""

from collections.abc import Mapping
from typing import NamedTuple, Self
from urllib.parse import urlsplit

import httpx

from shared.http import client
from shared.settings import settings

TIMEOUT = httpx.Timeout(3, connect=1)


class AuthServerClient:
    """Requests to the auth server as the service's own confidential client."""

    def __init__(self, timeout: httpx.Timeout = TIMEOUT) -> None:
        config = settings()
        self.http = client(timeout=timeout)  # without a base: the operator's own address may be a private one
        self.address = config.auth_internal_url or config.web_url
        self.headers = {"Host": urlsplit(config.web_url).netloc}
        self.login = (config.service_client_id, config.service_client_secret.get_secret_value())

    async def get(self, path: str) -> httpx.Response:
        """A public page: without the login."""
        return await self.http.get(self.address + path, headers=self.headers)

    async def post(self, path: str, form: Mapping[str, str]) -> httpx.Response:
        return await self.http.post(self.address + path, data=form, auth=self.login, headers=self.headers)

    async def aclose(self) -> None:
        await self.http.aclose()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()


class Endpoint(NamedTuple):
    url: str
    headers: dict[str, str]


def mcp_endpoint(token: str) -> Endpoint:
    """/mcp of the tool server, called with a bearer token as by any MCP client."""
    config = settings()
    url = f"{config.mcp_upstream_url}/mcp" if config.mcp_upstream_url else config.mcp_url
    return Endpoint(url, {"Authorization": f"Bearer {token}", "Host": urlsplit(config.mcp_url).netloc})


def session_cookie_name() -> str:
    """The web host's session cookie; the prefix binds it to the host (RFC 6265bis 4.1.3) and needs https."""
    return "__Host-award" if settings().secure else "award"
