"""Screens as hosts meet them: declared in every handshake, named by tools, read at every address at no cost."""

import logging
from typing import Any

import httpx
import pytest
from mcp.server.apps import Apps
from mcp.server.mcpserver import MCPServer
from sqlalchemy import func, select

from mcp_server.calls.usage import USAGE_LOG
from mcp_server.screens.load import load_screens
from mcp_server.transport import sdk_server
from mcp_server.transport.sdk_server import MAX_URI
from shared.db.base import transaction
from shared.db.usage import ToolCall
from shared.domain.mcp_addresses import ADDRESSES
from tests.mcp_server.conftest import World, bearer
from tests.mcp_server.transport.test_streamable_http import MODERN, REVISIONS, asked
from tests.support.noted_calls import list_notes
from tests.support.people import People

UI = "io.modelcontextprotocol/ui"
MONTH = "ui://award-travel/month-of-seats.html"
HELLO = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}
PATHS = [path.removeprefix("/mcp") for path in ADDRESSES]


def post(world: World, people: People, path: str, method: str, revision: str, **params: Any) -> dict[str, Any]:
    body, headers = asked(method, revision, params)
    answer = world.http.post(world.url + path, json=body, headers=bearer(world.token(people.alice)) | headers)
    message: dict[str, Any] = answer.json()
    return message


@pytest.mark.parametrize("path", PATHS)
def test_the_extension_is_declared_in_both_handshakes_to_clients_that_declare_nothing(
    world: World, people: People, path: str
) -> None:
    old = post(world, people, path, "initialize", "2025-11-25", **HELLO)["result"]["capabilities"]
    new = post(world, people, path, "server/discover", MODERN)["result"]["capabilities"]
    assert old["extensions"][UI] == {}
    assert new["extensions"][UI] == {}
    assert "resources" in old
    assert "resources" in new


@pytest.mark.anyio
async def test_the_sdk_alone_still_loses_the_declaration() -> None:
    """The reason for `DeclaredExtensions`: when this fails, the SDK has been mended and the middleware can go."""
    server = MCPServer[Any]("bare", extensions=[Apps()])
    app = server.streamable_http_app(json_response=True, stateless_http=True)
    body, headers = asked("initialize", "2025-11-25", HELLO)
    async with server.session_manager.run():
        transport = httpx.ASGITransport(app)
        async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1:8000") as http:
            answer = await http.post("/mcp", json=body, headers=headers)
    assert "extensions" not in answer.json()["result"]["capabilities"]


@pytest.mark.parametrize("revision", REVISIONS)
@pytest.mark.parametrize("path", [*PATHS, "?areas=search", "?areas=cards", "/readonly?areas=cards"])
def test_every_screen_is_read_at_every_address(world: World, people: People, path: str, revision: str) -> None:
    screens = load_screens()
    listed = post(world, people, path, "resources/list", revision)["result"]["resources"]
    assert {entry["uri"] for entry in listed} >= {screen.uri for screen in screens.values()}
    for screen in screens.values():
        result = post(world, people, path, "resources/read", revision, uri=screen.uri)["result"]
        [content] = result["contents"]
        assert content == {
            "uri": screen.uri,
            "mimeType": "text/html;profile=mcp-app",
            "text": screen.html,
            "_meta": {"ui": {"csp": {}, "prefersBorder": True}},
        }
        if revision == MODERN:
            assert (result["cacheScope"], result["ttlMs"]) == ("public", 300_000)


@pytest.mark.parametrize("revision", ["2025-11-25", MODERN])
def test_reading_spends_nothing_and_is_noted_nowhere(world: World, people: People, revision: str) -> None:
    post(world, people, "", "resources/read", revision, uri=MONTH)
    assert list_notes() == []
    assert not USAGE_LOG.today
    with transaction(people.alice.account_id) as session:
        assert session.scalar(select(func.count()).select_from(ToolCall)) == 0


def test_reading_needs_the_bearer(world: World) -> None:
    body, headers = asked("resources/read", "2025-11-25", {"uri": MONTH})
    assert world.http.post(world.url, json=body, headers=headers).status_code == 401


@pytest.mark.parametrize("revision", ["2025-11-25", MODERN])
@pytest.mark.parametrize(
    "uri", ["ui://award-travel/nothing.html", "file:///etc/passwd", "", "ui://" + "x" * MAX_URI, "ui://%00/<script>"]
)
def test_an_unknown_screen_is_one_clean_error(
    world: World, people: People, caplog: pytest.LogCaptureFixture, revision: str, uri: str
) -> None:
    with caplog.at_level(logging.WARNING):
        error = post(world, people, "", "resources/read", revision, uri=uri)["error"]
    assert error["code"] < 0
    assert len(str(error)) < 2 * MAX_URI + 200
    assert [record for record in caplog.records if record.exc_info] == []


@pytest.mark.parametrize("revision", ["2025-11-25", MODERN])
def test_an_address_reads_so_many_a_minute(
    world: World, people: People, monkeypatch: pytest.MonkeyPatch, revision: str
) -> None:
    monkeypatch.setattr(sdk_server, "choose_limit", lambda *_: 2)
    answers = [post(world, people, "", "resources/read", revision, uri=MONTH) for _ in range(3)]
    assert ["result" in answer for answer in answers] == [True, True, False]
    assert answers[2]["error"]["message"].startswith("Too many resources were read from this address. Try again in ")
    assert answers[2]["error"]["data"]["retry_after"] > 0
    assert "result" in post(world, people, "", "tools/list", revision)  # the limit is that of reading alone
