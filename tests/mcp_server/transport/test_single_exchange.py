"""A request answered in one exchange gets the same answer as through the SDK's session manager."""

import json
import re
from difflib import unified_diff
from typing import Any

import httpx
import pytest

from mcp_server.transport import streamable_http
from tests.mcp_server.conftest import World, bearer
from tests.mcp_server.transport.test_streamable_http import MODERN, REVISIONS, asked, call
from tests.support.people import People

HANDSHAKE = [revision for revision in REVISIONS if revision != MODERN]
READ_SCREEN = ("resources/read", {"uri": "ui://award-travel/month-of-seats.html"})
REQUESTS: list[tuple[str, dict[str, Any]]] = [
    ("tools/list", {}),
    ("tools/list", {"cursor": "abc"}),
    ("tools/list", {"cursor": 5}),
    ("tools/call", call("say_words", text="é")),
    ("tools/call", call("find_nothing")),
    ("tools/call", {"name": "say_words", "arguments": {"text": 5}}),
    ("tools/call", {"name": 5}),
    ("tools/call", {"name": ["say_words"]}),
    ("tools/call", {"name": "say_words", "arguments": None}),
    ("tools/call", {"name": "say_words", "arguments": ["é"]}),
    ("tools/call", {"name": "nothing_of_ours", "arguments": {}}),
    ("tools/call", call("look_further")),
    ("tools/call", call("break_down")),
    ("tools/call", call("say_words", text="é") | {"_meta": {"example/use": 7}}),
    ("tools/call", call("say_words", text="é") | {"requestState": "stale"}),
    ("tools/call", call("say_words", text="é") | {"task": {"ttl": 5}}),
    READ_SCREEN,
    ("resources/read", {"uri": "ui://award-travel/nothing.html"}),
    ("resources/read", {"uri": 5}),
    ("ping", {}),
]
STREAMED: list[tuple[str, dict[str, Any]]] = [
    ("tools/call", call("say_words", text="é") | {"_meta": {"progressToken": 7}}),
    ("tools/call", call("say_words", text="é") | {"_meta": {"progressToken": [7]}}),
]


def leave_all_to_the_sdk(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(streamable_http, "is_direct", lambda *_: False)
    monkeypatch.setattr(streamable_http, "open_connection", lambda *_: None)


def read_answer(answer: httpx.Response) -> list[str]:
    """As lines. Each call has its own id, which an internal error quotes; events of a stream stay as they are."""
    text = re.sub(r"[0-9a-f]{16}", "", answer.text)
    text = json.dumps(json.loads(text), indent=1, sort_keys=True) if text.startswith("{") else text
    return [str(answer.status_code), answer.headers["content-type"], *text.splitlines()]


@pytest.mark.parametrize("revision", REVISIONS)
def test_both_ways_of_an_exchange_give_the_same_answer(
    world: World, people: People, monkeypatch: pytest.MonkeyPatch, revision: str
) -> None:
    unlike = []
    for method, params in REQUESTS + STREAMED:
        body, headers = asked(method, revision, params)
        single = read_answer(world.post(people.alice, body, **headers))
        with monkeypatch.context() as patch:
            leave_all_to_the_sdk(patch)
            managed = read_answer(world.post(people.alice, body, **headers))
        unlike += [f"{method} {params}: {line}" for line in unified_diff(managed, single, n=0, lineterm="")]
    assert unlike == []


@pytest.mark.parametrize(
    "wrong",
    [{"Mcp-Method": "tools/call"}, {"Mcp-Method": ""}, {"MCP-Protocol-Version": "2031-01-01"}, {"Accept": "text/html"}],
)
def test_what_the_sdk_rejects_of_a_list_it_rejects_itself(
    world: World, people: People, monkeypatch: pytest.MonkeyPatch, wrong: dict[str, str]
) -> None:
    body, headers = asked("tools/list", MODERN)
    single = world.post(people.alice, body, **headers | wrong)
    leave_all_to_the_sdk(monkeypatch)
    managed = world.post(people.alice, body, **headers | wrong)
    assert single.status_code >= 400
    assert (single.status_code, single.content) == (managed.status_code, managed.content)


@pytest.mark.parametrize("revision", REVISIONS)
def test_one_exchange_builds_no_session(
    world: World, people: People, monkeypatch: pytest.MonkeyPatch, revision: str
) -> None:
    """The session manager would cost four times as much a call (see the module's docstring)."""
    monkeypatch.setattr("mcp.server.streamable_http_manager.StreamableHTTPSessionManager.handle_request", None)
    for method, params in REQUESTS if revision in HANDSHAKE else [REQUESTS[0], READ_SCREEN]:
        body, headers = asked(method, revision, params)
        answer = world.post(people.alice, body, **headers)
        assert answer.status_code < 500, f"{method} {params}: left to the session manager"
        assert answer.json()["id"] == 1


@pytest.mark.parametrize("revision", HANDSHAKE)
def test_a_call_passes_nothing_of_the_sdk_but_its_check(
    world: World, people: People, monkeypatch: pytest.MonkeyPatch, revision: str
) -> None:
    """The SDK's chain would cost as much again as the call itself."""
    monkeypatch.setattr("mcp.server.runner.ServerRunner._on_request", None)
    body, headers = asked("tools/call", revision, call("say_words", text="é"))
    assert world.post(people.alice, body, **headers).json()["result"]["structuredContent"]["words"] == ["é"]


@pytest.mark.parametrize("revision", REVISIONS)
def test_the_list_that_is_kept_is_the_list_of_the_sdk_and_answers_the_id_asked(
    world: World, people: People, monkeypatch: pytest.MonkeyPatch, revision: str
) -> None:
    body, headers = asked("tools/list", revision)
    for number in (1, "é"):
        world.post(people.alice, body | {"id": number}, **headers)
    monkeypatch.setattr(streamable_http, "answer_request", None)
    kept = world.post(people.alice, body | {"id": "é"}, **headers)
    leave_all_to_the_sdk(monkeypatch)
    assert kept.json() == world.post(people.alice, body | {"id": "é"}, **headers).json()


@pytest.mark.parametrize("part", ["/lean", "/readonly", "?areas=cards"])
def test_parts_of_the_list_are_not_the_list_that_is_kept(world: World, people: People, part: str) -> None:
    body, headers = asked("tools/list", HANDSHAKE[-1])
    whole = world.post(people.alice, body, **headers).json()["result"]["tools"]
    sent = bearer(world.token(people.alice)) | headers
    assert world.http.post(world.url + part, json=body, headers=sent).json()["result"]["tools"] != whole
