"""A request answered in one exchange gets the same answer as through the SDK's session manager."""

from typing import Any

import pytest

from mcp_server.transport import streamable_http
from tests.mcp_server.conftest import World
from tests.mcp_server.transport.test_streamable_http import MODERN, REVISIONS, asked, call
from tests.support.people import People

HANDSHAKE = [revision for revision in REVISIONS if revision != MODERN]
REQUESTS: list[tuple[str, dict[str, Any]]] = [
    ("tools/list", {}),
    ("tools/list", {"cursor": "abc"}),
    ("tools/list", {"cursor": 5}),
    ("tools/call", call("say_words", text="é")),
    ("tools/call", call("find_nothing")),
    ("tools/call", {"name": "say_words", "arguments": {"text": 5}}),
    ("tools/call", {"name": 5}),
    ("resources/read", {"uri": "ui://award-travel/month-of-seats.html"}),
    ("resources/read", {"uri": "ui://award-travel/nothing.html"}),
    ("resources/read", {"uri": 5}),
    ("ping", {}),
]


@pytest.mark.parametrize("revision", REVISIONS)
@pytest.mark.parametrize(("method", "params"), REQUESTS)
def test_both_ways_of_an_exchange_give_the_same_answer(
    world: World, people: People, monkeypatch: pytest.MonkeyPatch, revision: str, method: str, params: dict[str, Any]
) -> None:
    body, headers = asked(method, revision, params)
    single = world.post(people.alice, body, **headers)
    monkeypatch.setattr(streamable_http, "open_connection", lambda *_: None)
    managed = world.post(people.alice, body, **headers)
    assert (single.status_code, single.json()) == (managed.status_code, managed.json())
    assert single.headers["content-type"] == managed.headers["content-type"]


@pytest.mark.parametrize(
    "wrong",
    [{"Mcp-Method": "tools/call"}, {"Mcp-Method": ""}, {"MCP-Protocol-Version": "2031-01-01"}, {"Accept": "text/html"}],
)
def test_what_the_sdk_rejects_of_a_list_it_rejects_itself(
    world: World, people: People, monkeypatch: pytest.MonkeyPatch, wrong: dict[str, str]
) -> None:
    body, headers = asked("tools/list", MODERN)
    single = world.post(people.alice, body, **headers | wrong)
    monkeypatch.setattr(streamable_http, "open_connection", lambda *_: None)
    managed = world.post(people.alice, body, **headers | wrong)
    assert single.status_code >= 400
    assert (single.status_code, single.content) == (managed.status_code, managed.content)


@pytest.mark.parametrize(
    ("revision", "method", "params"),
    [
        *((revision, method, params) for revision in HANDSHAKE for method, params in REQUESTS),
        (MODERN, "tools/list", {}),
        (MODERN, "resources/read", {"uri": "ui://award-travel/month-of-seats.html"}),
    ],
)
def test_one_exchange_builds_no_session(
    world: World, people: People, monkeypatch: pytest.MonkeyPatch, revision: str, method: str, params: dict[str, Any]
) -> None:
    """The session manager would cost four times as much a call (see the module's docstring)."""
    monkeypatch.setattr("mcp.server.streamable_http_manager.StreamableHTTPSessionManager.handle_request", None)
    body, headers = asked(method, revision, params)
    assert world.post(people.alice, body, **headers).json()["id"] == 1
