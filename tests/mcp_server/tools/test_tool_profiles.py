"""The profiles and areas that have addresses: every tool is somewhere, and no address has more than hosts take."""

import json
from collections import Counter
from collections.abc import Iterator
from typing import Any

import pytest

from mcp_server.calls.dispatch import MAX_CHARACTERS
from mcp_server.toolkit.registry import TOOLS
from shared.domain.mcp_addresses import ADDRESSES, find_address
from shared.domain.tool_profiles import AREAS, MAX_TOOLS, PROFILES
from tests.mcp_server.tools.hosts import ask, call, list_tools
from tests.support.people import People

LISTS = [*ADDRESSES, "/mcp/x/vouchers,cards", "/mcp/x/search,trips,status,transfers"]
MAX_SCHEMA_BYTES = 16_384  # of a schema; one web host leaves out tools with larger ones
MAX_NAME = 64  # characters; longer names break some hosts
# What OpenAI's strict mode, Gemini and Anthropic all take. Over one word more, hosts were seen to lose the whole list.
WORDS = {
    *("type", "description", "default", "properties", "required", "additionalProperties", "items", "enum", "format"),
    *("pattern", "minimum", "maximum", "minLength", "maxLength", "minItems", "maxItems"),
}
KINDS = {"string", "integer", "number", "boolean", "array", "object"}
FORMATS = {None, "date", "uuid"}


def test_every_tool_is_in_a_profile_and_every_name_there_is_a_tool() -> None:
    assert frozenset().union(*(tools for _, tools in PROFILES.values())) == TOOLS.keys()


def test_the_areas_and_their_sizes_are_those_of_the_catalogue() -> None:
    assert Counter(tool.area for tool in TOOLS.values()) == AREAS


@pytest.mark.parametrize("name", sorted(PROFILES.keys() & AREAS.keys()))
def test_a_profile_with_the_name_of_an_area_has_all_of_it(name: str) -> None:
    assert {tool.name for tool in TOOLS.values() if tool.area == name} <= PROFILES[name][1]


@pytest.mark.parametrize("path", [path for path in LISTS if "/x/" in path])
def test_a_part_lists_its_tools_and_at_most_forty(path: str) -> None:
    address = find_address(path)
    assert address is not None
    names = list(list_tools(path))
    assert names == sorted(name for name in TOOLS if address.offers(name, TOOLS[name].area, reads=True))
    assert 0 < len(names) <= MAX_TOOLS


def test_a_profile_runs_what_it_lists_and_nothing_else(people: People) -> None:
    assert call("/mcp/x/keeper", people.alice, "list_my_cards")["status"] == "ok"
    refused = call("/mcp/x/keeper", people.alice, "list_trips")
    assert (refused["status"], "list_trips is not offered at /mcp/x/keeper" in refused["message"]) == ("invalid", True)
    nearest = call("/mcp/x/keeper", people.alice, "list_my_card")
    assert "nearest: list_my_cards" in nearest["message"]
    assert "list_trips" not in nearest["message"]


@pytest.mark.parametrize("path", LISTS)
def test_hosts_take_every_tool_of_the_list(path: str) -> None:
    answer = ask(path, "tools/list")
    assert "nextCursor" not in answer  # one host reads the first page only
    for tool in answer["tools"]:
        assert "outputSchema" not in tool  # hosts were seen to refuse results over it
        assert len(tool["name"]) <= MAX_NAME
        assert len(str(tool["inputSchema"]).encode()) <= MAX_SCHEMA_BYTES


def _walk(schema: dict[str, Any], where: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """The schema and all those in it, each with its place."""
    yield where, schema
    inner = [*schema.get("properties", {}).items(), *((w, schema.get(w)) for w in ("items", "additionalProperties"))]
    for name, node in inner:
        if isinstance(node, dict):
            yield from _walk(node, f"{where}.{name}")


@pytest.mark.parametrize("path", LISTS)
def test_a_schema_holds_only_what_every_host_takes(path: str) -> None:
    for name, tool in list_tools(path).items():
        for where, node in _walk(tool["inputSchema"], name):
            assert set(node) <= WORDS, where
            assert isinstance(node["type"], str), where
            assert node["type"] in KINDS, where
            assert node.get("format") in FORMATS, where
            assert ("items" in node) == (node["type"] == "array"), where
            assert "enum" not in node or node["type"] == "string", where
            assert all(isinstance(value, str) and value for value in node.get("enum", ())), where
            assert "(?" not in node.get("pattern", ""), where  # strict modes take no looking around


@pytest.mark.parametrize("path", LISTS)
def test_what_a_tool_names_as_its_screen_is_read_at_each_address(path: str, people: People) -> None:
    tools = ask(path, "tools/list")["tools"]
    screens = {tool["_meta"]["ui"]["resourceUri"] for tool in tools if "ui" in tool["_meta"]}
    assert len(screens) == len(
        {tool.screen for tool in map(TOOLS.get, [tool["name"] for tool in tools]) if tool and tool.screen}
    )
    for uri in screens:
        [content] = ask(path, "resources/read", people.alice, uri=uri)["contents"]
        assert content["text"].startswith("<!doctype html>")


FAR = "2027-03-01"
HEAVIEST: list[tuple[str, dict[str, Any]]] = [
    ("search_all_airlines", {"origin": "LHR", "destination": "JFK", "date": FAR, "flex_days": 3, "limit": 100}),
    ("search_monthly_availability", {"airline": "BA", "origin": "LHR", "destination": "JFK", "month": "2027-03"}),
    ("search_hotels", {"destination": "London", "check_in_date": FAR, "check_out_date": "2027-03-05", "per_page": 100}),
    ("list_programs", {"kind": "all", "per_page": 100}),
    ("list_supported_airlines", {"endpoint": "all_airlines"}),
    ("search_card_catalog", {"per_page": 100}),
    ("get_airports", {"airline": "BA", "per_page": 100}),
    ("list_transfer_partners", {"program": "amex-membership-rewards"}),
    ("whats_on_sale", {}),
    ("recommend_cards", {"limit": 10}),
]


@pytest.mark.parametrize(("name", "arguments"), HEAVIEST, ids=[name for name, _ in HEAVIEST])
def test_the_heaviest_calls_stay_below_what_hosts_cut(people: People, name: str, arguments: dict[str, Any]) -> None:
    result = ask("/mcp", "tools/call", people.alice, name=name, arguments=arguments)
    assert result["structuredContent"]["status"] in ("ok", "partial"), result["structuredContent"]["message"]
    assert sum(len(block["text"]) for block in result["content"] if block["type"] == "text") <= MAX_CHARACTERS
    assert len(json.dumps(result["structuredContent"], ensure_ascii=False)) <= MAX_CHARACTERS
