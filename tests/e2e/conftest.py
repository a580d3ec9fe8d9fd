"""A signed-in traveller and a way to call tools over the wire, once per session; a service with more set up."""

from collections.abc import Callable
from typing import Any

import pytest

from tests.e2e.equipped import collector, equipped, model
from tests.support.oauth_browser import post, tokens
from tests.support.service import PASSWORD, Service

__all__ = ["collector", "equipped", "model"]
Call = Callable[..., dict[str, Any]]


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if "/e2e/" in item.path.as_posix():
            item.add_marker(pytest.mark.e2e)


@pytest.fixture(scope="session")
def traveller(service: Service) -> dict[str, Any]:
    """A premium account's token answer, with its client and the authorization server's metadata."""
    return tokens(service.mcp_url, service.person("traveller", "premium"), PASSWORD)


@pytest.fixture(scope="session")
def bearer(traveller: dict[str, Any]) -> dict[str, str]:
    return {"Authorization": f"Bearer {traveller['access_token']}"}


@pytest.fixture(scope="session")
def call(service: Service, bearer: dict[str, str]) -> Call:
    """call("tool_name", argument=value) -> structuredContent."""

    def use(name: str, **arguments: Any) -> dict[str, Any]:
        params = {"name": name, "arguments": arguments}
        body = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
        reply = post(service.mcp_url, json=body, headers=bearer)
        assert reply.status_code == 200, reply.text
        data: dict[str, Any] = reply.json()["result"]["structuredContent"]
        return data

    return use
