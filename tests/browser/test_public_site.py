"""What strangers open: the pages of both servers at the width of a small phone, a phone and a desk, light and dark."""

# ruff: noqa: F811 - fixtures are taken from another part's tests

import socket
from collections.abc import Iterator
from typing import Any

import pytest

from auth_server.app import create_app
from auth_server.web import flows
from tests.browser.conftest import serve
from tests.browser.test_pages import judged
from tests.mcp_server.rest.conftest import World, running, world  # noqa: F401 - fixtures
from tests.support.browser import Tab

pytestmark = [pytest.mark.browser, pytest.mark.slow]  # starts a browser

PATHS = [
    "/",
    "/plans",
    "/connect",
    "/support",
    "/problems",
    "/tools/by-plan",
    "/mcp",
    "/mcp/x/nothing",
    "/feeds/0.ics",
    "/shared/0",
    "/shared/trips/0",
    "/tools/nothing",
    "/status",
]


def test_pages_of_the_tool_server_fit_and_can_be_read(tab: Tab, world: World) -> None:
    assert [fault for path in PATHS for fault in judged(tab, world.url + path)] == []


@pytest.fixture
def lonely(clean: None, configure: Any) -> Iterator[str]:
    """The address of a web host whose tool server is down."""
    with socket.create_server(("127.0.0.1", 0)) as web, socket.create_server(("127.0.0.1", 0)) as free:
        base, port = f"http://127.0.0.1:{web.getsockname()[1]}", free.getsockname()[1]
        free.close()
        configure(WEB_URL=base, MCP_UPSTREAM_URL=f"http://127.0.0.1:{port}")
        flows.limiter.cache_clear()
        server = serve(create_app(), web)
        yield base
        server.should_exit = True


def test_the_page_of_states_without_the_tool_server(tab: Tab, lonely: str) -> None:
    assert judged(tab, f"{lonely}/status") == []
    assert "The tool server is down" in tab.text()
