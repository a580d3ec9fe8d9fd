"""The official Python SDK client, with its own OAuth provider, against both addresses and every era of the protocol."""

from typing import Any
from urllib.parse import parse_qs, urlsplit

import anyio
import httpx2
import pytest
from mcp import Client
from mcp.client.auth import AuthorizationCodeResult, OAuthClientProvider
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.auth import OAuthClientInformationFull, OAuthClientMetadata, OAuthToken

from tests.support.oauth_browser import REDIRECT, visit
from tests.support.service import PASSWORD, Service


class _Kept:
    """The storage a host would have: tokens and the registration, in memory."""

    tokens: OAuthToken | None = None
    client: OAuthClientInformationFull | None = None

    async def get_tokens(self) -> OAuthToken | None:
        return self.tokens

    async def set_tokens(self, tokens: OAuthToken) -> None:
        self.tokens = tokens

    async def get_client_info(self) -> OAuthClientInformationFull | None:
        return self.client

    async def set_client_info(self, client_info: OAuthClientInformationFull) -> None:
        self.client = client_info


def _provider(url: str, email: str, kept: _Kept) -> OAuthClientProvider:
    landed: list[dict[str, list[str]]] = []

    async def redirect(address: str) -> None:
        target = await anyio.to_thread.run_sync(visit, address, email, PASSWORD)
        landed.append(parse_qs(urlsplit(target).query))

    async def callback() -> AuthorizationCodeResult:
        back = landed.pop()
        return AuthorizationCodeResult(code=back["code"][0], state=back["state"][0], iss=back["iss"][0])

    about = OAuthClientMetadata(client_name="SDK client", redirect_uris=[REDIRECT])  # type: ignore[list-item]
    return OAuthClientProvider(url, about, kept, redirect, callback)


async def _session(url: str, email: str, mode: str, kept: _Kept) -> dict[str, Any]:
    async with (
        httpx2.AsyncClient(auth=_provider(url, email, kept), timeout=90) as http,
        Client(streamable_http_client(url, http_client=http), mode=mode) as client,
    ):
        listed = await client.list_tools()
        answered = await client.call_tool("list_my_cards", {})
        prompts = await client.list_prompts()
        prompt = await client.get_prompt(prompts.prompts[0].name)
        read = await client.read_resource(f"skill://{prompts.prompts[0].name}/SKILL.md")
        return {
            "names": [t.name for t in listed.tools],
            "prompts": [p.name for p in prompts.prompts],
            "same": getattr(prompt.messages[0].content, "text", "-")[:40] in getattr(read.contents[0], "text", ""),
            "status": (answered.structured_content or {})["status"],
            "error": answered.is_error,
            "version": client.server_info.version
            if client.server_info
            else None,  # a pinned revision skips the greeting
        }


@pytest.mark.spec("s1.0.both_hosts_serve_mcp", "s9.1.transport", "s9.2.server_version")
@pytest.mark.parametrize("mode", ["auto", "legacy", "2026-07-28"])
@pytest.mark.parametrize("address", ["mcp_url", "web_url"])
def test_the_official_client_signs_in_lists_and_calls(service: Service, address: str, mode: str) -> None:
    url = service.mcp_url if address == "mcp_url" else f"{service.web_url}/mcp"
    kept = _Kept()
    seen = anyio.run(_session, url, service.person("sdk"), mode, kept)
    assert seen["names"] == sorted(seen["names"])
    assert (seen["status"], seen["error"]) == ("ok", False)
    assert (len(seen["prompts"]), seen["same"]) == (10, True)
    assert seen["version"] == (None if mode == "2026-07-28" else "0.4.0")
    assert kept.tokens is not None
    assert kept.tokens.refresh_token


@pytest.mark.parametrize("mode", ["auto", "legacy", "2026-07-28"])
@pytest.mark.parametrize("address", ["mcp_url", "web_url"])
def test_the_official_client_connects_to_the_address_for_reading(service: Service, address: str, mode: str) -> None:
    """It compares the resource in the metadata with the address it was given (RFC 9728 3.3)."""
    url = (service.mcp_url if address == "mcp_url" else f"{service.web_url}/mcp") + "/readonly"
    seen = anyio.run(_session, url, service.person("sdk"), mode, _Kept())
    assert (seen["status"], seen["error"]) == ("ok", False)
    assert (len(seen["prompts"]), seen["same"]) == (10, True)
    assert "list_trips" in seen["names"]
    assert "create_trip" not in seen["names"]


def test_the_official_client_renews_an_ended_token_by_itself(service: Service) -> None:
    kept = _Kept()
    anyio.run(_session, service.mcp_url, service.person("sdk"), "auto", kept)
    assert kept.tokens is not None
    first, kept.tokens = kept.tokens, kept.tokens.model_copy(update={"access_token": "awt_at_ended"})
    assert anyio.run(_session, service.mcp_url, service.person("sdk"), "auto", kept)["status"] == "ok"
    assert kept.tokens.access_token not in ("awt_at_ended", first.access_token)
