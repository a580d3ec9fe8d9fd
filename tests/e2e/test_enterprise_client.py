"""The official Python SDK's client of enterprise-managed authorization, against a service that trusts an enterprise."""

import secrets
import time
from collections.abc import Iterator
from typing import Any

import anyio
import httpx2
import psycopg
import pytest
from joserfc import jwt
from mcp import Client
from mcp.client.auth import OAuthTokenError
from mcp.client.auth.extensions.identity_assertion import IdentityAssertionOAuthProvider
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.auth import OAuthToken

from shared.secrets import digest
from tests.e2e.equipped import ISSUER, KEY
from tests.support.service import Service

SECRET = "a secret of the application"
_ADD_CLIENT = """insert into oauth_clients (client_id, kind, secret_hash, name, auth_method, redirect_uris)
values ('enterprise-client', 'manual', %s, 'Acme Assistant', 'client_secret', '{}')"""


class Kept:
    """The storage a host would have."""

    tokens: OAuthToken | None = None

    async def get_tokens(self) -> OAuthToken | None:
        return self.tokens

    async def set_tokens(self, tokens: OAuthToken) -> None:
        self.tokens = tokens

    async def get_client_info(self) -> None:
        return None

    async def set_client_info(self, client_info: object) -> None:
        raise AssertionError("this client is registered by hand")


@pytest.fixture(scope="module")
def trusting(equipped: Service) -> Service:
    """The service that trusts an enterprise, with a person and the enterprise's application."""
    equipped.person("employee")
    with psycopg.connect(equipped.facts["database_url"]) as database:
        database.execute(_ADD_CLIENT, [digest(SECRET)])
    return equipped


def provide(service: Service, email: str, kept: Kept) -> IdentityAssertionOAuthProvider:
    """The client as an enterprise sets it up; the assertion is what its identity provider would give."""

    async def ask_identity_provider(audience: str, resource: str) -> str:
        now = int(time.time())
        claims = {"iss": ISSUER, "sub": "U1", "email": email, "aud": audience, "resource": resource}
        claims |= {"client_id": "enterprise-client", "scope": "mcp:read", "jti": secrets.token_hex(8)}
        header = {"alg": "ES256", "kid": KEY.kid, "typ": "oauth-id-jag+jwt"}
        return jwt.encode(header, claims | {"iat": now, "exp": now + 300}, KEY)

    return IdentityAssertionOAuthProvider(
        service.mcp_url, kept, "enterprise-client", SECRET, service.web_url, ask_identity_provider
    )


async def call(service: Service, email: str, kept: Kept) -> Any:
    async with (
        httpx2.AsyncClient(auth=provide(service, email, kept), timeout=90) as http,
        Client(streamable_http_client(service.mcp_url, http_client=http)) as client,
    ):
        return (await client.call_tool("list_my_cards", {})).structured_content


def test_the_official_client_calls_a_tool_without_a_page(trusting: Service) -> None:
    kept = Kept()
    content = anyio.run(call, trusting, "employee@example.test", kept)
    assert content["status"] == "ok"
    assert kept.tokens is not None
    assert (kept.tokens.refresh_token, kept.tokens.scope) == (None, "mcp:read")


def test_somebody_without_an_account_gets_nothing(trusting: Service) -> None:
    with pytest.raises((BaseExceptionGroup, OAuthTokenError)) as raised:  # groups come by way of the transport
        anyio.run(call, trusting, "stranger@example.test", Kept())
    errors = list(flatten(raised.value))
    assert any(isinstance(error, OAuthTokenError) and "invalid_grant" in str(error) for error in errors)


def flatten(error: BaseException) -> Iterator[BaseException]:
    inner = error.exceptions if isinstance(error, BaseExceptionGroup) else [error]
    for one in inner:
        yield from [one] if one is error else flatten(one)
