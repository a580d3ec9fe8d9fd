"""The bytes of /mcp: the bare call, bodies that are none, and the same answers on every protocol revision."""

import http.client
import json
import socket
from typing import Any

import httpx
import pytest
from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS

from mcp_server.toolkit.registry import TOOLS
from mcp_server.transport import streamable_http
from tests.mcp_server.conftest import World, bearer
from tests.support.people import People

LIST: dict[str, Any] = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
MODERN = "2026-07-28"
REVISIONS = ["2025-03-26", "2025-06-18", "2025-11-25", MODERN]
TWO_KINDS = "application/json, text/event-stream"


def asked(method: str, revision: str, params: dict[str, Any] | None = None, id: Any = 1) -> tuple[Any, dict[str, str]]:
    """A request with the body and headers its revision wants."""
    headers = {"MCP-Protocol-Version": revision, "Accept": TWO_KINDS}
    params = dict(params or {})
    if revision == MODERN:
        headers["Mcp-Method"] = method
        for field in {"name", "uri"} & set(params):
            headers["Mcp-Name"] = str(params[field])
        meta = {"io.modelcontextprotocol/protocolVersion": MODERN, "io.modelcontextprotocol/clientCapabilities": {}}
        params["_meta"] = meta | params.get("_meta", {})
    return {"jsonrpc": "2.0", "id": id, "method": method, "params": params}, headers


def call(name: str, **arguments: Any) -> dict[str, Any]:
    return {"name": name, "arguments": arguments}


def raw(world: World, token: str, body: bytes, headers: dict[str, str]) -> tuple[int, dict[str, str], bytes]:
    """A request with exactly these headers; the usual client adds its own Accept."""
    connection = http.client.HTTPConnection(world.base.removeprefix("http://"), timeout=90)
    try:
        connection.putrequest("POST", "/mcp", skip_accept_encoding=True)
        sent = {"Authorization": f"Bearer {token}", "Content-Length": str(len(body))} | headers
        for name, value in sent.items():
            connection.putheader(name, value)
        connection.endheaders(body)
        answer = connection.getresponse()
        return answer.status, {k.lower(): v for k, v in answer.getheaders()}, answer.read()
    finally:
        connection.close()


@pytest.mark.parametrize("accept", [None, "*/*", "application/json", "text/event-stream", TWO_KINDS])
@pytest.mark.spec("s4.1.mcp_headers", "s4.1.mcp_body", "s4.2.list_without_params")
def test_bare_call_needs_a_bearer_and_a_content_type_only(world: World, people: People, accept: str | None) -> None:
    own = {"Accept": accept} if accept else {}
    token = world.token(people.alice)
    status, headers, body = raw(world, token, json.dumps(LIST).encode(), {"Content-Type": "application/json"} | own)
    assert (status, headers["content-type"]) == (200, "application/json")
    answer = json.loads(body)
    assert (answer["jsonrpc"], answer["id"]) == ("2.0", 1)
    assert len(answer["result"]["tools"]) == len(TOOLS)


@pytest.mark.spec("s1.3.call_by_tools_call", "s4.3.call_params", "s1.1.structured_results")
def test_bare_tool_call_gives_text_and_structured_content(world: World, people: People) -> None:
    result = world.call(people.bob, "say_words", text="hello", times=2)
    assert result["isError"] is False
    data = result["structuredContent"]
    assert list(data)[:2] == ["data_mode", "notice"]
    assert (data["status"], data["words"], data["nothing"]) == ("ok", ["hello", "hello"], None)
    notice, _, message = result["content"][0]["text"].partition("\n")
    assert (notice, message) == (data["notice"], "Said 2 times.")
    assert json.loads(result["content"][1]["text"]) == {n: value for n, value in data.items() if value is not None}


@pytest.mark.spec("s4.2.list_same_for_everyone", "s4.2.list_complete", "s4.2.list_sorted")
def test_list_is_whole_sorted_and_the_same_bytes_for_everyone(world: World, people: People) -> None:
    answers = [world.post(who, LIST) for who in (people.bob, people.paula, people.ada)]
    assert len({answer.content for answer in answers}) == 1
    assert [tool["name"] for tool in answers[0].json()["result"]["tools"]] == sorted(TOOLS)


@pytest.mark.parametrize("revision", REVISIONS)
@pytest.mark.spec("s4.1.tool_object", "s4.1.schema_dialect", "s4.2.list_sorted")
def test_every_revision_lists_the_same_whole_tools(world: World, people: People, revision: str) -> None:
    body, headers = asked("tools/list", revision)
    answer = world.post(people.alice, body, **headers)
    assert answer.status_code == 200, answer.text
    assert int(answer.headers["content-length"]) == len(answer.content)
    result = answer.json()["result"]
    assert [tool["name"] for tool in result["tools"]] == sorted(TOOLS)
    assert "nextCursor" not in result
    for tool in result["tools"]:
        assert tool["inputSchema"]["additionalProperties"] is False
        assert tool["description"]
        assert "outputSchema" not in tool
        hints = tool["annotations"]
        assert all(type(hints[h]) is bool for h in TOOLS[tool["name"]].hints)
        own = TOOLS[tool["name"]]
        assert tool["title"] == own.title
        ui = {"ui": {"resourceUri": f"ui://award-travel/{own.screen}.html"}} if own.screen else {}
        assert tool["_meta"] == {"tier": own.tier.label, "area": own.area} | ui
    if revision == MODERN:
        assert (result["cacheScope"], result["resultType"]) == ("public", "complete")
        assert result["ttlMs"] > 0


@pytest.mark.parametrize("revision", REVISIONS)
@pytest.mark.parametrize("id", [7, 0, -1, "seven", '"tools":[]', ""])
def test_every_revision_answers_a_call_alike(world: World, people: People, revision: str, id: Any) -> None:
    body, headers = asked("tools/call", revision, call("say_words", text="é\u2028"), id)
    answer = world.post(people.alice, body, **headers)
    assert (answer.status_code, answer.headers["content-type"]) == (200, "application/json")
    assert answer.json()["id"] == id
    assert answer.json()["result"]["structuredContent"]["words"] == ["é\u2028"]
    assert answer.json()["result"]["isError"] is False
    listing, headers = asked("tools/list", revision, id=id)
    assert world.post(people.alice, listing, **headers).json()["id"] == id


@pytest.mark.parametrize("revision", REVISIONS)
def test_streamed_answer_goes_only_to_who_asked_for_progress(world: World, people: People, revision: str) -> None:
    params = call("wait_a_little") | {"_meta": {"progressToken": "p"}}
    body, headers = asked("tools/call", revision, params)
    streamed = world.post(people.alice, body, **headers)
    # 2026-07-28 streams from the first progress on and answers JSON when there was none; before, it always streams.
    assert streamed.headers["content-type"].startswith(
        "application/json" if revision == MODERN else "text/event-stream"
    )
    assert '"Waited."' in streamed.text
    plain = world.post(people.alice, body, **headers | {"Accept": "application/json"})
    assert plain.headers["content-type"] == "application/json"
    assert plain.json()["result"]["structuredContent"]["message"] == "Waited."


@pytest.mark.parametrize("revision", REVISIONS)
def test_list_is_whole_on_a_streamed_answer_too(world: World, people: People, revision: str) -> None:
    body, headers = asked("tools/list", revision, {"_meta": {"progressToken": 1}})
    text = world.post(people.alice, body, **headers).text
    sent = json.loads(text if text.startswith("{") else text.split("data: ")[1])
    assert [tool["name"] for tool in sent["result"]["tools"]] == sorted(TOOLS)


@pytest.mark.parametrize("revision", REVISIONS)
def test_list_is_not_built_again_for_each_caller(
    world: World, people: People, revision: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    body, headers = asked("tools/list", revision)
    first = world.post(people.alice, body, **headers)
    monkeypatch.setattr("mcp.server.MCPServer.list_tools", None)
    assert world.post(people.bob, body, **headers).content == first.content


@pytest.mark.parametrize("revision", REVISIONS)
def test_cursor_is_refused_because_there_is_one_page(world: World, people: People, revision: str) -> None:
    for method in ("tools/list", "prompts/list", "resources/list", "resources/templates/list"):
        body, headers = asked(method, revision, {"cursor": "abc"})
        answer = world.post(people.alice, body, **headers).json()
        assert answer["error"]["code"] == -32602, method
        assert "one page" in answer["error"]["message"]
        body, headers = asked(method, revision, {"cursor": ""})  # older clients ask for the first page so
        assert "result" in world.post(people.alice, body, **headers).json(), method


def test_null_id_params_and_arguments(world: World, people: People) -> None:
    assert world.post(people.alice, LIST | {"params": None}).json()["result"]["tools"]
    params = {"name": "find_nothing", "arguments": None}
    answer = world.post(people.alice, LIST | {"method": "tools/call", "params": params}).json()
    assert answer["result"]["structuredContent"]["status"] == "not_found"
    assert world.post(people.alice, LIST | {"id": None}).status_code == 400


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"{",
        b"nonsense",
        b'{"jsonrpc":"2.0","id":1,"method":"tools/list"}}',
        b"\xff\xfe",
        b'{"jsonrpc":"2.0","id":1,"method":"\\ud800"}',
        b'{"jsonrpc":"2.0","id":NaN,"method":"tools/list"}',
        b"[" * 100_000,
        b'{"a":' * 100_000,
        b"9" * 10_000,
    ],
)
@pytest.mark.parametrize("revision", [None, MODERN])
def test_broken_json_is_a_parse_error(world: World, people: People, body: bytes, revision: str | None) -> None:
    headers = bearer(world.token(people.alice)) | ({"MCP-Protocol-Version": revision} if revision else {})
    answer = world.http.post(world.url, content=body, headers=headers)
    assert answer.status_code == 400
    error = answer.json()["error"]
    assert error["code"] in ((-32700,) if body[:1] != b"9" else (-32600, -32700))
    assert answer.json()["id"] is None
    assert "pydantic" not in answer.text
    assert "column" not in answer.text


@pytest.mark.parametrize(
    "body",
    [
        [LIST],
        [],
        [LIST, LIST],
        7,
        "text",
        None,
        {},
        {"id": 1, "method": "tools/list"},
        LIST | {"jsonrpc": "1.0"},
        LIST | {"jsonrpc": 2.0},
        LIST | {"method": 5},
        {"jsonrpc": "2.0", "id": 1},
        LIST | {"id": True},
        LIST | {"id": 1.5},
        LIST | {"id": []},
        LIST | {"params": [1]},
        LIST | {"params": []},
        LIST | {"params": 0},
        LIST | {"params": "x"},
        {"jsonrpc": "2.0", "id": 1, "result": {}},
        {"jsonrpc": "2.0", "id": 1, "error": {"code": 1, "message": "x"}},
    ],
)
@pytest.mark.parametrize("revision", [None, "2025-11-25", MODERN])
@pytest.mark.spec("s4.1.mcp_body")
def test_what_is_no_single_request_is_refused_in_our_words(
    world: World, people: People, body: Any, revision: str | None
) -> None:
    own = {"MCP-Protocol-Version": revision} if revision else {}
    answer = world.http.post(world.url, content=json.dumps(body), headers=bearer(world.token(people.alice)) | own)
    assert answer.status_code == 400
    assert answer.json()["error"]["code"] == -32600
    assert "pydantic" not in answer.text.lower()


@pytest.mark.parametrize("revision", [None, *sorted(HANDSHAKE_PROTOCOL_VERSIONS)])
@pytest.mark.parametrize(
    ("params", "code"),
    [({}, -32602), ({"name": 5}, -32602), ({"name": "say_words", "arguments": [1]}, -32602)],
)
def test_call_without_a_usable_name_is_a_protocol_error(
    world: World, people: People, params: dict[str, Any], code: int, revision: str | None
) -> None:
    own = {"MCP-Protocol-Version": revision} if revision else {}
    answer = world.post(people.alice, LIST | {"method": "tools/call", "params": params}, **own)
    assert answer.status_code == 200
    assert answer.json()["error"]["code"] == code
    assert "pydantic" not in answer.text.lower()


@pytest.mark.parametrize(
    ("method", "code"),
    [("tools/unknown", -32601), ("", -32601), ("subscriptions/listen", -32601), ("x" * 5000, -32601)],
)
def test_unknown_method_is_a_protocol_error(world: World, people: People, method: str, code: int) -> None:
    answer = world.post(people.alice, LIST | {"method": method})
    assert answer.status_code == 200
    assert answer.json()["error"]["code"] == code


def test_unknown_revision_is_refused_with_the_ones_served(world: World, people: People) -> None:
    body, headers = asked("tools/list", MODERN)
    answer = world.post(people.alice, body, **headers | {"MCP-Protocol-Version": "2031-01-01"})
    assert answer.status_code == 400
    assert answer.json()["error"]["code"] in (-32020, -32022)


def test_notification_is_accepted_without_an_answer(world: World, people: People) -> None:
    answer = world.post(people.alice, {"jsonrpc": "2.0", "method": "notifications/initialized"})
    assert (answer.status_code, answer.content) == (202, b"")


def test_ping_is_answered(world: World, people: People) -> None:
    assert world.post(people.alice, LIST | {"method": "ping"}).json() == {"jsonrpc": "2.0", "id": 1, "result": {}}


@pytest.mark.parametrize("kind", ["text/plain", "application/x-www-form-urlencoded", "application/jsonp", "json"])
def test_other_content_types_are_415(world: World, people: People, kind: str) -> None:
    assert world.post(people.alice, LIST, **{"Content-Type": kind}).status_code == 415


@pytest.mark.parametrize("kind", ["application/json; charset=utf-8", "Application/JSON", " application/json \t"])
def test_content_type_is_read_loosely(world: World, people: People, kind: str) -> None:
    status, _, _ = raw(world, world.token(people.alice), json.dumps(LIST).encode(), {"Content-Type": kind})
    assert status == 200


def test_header_values_may_carry_blanks(world: World, people: People) -> None:
    body, headers = asked("tools/list", MODERN)
    blank = {name: f"{value} \t" for name, value in headers.items()} | {"Content-Type": "application/json "}
    status, _, _ = raw(world, world.token(people.alice) + " ", json.dumps(body).encode(), blank)
    assert status == 200


@pytest.mark.parametrize("announced", [True, False])
def test_body_over_four_mebibytes_is_413(world: World, people: People, announced: bool) -> None:
    big = json.dumps(LIST | {"params": {"_meta": {"x": "y" * (4 << 20)}}}).encode()
    headers = bearer(world.token(people.alice))
    content = big if announced else iter([big[: 1 << 20], big[1 << 20 :]])
    assert world.http.post(world.url, content=content, headers=headers).status_code == 413
    assert world.post(people.alice, LIST).status_code == 200


def test_an_mcp_message_whose_body_does_not_come_is_not_waited_for(
    world: World, people: People, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(streamable_http, "MAX_BODY_SECONDS", 0.2)
    host, port = world.base.removeprefix("http://").split(":")
    head = f"POST /mcp HTTP/1.1\r\nHost: {host}:{port}\r\nAuthorization: Bearer {world.token(people.alice)}\r\n"
    with socket.create_connection((host, int(port)), timeout=90) as line:
        line.sendall(f"{head}Content-Type: application/json\r\nContent-Length: 100\r\n\r\n{{".encode())
        assert line.recv(4096).startswith(b"HTTP/1.1 408 ")
    assert world.post(people.alice, LIST).status_code == 200


def test_body_just_under_the_limit_is_read(world: World, people: People) -> None:
    body = LIST | {"params": {"_meta": {"x": "y" * ((4 << 20) - 200)}}}
    assert world.post(people.alice, body).status_code == 200


def test_caller_who_hangs_up_in_the_middle_harms_nobody(world: World, people: People) -> None:
    connection = http.client.HTTPConnection(world.base.removeprefix("http://"))
    connection.putrequest("POST", "/mcp")
    for name, value in (bearer(world.token(people.alice)) | {"Content-Length": "1000"}).items():
        connection.putheader(name, value)
    connection.endheaders(b'{"jsonrpc"')
    connection.close()
    assert world.post(people.alice, LIST).status_code == 200


def test_crash_of_a_tool_tells_nothing_internal(world: World, people: People) -> None:
    result = world.call(people.alice, "break_down")
    assert result["isError"] is True
    assert result["structuredContent"]["status"] == "internal_error"
    assert "secret detail" not in json.dumps(result)


@pytest.mark.parametrize("revision", REVISIONS)
def test_unknown_tool_is_a_result_that_says_so(world: World, people: People, revision: str) -> None:
    body, headers = asked("tools/call", revision, call("no_such_tool"))
    result = world.post(people.alice, body, **headers).json()["result"]
    assert result["isError"] is True
    assert result["structuredContent"]["status"] == "invalid"


@pytest.mark.parametrize("revision", REVISIONS)
@pytest.mark.parametrize(
    ("arguments", "field"),
    [
        ({}, "text"),
        ({"text": "a", "nonsense": 1}, "nonsense"),
        ({"text": "a", "times": True}, "times"),
        ({"text": "a", "times": 9}, "times"),
        ({"text": 5}, "text"),
    ],
)
@pytest.mark.spec("s4.3.call_params")
def test_bad_argument_is_named_with_what_was_expected(
    world: World, people: People, revision: str, arguments: dict[str, Any], field: str
) -> None:
    body, headers = asked("tools/call", revision, {"name": "say_words", "arguments": arguments})
    result = world.post(people.alice, body, **headers).json()["result"]
    assert result["isError"] is True
    faults = result["structuredContent"]["errors"]
    assert [fault["field"] for fault in faults] == [field]
    assert all(fault["problem"] and fault["expected"] for fault in faults)
    assert "pydantic" not in json.dumps(result)


def test_answers_on_one_connection_do_not_mix(world: World, people: People) -> None:
    token = world.token(people.alice)
    with httpx.Client(trust_env=False) as one:
        for n in range(20):
            body = LIST | {"id": n, "method": "tools/call", "params": call("say_words", text=str(n))}
            answer = one.post(world.url, json=body, headers=bearer(token)).json()
            assert (answer["id"], answer["result"]["structuredContent"]["words"]) == (n, [str(n)])
