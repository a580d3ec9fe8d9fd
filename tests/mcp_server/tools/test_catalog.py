"""Every registered tool compared with the contract, its reviewed snapshot and the limits of hosts."""

import ast
import json
import re
import tomllib
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import anyio
import pytest

import mcp_server.tools  # noqa: F401 - registers every tool
from mcp_server.toolkit.argument_faults import describe_expected
from mcp_server.toolkit.registry import TOOLS, Effect, Tier, Tool
from mcp_server.toolkit.results import Result
from mcp_server.transport import sdk_server
from tests.mcp_server.tools.contract_shapes import fields_of, members, missing, parse

HERE = Path(__file__).parent
SNAPS = HERE / "snaps"
CONTRACT: dict[str, Any] = tomllib.loads((HERE / "contract.toml").read_text(encoding="utf-8"))
LIST_BYTES = 135_000  # the whole list of 142 tools, compact JSON
MODEL_BYTES = 100_000  # name, description and input schema of all: what a model reads in every conversation
TOOL_MODEL_BYTES = 2_400  # the same of the largest
SCHEMA_BYTES = 8_192  # hosts were seen to drop tools with larger schemas
HINTS = ("readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint")
DEFAULTS_ALLOWED = {(Result, "status")}

each_tool = pytest.mark.parametrize("tool", [pytest.param(t, id=n) for n, t in sorted(TOOLS.items())])


def _row(name: str) -> dict[str, Any]:
    row: dict[str, Any] = CONTRACT["tools"][name]
    return row


def _build_schema(parameter: dict[str, Any]) -> dict[str, Any]:
    """A parameter of the contract as JSON Schema: its named enums written out."""
    out = dict(parameter)
    if isinstance(name := out.get("enum"), str):
        out["enum"] = CONTRACT["enums"][name.removeprefix("@")]
    if "items" in out:
        out["items"] = _build_schema(out["items"])
    return out


def _expected_schema(name: str) -> dict[str, Any]:
    properties = {n: _build_schema(p) for n, p in _row(name).get("params", {}).items()}
    return {"type": "object", "properties": properties, "required": _row(name)["required"]}


@cache
def _list_tools() -> dict[str, dict[str, Any]]:
    """What a host is told about each tool, as the official SDK puts it on the wire."""
    listed = anyio.run(sdk_server.build().list_tools)
    return {t.name: t.model_dump(mode="json", by_alias=True, exclude_none=True) for t in listed if t.name in TOOLS}


def _compact(value: Any) -> str:
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False)


@each_tool
def test_what_a_host_is_told_equals_the_last_review(tool: Tool, pytestconfig: pytest.Config) -> None:
    snap = SNAPS / f"{tool.name}.json"
    now = json.dumps(_list_tools()[tool.name], indent=1, ensure_ascii=False) + "\n"
    if pytestconfig.getoption("snaps") == "write":
        snap.write_text(now, encoding="utf-8")
    assert snap.exists(), f"write it with pytest --snaps=write, read it, commit it: {snap.name}"
    assert snap.read_text(encoding="utf-8") == now


@each_tool
def test_what_a_parameter_expects_is_told_in_words(tool: Tool) -> None:
    properties = _list_tools()[tool.name]["inputSchema"].get("properties", {})
    told = [describe_expected(node) for node in properties.values()]
    assert not [words for words in told if re.search(r"[\^\\\[]|another (form|kind)", words)]


@pytest.mark.spec("s9.3.grows_without_client_change")
def test_no_reviewed_tool_has_gone() -> None:
    assert {p.stem for p in SNAPS.glob("*.json")} == set(TOOLS)


# Tools the specification mentions in passing and does not describe.
NAMED_ONLY = (
    *("list_my_cards", "list_voucher_types", "list_my_vouchers", "list_trips", "list_flight_bookings", "get_hotel"),
    *("list_hotel_bookings", "list_lounge_visits", "log_lounge_visit", "list_notifications", "list_points_balances"),
    *("mark_notifications_read", "list_delay_alerts", "update_delay_alert", "list_flight_alerts", "list_flights"),
    *("update_flight_alert", "search_all_airlines"),
)


@pytest.mark.spec("s1.1.catalogue_of_142")
def test_the_catalogue_is_whole() -> None:
    assert set(TOOLS) == set(CONTRACT["tools"])
    assert len(TOOLS) == 142


@pytest.mark.spec("s4.4.names_only.exist")
@pytest.mark.parametrize("name", NAMED_ONLY)
def test_a_tool_that_is_only_named_exists_under_its_name(name: str) -> None:
    assert name in TOOLS


@pytest.mark.spec("s6.1.no_webhooks")
@each_tool
def test_no_tool_takes_an_address_to_call_back(tool: Tool) -> None:
    parameters = _list_tools()[tool.name]["inputSchema"].get("properties", {})
    assert not [name for name in parameters if re.search("webhook|callback|subscri", name)]


@each_tool
def test_name_is_lower_snake_case(tool: Tool) -> None:
    assert re.fullmatch(r"[a-z][a-z0-9_]{0,63}", tool.name)


@pytest.mark.spec("s1.4.label_in_description")
@each_tool
def test_description_opens_with_a_sentence_and_ends_with_the_label(tool: Tool) -> None:
    first = tool.description.splitlines()[0]
    assert re.fullmatch(r"[A-Z].*\.", first), f"not one sentence: {first}"
    assert tool.description.endswith(f"{tool.tier.label}.")
    assert 20 <= len(tool.description) <= 1_500


@each_tool
def test_parameters_equal_the_catalogue(tool: Tool) -> None:
    have = {
        n: {k: v for k, v in p.items() if k != "description"} for n, p in tool.arguments.schema["properties"].items()
    }
    assert have == _expected_schema(tool.name)["properties"]
    assert sorted(tool.arguments.required) == sorted(_row(tool.name)["required"])


@pytest.mark.spec("s4.1.tool_object", "s4.1.schema_dialect")
@each_tool
def test_input_schema_is_closed_plain_and_small(tool: Tool) -> None:
    text = _compact(tool.arguments.schema)
    assert tool.arguments.schema["additionalProperties"] is False
    assert tool.arguments.schema.get("required", []) == tool.arguments.required
    # Unions, and words of older dialects; a parameter may be called title.
    words = r'"(anyOf|oneOf|allOf|nullable)":|"title":"'
    assert not re.search(words, text)
    assert len(text.encode()) < SCHEMA_BYTES


@each_tool
def test_hints_title_tier_and_area_equal_the_catalogue(tool: Tool) -> None:
    row = _row(tool.name)
    assert (tool.title, tool.area, tool.tier.label.removesuffix("-only")) == (row["title"], row["area"], row["tier"])
    assert (tool.effect, tool.open_world) == (Effect[row["effect"]], row["open_world"])
    assert (tool.meter, tool.anonymous) == (row["meter"], row.get("anonymous", False))
    assert tool.live or row["data"] != "live"


@pytest.mark.spec("s4.4.admin.label")
@each_tool
def test_admin_tools_are_named_so_and_no_others(tool: Tool) -> None:
    assert tool.name.startswith("admin_") == (tool.tier is Tier.ADMIN)


@pytest.mark.spec("s1.1.structured_results")
@each_tool
def test_result_has_every_field_of_the_catalogue(tool: Tool) -> None:
    assert issubclass(tool.returns, Result)
    shape = {name: parse(text) for name, text in _row(tool.name)["returns"].items()}
    assert list(missing(shape, tool.returns, CONTRACT["types"], tool.name)) == []


def _records(kind: Any, seen: set[Any]) -> Iterator[Any]:
    for member in members(kind):
        if member in seen:
            continue
        seen.add(member)
        arguments = getattr(member, "__args__", ())
        for inside in arguments if fields_of(member) is None else (fields_of(member) or {}).values():
            yield from _records(inside, seen)
        if fields_of(member) is not None:
            yield member


@each_tool
def test_result_fields_are_always_present(tool: Tool) -> None:
    for record in _records(tool.returns, set()):
        for name, field in getattr(record, "model_fields", {}).items():
            assert field.is_required() or (Result, name) in DEFAULTS_ALLOWED, f"{record.__name__}.{name} has a default"


def test_the_whole_list_stays_affordable() -> None:
    listed = _list_tools().values()
    seen = [len(_compact({k: tool[k] for k in ("name", "description", "inputSchema")}).encode()) for tool in listed]
    assert len(_compact(list(listed)).encode()) <= LIST_BYTES
    assert sum(seen) <= MODEL_BYTES
    assert max(seen) <= TOOL_MODEL_BYTES


@cache
def _test_names(noun: str) -> frozenset[str]:
    """The tests in the files that bear the noun of a tool file."""
    trees = [ast.parse(p.read_text(encoding="utf-8")) for p in HERE.glob(f"test_{noun}*.py")]
    functions = (ast.FunctionDef, ast.AsyncFunctionDef)
    return frozenset(n.name for tree in trees for n in ast.walk(tree) if isinstance(n, functions))


@each_tool
def test_each_tool_is_tried_by_name_in_the_tests_of_its_file(tool: Tool) -> None:
    names = _test_names(tool.function.__module__.rsplit(".", 1)[1])
    assert any(n == f"test_{tool.name}" or n.startswith(f"test_{tool.name}_") for n in names)
