"""Pages of the web host call tools of the tool server for the person who is signed in: what that costs and leaves."""

import asyncio
import json
from collections.abc import Callable
from typing import Any

import anyio
import httpx
import pytest
from sqlalchemy import func, select

from auth_server.accounts.accounts import create_account
from auth_server.oauth import page_tokens
from auth_server.pages.tool_calls import read_faults
from auth_server.web import tool_server
from auth_server.web.tool_server import Answer, ToolCall, ToolServer
from mcp_server.calls.dispatch import dispatch
from mcp_server.calls.usage import USAGE_LOG
from mcp_server.rest import page_calls
from mcp_server.rest.page_calls import MAX_BODY_BYTES
from shared.db.base import transaction
from shared.db.oauth import AccessToken, Client, Family, WebSession
from shared.db.usage import ToolCall as NotedCall
from shared.internal_api import DRAW_FLIGHTS, MAX_PAGE_CALLS, PAGE_CALLS_PATH, Endpoint
from shared.secrets import digest
from tests.auth_server.in_process_browser import PASSWORD, hidden
from tests.mcp_server.rest.conftest import World


@pytest.fixture
def ann(world: World) -> World:
    """Signed in with a browser's cookie."""
    with transaction() as session:
        create_account(session, "ann@example.test", PASSWORD)
    fields = {"csrf": hidden(world.get("/signin").text, "csrf"), "return_to": "", "email": "ann@example.test"}
    assert world.http.post(f"{world.url}/signin", data=fields | {"password": PASSWORD}).status_code == 303
    return world


def issue(ann: World, *, read_only: bool = True) -> str:
    with transaction() as session:
        row = session.get_one(WebSession, digest(ann.http.cookies["award"]))
        return page_tokens.issue(row, read_only=read_only)


def call_all(*calls: ToolCall) -> list[Answer]:
    async def ask() -> list[Answer]:
        server = ToolServer()
        try:
            return await asyncio.gather(*(server.call(call) for call in calls))
        finally:
            await server.close()

    return anyio.run(ask)


def count_rows(*tables: Any) -> list[int]:
    USAGE_LOG.flush()
    with transaction() as session:
        return [session.scalar(select(func.count()).select_from(table)) or 0 for table in tables]


def test_what_a_person_looks_at_uses_no_call_and_leaves_no_row(ann: World, configure: Any) -> None:
    configure(TOOL_CALLS_PER_DAY="1")
    token = issue(ann)
    for _ in range(3):
        answers = call_all(*(ToolCall(token, tool) for tool in ("get_portfolio", "list_route_monitors", "get_usage")))
        assert [answer.status for answer in answers] == ["ok", "ok", "ok"]
    assert answers[2]["tool_calls"]["used_today"] == 0
    assert count_rows(NotedCall, Family, AccessToken, Client) == [0, 0, 0, 0]


def test_a_change_counts_as_an_assistants_does(ann: World, configure: Any) -> None:
    configure(TOOL_CALLS_PER_DAY="1")
    token = issue(ann, read_only=False)
    saved = ToolCall(token, "update_points_balance", {"program": "united-mileageplus", "balance": 62340})
    assert [answer.status for answer in (*call_all(saved), *call_all(saved))] == ["ok", "limit_reached"]
    assert count_rows(NotedCall) == [2]


def test_a_look_can_change_nothing(ann: World) -> None:
    (answer,) = call_all(ToolCall(issue(ann), "update_points_balance", {"program": "united-mileageplus", "balance": 1}))
    assert answer.status == "invalid"
    assert call_all(ToolCall(issue(ann), "list_points_balances"))[0]["balances"] == []


def test_a_live_search_of_a_page_is_a_search(ann: World) -> None:
    terms = {"airline": "UA", "origin": "LAX", "destination": "NRT", "date": "2026-12-20", "cabin": "economy"}
    (answer,) = call_all(ToolCall(issue(ann), "search_availability", terms))
    assert answer.is_good, answer
    assert call_all(ToolCall(issue(ann), "get_usage"))[0]["searches"]["used_today"] == 1
    assert count_rows(NotedCall) == [1]


def test_the_token_ends_at_once_when_the_person_signs_out(ann: World) -> None:
    token = issue(ann)
    assert call_all(ToolCall(token, "get_usage"))[0].is_good
    csrf = hidden(ann.get("/dashboard").text, "csrf")
    ann.http.post(f"{ann.url}/signout", data={"csrf": csrf})
    assert wait_until(lambda: not call_all(ToolCall(token, "get_usage"))[0])


def wait_until(is_so: Callable[[], bool]) -> bool:
    """The event goes through Valkey: far sooner than the half minute for which a token is cached."""
    return any(is_so() for _ in range(200))


def test_one_that_does_not_answer_leaves_the_others(ann: World, monkeypatch: pytest.MonkeyPatch) -> None:
    token, send = issue(ann), ToolServer._send

    async def hang(server: ToolServer, call: ToolCall) -> Answer:
        if call.tool == "get_portfolio":
            await anyio.sleep_forever()
        return await send(server, call)

    monkeypatch.setattr(ToolServer, "_send", hang)
    silent, good = call_all(ToolCall(token, "get_portfolio", seconds=0.2), ToolCall(token, "get_usage"))
    assert (silent.status, good.status) == ("unanswered", "ok")
    assert read_faults(silent)[""].startswith("The service did not answer in time")


LOOKS = ("get_profile", "list_trips", "update_points_balance", "no_such_tool", "list_route_monitors", "list_trips")


def test_looks_of_one_page_are_one_request_with_the_answers_each_has_alone(
    ann: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    token, requests, send = issue(ann), list[str](), httpx.AsyncClient.send

    async def count(client: httpx.AsyncClient, request: httpx.Request, **more: Any) -> httpx.Response:
        requests.append(request.url.path)
        return await send(client, request, **more)

    monkeypatch.setattr(httpx.AsyncClient, "send", count)
    together = call_all(*(ToolCall(token, tool, is_look=True) for tool in LOOKS))
    assert [path for path in requests if path != "/oauth/introspect"] == [PAGE_CALLS_PATH]
    assert [answer.status for answer in together] == ["ok", "ok", "invalid", "invalid", "ok", "ok"]
    assert json.dumps(together) == json.dumps(call_all(*(ToolCall(token, tool) for tool in LOOKS)))
    many = call_all(*(ToolCall(token, "get_usage", is_look=True) for _ in range(2 * MAX_PAGE_CALLS)))
    assert all(answer.is_good for answer in many)


def test_a_look_that_hangs_leaves_those_asked_with_it(ann: World, monkeypatch: pytest.MonkeyPatch) -> None:
    async def hang(name: str, *more: Any) -> Any:
        if name == "get_portfolio":
            await anyio.sleep_forever()
        return await dispatch(name, *more)

    monkeypatch.setattr(page_calls, "dispatch", hang)
    token = issue(ann)
    slow = ToolCall(token, "get_portfolio", seconds=0.5, is_look=True)
    assert [a.status for a in call_all(slow, ToolCall(token, "get_usage", is_look=True))] == ["unanswered", "ok"]


@pytest.mark.parametrize("path", ["", "/"])
def test_a_tool_server_that_refuses_or_breaks_off_answers_nothing(
    ann: World, monkeypatch: pytest.MonkeyPatch, path: str
) -> None:
    """An address where no such request is answered, and one that is none."""
    monkeypatch.setattr(tool_server, "page_calls_endpoint", lambda _: Endpoint(f"{ann.mcp_url}{path}x", {}))
    assert call_all(*(ToolCall(issue(ann), tool, is_look=True) for tool in ("get_usage", "list_trips"))) == [{}, {}]


def test_only_a_page_that_looks_asks_several_tools_at_once(ann: World) -> None:
    def ask(token: str, body: Any) -> int:
        headers = {"Authorization": f"Bearer {token}"}
        return ann.http.post(f"{ann.url}{PAGE_CALLS_PATH}", json=body, headers=headers).status_code

    one = {"calls": [{"name": "get_usage"}]}
    look = issue(ann)
    assert ask(look, one) == 200
    assert [ask(token, one) for token in ("x", "awt_ak_" + "0" * 43, "awt_at_" + "0" * 43)] == [405, 405, 405]
    assert [
        ask(issue(ann, read_only=False), one),
        ask(look[:-1] + ("1" if look[-1] == "0" else "0"), one),
        ask(look[:-9], one),
    ] == [403, 401, 401]
    too_many = {"calls": one["calls"] * (MAX_PAGE_CALLS + 1)}
    unreadable: list[Any] = [{}, [], {"calls": []}, too_many, {"calls": [{"name": 1}]}, {**one, "plan": "pro"}]
    assert {ask(look, body) for body in unreadable} == {400}
    assert ask(look, {"calls": [{"name": "get_usage", "arguments": {"text": "x" * MAX_BODY_BYTES}}]}) == 400


def test_a_tool_server_that_is_away_answers_nothing(ann: World, monkeypatch: pytest.MonkeyPatch) -> None:
    async def refuse(*_: Any, **__: Any) -> httpx.Response:
        raise httpx.ConnectError("away")

    monkeypatch.setattr(httpx.AsyncClient, "post", refuse)
    assert call_all(ToolCall(issue(ann), "get_usage")) == [{}]


def test_faults_stand_at_the_fields_they_are_about(ann: World) -> None:
    wrong = {"program": "united-mileageplus", "balance": -1, "expires_on": "soon"}
    (answer,) = call_all(ToolCall(issue(ann, read_only=False), "update_points_balance", wrong))
    assert {*read_faults(answer)} == {"balance", "expires_on"}


def test_the_map_of_flights_comes_with_the_looks_of_a_page(ann: World) -> None:
    token, ends = issue(ann), {"departs_at": "2027-03-12T11:15", "arrives_at": "2027-03-13T15:10"}
    flights = [{"origin": "SFO", "destination": "NRT", **ends}, {"origin": "NRT", "destination": "QQQ"}]
    drawn, wrong, none = call_all(
        ToolCall(token, DRAW_FLIGHTS, {"flights": flights}, is_look=True),
        ToolCall(token, DRAW_FLIGHTS, {"flights": [{"origin": "SFO"}]}, is_look=True),
        ToolCall(token, DRAW_FLIGHTS, {"flights": []}, is_look=True),
    )
    assert drawn["map"].startswith("<svg")
    first, second = drawn["flights"]
    assert (first["origin_city"], first["destination_city"]) == ("San Francisco", "Tokyo")
    assert first["minutes"] == 10 * 60 + 55
    assert 5_000 < first["miles"] < 5_300
    assert second == {"origin_city": "Tokyo", "destination_city": "QQQ", "miles": None, "minutes": None}
    assert wrong.status == "invalid_input"
    assert none["map"] == ""
