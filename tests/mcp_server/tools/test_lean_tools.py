"""The lean address: a small list, a search that finds the rest, and calls by name that count as the tool inside."""

import json
from dataclasses import replace
from typing import Any

import pytest

from mcp_server.calls.lean_tools import LEAN_TOOLS
from mcp_server.calls.usage import USAGE_LOG
from mcp_server.rest import openapi
from mcp_server.toolkit.registry import TOOLS
from shared.domain.mcp_addresses import ADDRESSES
from shared.domain.plans import Plan
from shared.domain.tool_profiles import CORE
from tests.evals.requests import load_requests
from tests.evals.selection import answers_of
from tests.mcp_server.tools.hosts import ask, call, list_tools
from tests.support.people import People

LEAN = "/mcp/lean"
MODEL_BYTES = 20_000  # 5,000 tokens, at four bytes each
READ, WRITE = "call_read_tool", "call_write_tool"


def read_notes() -> list[tuple[str, str]]:
    """Tool and outcome of each call since the test began."""
    return [(note.tool, note.outcome) for note in USAGE_LOG.pending]


def find(people: People, query: str, **arguments: Any) -> list[dict[str, Any]]:
    tools: list[dict[str, Any]] = call(LEAN, people.alice, "find_tools", query=query, **arguments)["tools"]
    return tools


def test_the_list_is_a_core_and_three_tools_of_its_own_in_less_than_five_thousand_tokens() -> None:
    tools = list_tools(LEAN)
    assert list(tools) == sorted({*CORE, *LEAN_TOOLS})
    assert TOOLS.keys() >= CORE
    seen = [{name: tool[name] for name in ("name", "description", "inputSchema")} for tool in tools.values()]
    size = len(json.dumps(seen, separators=(",", ":"), ensure_ascii=False).encode())
    assert size < MODEL_BYTES
    assert all(name in tools["find_tools"]["description"].split() for name in TOOLS)


def test_the_hints_of_the_three_are_true() -> None:
    tools = list_tools(LEAN)
    hints = {name: tools[name]["annotations"] for name in LEAN_TOOLS}
    assert [hints[name]["readOnlyHint"] for name in ("find_tools", READ, WRITE)] == [True, True, False]
    assert [hints[name]["destructiveHint"] for name in ("find_tools", READ, WRITE)] == [False, False, True]


@pytest.mark.parametrize("path", sorted(set(ADDRESSES) - {LEAN}))
def test_no_other_address_has_the_three(path: str, people: People) -> None:
    assert not LEAN_TOOLS.keys() & list_tools(path).keys()
    for name in LEAN_TOOLS:
        assert "is not a tool of this server" in call(path, people.alice, name, name="list_trips")["message"]


def test_neither_the_catalogue_nor_the_rest_interface_has_them() -> None:
    assert not LEAN_TOOLS.keys() & TOOLS.keys()
    assert not any(name in openapi.document().body.decode() for name in LEAN_TOOLS)


def test_the_search_gives_name_line_and_schema_of_at_most_five(people: People) -> None:
    found = find(people, "delete_trip, which I no longer need")
    assert 0 < len(found) <= 5
    by_name = {tool["name"]: tool for tool in found}
    delete = by_name["delete_trip"]
    assert delete["does"] == TOOLS["delete_trip"].description.splitlines()[0]
    assert delete["input_schema"] == TOOLS["delete_trip"].arguments.listed
    assert (delete["call_with"], delete["tier"]) == (WRITE, "Free")
    assert {tool["call_with"] for tool in find(people, "list trips")} <= {READ, WRITE}


def test_the_search_keeps_to_an_area(people: People) -> None:
    assert {TOOLS[tool["name"]].area for tool in find(people, "list", area="lounges")} == {"lounges"}
    refused = call(LEAN, people.alice, "find_tools", query="list", area="lounge")
    assert refused["status"] == "invalid"
    assert "nearest: lounges" in refused["message"]


def test_the_search_finds_a_tool_by_its_name_and_says_when_it_finds_none(people: People) -> None:
    assert find(people, "import_spending_statement")[0]["name"] == "import_spending_statement"
    nothing = call(LEAN, people.alice, "find_tools", query="xyzzy")
    assert (nothing["status"], nothing["tools"]) == ("ok", [])
    assert call(LEAN, people.alice, "find_tools", query="a" * 1001)["status"] == "invalid"


def test_the_search_answers_as_the_evals_measure(people: People) -> None:
    answers = {answer.request.id: answer.first_five for answer in answers_of("hundred", "find_tools")}
    asked = [request for request in load_requests() if request.id in answers][::9]
    assert len(asked) > 10
    for request in asked:
        assert tuple(tool["name"] for tool in find(people, request.text)) == answers[request.id]


def test_calls_by_name_answer_and_count_as_the_tool_inside(people: People) -> None:
    made = call(LEAN, people.alice, WRITE, name="create_trip", arguments={"name": "Kyoto"})
    assert made["status"] == "ok"
    listed = call(LEAN, people.alice, READ, name="list_trips")
    assert listed == call("/mcp", people.alice, "list_trips")
    assert [trip["name"] for trip in listed["trips"]] == ["Kyoto"]
    assert read_notes() == [("create_trip", "ok"), ("list_trips", "ok"), ("list_trips", "ok")]
    find(people, "trips")
    assert read_notes()[-1] == ("find_tools", "ok")


def test_arguments_may_be_json_text_as_some_hosts_send_them(people: People) -> None:
    assert call(LEAN, people.alice, WRITE, name="create_trip", arguments='{"name": "Oslo"}')["status"] == "ok"


def test_faulty_arguments_are_answered_as_the_tool_inside_answers(people: People) -> None:
    inside = call(LEAN, people.alice, WRITE, name="create_trip", arguments={"title": "Kyoto"})
    assert inside == call("/mcp", people.alice, "create_trip", title="Kyoto")
    assert inside["status"] == "invalid"
    assert read_notes() == [("create_trip", "invalid")] * 2
    assert call(LEAN, people.alice, READ, arguments={})["status"] == "invalid"
    assert read_notes()[-1] == (READ, "invalid")


def test_a_tool_that_changes_something_is_not_run_as_reading(people: People) -> None:
    refused = call(LEAN, people.alice, READ, name="create_trip", arguments={"name": "Kyoto"})
    assert refused["status"] == "invalid"
    assert (
        refused["message"]
        == "create_trip changes data, so call_read_tool does not run it. Call it with call_write_tool."
    )
    assert call("/mcp", people.alice, "list_trips")["trips"] == []


def test_a_tool_that_only_reads_may_be_run_by_either(people: People) -> None:
    assert call(LEAN, people.alice, WRITE, name="list_trips")["status"] == "ok"


def test_who_may_only_read_finds_and_reads_and_changes_nothing(people: People) -> None:
    reader = replace(people.alice, read_only=True)
    assert call(LEAN, reader, "find_tools", query="trips")["status"] == "ok"
    assert call(LEAN, reader, READ, name="list_trips")["status"] == "ok"
    refused = call(LEAN, reader, WRITE, name="create_trip", arguments={"name": "Kyoto"})
    assert (refused["status"], "this application may only read" in refused["message"]) == ("invalid", True)


def test_plans_and_administration_are_those_of_the_tool_inside(people: People) -> None:
    free = replace(people.alice, plan=Plan.FREE)
    assert call(LEAN, free, READ, name="list_client_portfolios")["status"] == "paywall"
    assert call(LEAN, people.alice, READ, name="admin_list_users")["status"] == "admin_only"
    assert call(LEAN, people.ada, READ, name="admin_list_users")["status"] == "ok"


def test_searches_are_charged_as_the_tool_inside(people: People) -> None:
    free = replace(people.alice, plan=Plan.FREE)
    search = {"origin": "LHR", "destination": "JFK", "date": "2027-03-01"}
    first = call(LEAN, free, READ, name="search_all_airlines", arguments=search)
    second = call("/mcp", free, "search_all_airlines", **search)
    assert first["status"] in ("ok", "partial")
    assert second["searches_left_today"] == first["searches_left_today"] - 1


@pytest.mark.parametrize(
    ("name", "nearest"), [("list_my_card", "list_my_cards"), ("delay_airport_alerts", "delay_alert"), ("zzz", "")]
)
def test_unknown_names_are_answered_with_the_nearest(people: People, name: str, nearest: str) -> None:
    refused = call(LEAN, people.alice, READ, name=name)
    assert refused["status"] == "invalid"
    assert "is not a tool of this server" in refused["message"]
    assert nearest in refused["message"]


@pytest.mark.parametrize("name", [READ, WRITE])
def test_calls_by_name_do_not_run_each_other(people: People, name: str) -> None:
    refused = call(LEAN, people.alice, READ, name=name, arguments={"name": "list_trips"})
    assert (refused["status"], "cannot be run itself" in refused["message"]) == ("invalid", True)


def test_a_tool_may_be_called_by_its_own_name_too(people: People) -> None:
    assert call(LEAN, people.alice, "list_my_vouchers")["status"] == "ok"
    assert ask(LEAN, "tools/call", people.alice, name="nothing", arguments={})["isError"]
