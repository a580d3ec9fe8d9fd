"""A client that runs in a page: only a real browser asks before it calls, and hides what is not shared."""

import json
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest
from starlette.applications import Starlette
from starlette.responses import FileResponse
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles

from tests.browser.conftest import serve
from tests.support.browser import Tab
from tests.support.service import PASSWORD, Service

pytestmark = [pytest.mark.browser, pytest.mark.node, pytest.mark.slow]  # a browser, the SDK's files, a service
PAGE, MODULES = Path(__file__).with_name("page_client.html"), Path(__file__).parents[1] / "node" / "node_modules"


@pytest.fixture
def page() -> Iterator[str]:
    """The address of the page, on a loopback port of its own."""

    async def show(_request: object) -> FileResponse:
        return FileResponse(PAGE)

    app = Starlette(routes=[Route("/", show), Mount("/modules", StaticFiles(directory=MODULES))])
    with socket.create_server(("127.0.0.1", 0)) as listening:
        server = serve(app, listening)
        yield f"http://localhost:{listening.getsockname()[1]}"
        server.should_exit = True


@pytest.mark.parametrize("place", ["web", "tools"])
def test_a_page_on_a_loopback_port_finds_its_way_in_and_calls(
    tab: Tab, service: Service, page: str, place: str
) -> None:
    server = service.mcp_url if place == "tools" else f"{service.web_url}/mcp"
    tab.go(f"{page}/?server={server}")
    tab.wait("document.title.startsWith('Sign in') || document.title.startsWith('failed')")
    assert "Page client" in tab.text()
    tab.fill("email", service.person("paged", "premium"))
    tab.fill("password", PASSWORD)
    tab.press("button.primary")
    tab.wait("document.title.startsWith('Allow access')")
    tab.press("button[value=allow]")
    tab.wait("location.search.startsWith('?code=') && document.title !== 'starting'")
    assert tab.run("document.title") == "142 tools, ok"


CALL = """
fetch(%s, {method: 'POST', body: '{"jsonrpc":"2.0","id":1,"method":"ping"}', headers: {
  'Authorization': 'Bearer ' + %s, 'Content-Type': 'application/json'}}).then(r => String(r.status), e => e.name)
"""


def test_a_page_of_another_origin_gets_nothing_even_with_a_good_token(tab: Tab, service: Service, page: str) -> None:
    from tests.support.oauth_browser import tokens

    token = tokens(service.mcp_url, service.person("paged", "premium"), PASSWORD)["access_token"]
    call = CALL % (json.dumps(service.mcp_url), json.dumps(token))
    tab.go(f"{page}/modules/zod/package.json")
    tab.wait("location.host")
    assert tab.run_promise(call) == "200"
    tab.go("data:text/html,<title>elsewhere</title>")  # its origin is null
    tab.wait("document.title === 'elsewhere'")
    assert tab.run_promise(call) == "TypeError"
