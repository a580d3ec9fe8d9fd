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
from mcp_server.calls.lean_tools import LEAN_TOOLS
from mcp_server.calls.tool_search import read_words
from mcp_server.rest import openapi
from mcp_server.toolkit.argument_faults import describe_expected
from mcp_server.toolkit.registry import TOOLS, Tool
from mcp_server.toolkit.results import Result
from mcp_server.transport import sdk_server
from tests.mcp_server.tools.contract_shapes import fields_of, members, missing, parse

HERE = Path(__file__).parent
SNAPS = HERE / "snaps"
CONTRACT: dict[str, Any] = tomllib.loads((HERE / "contract.toml").read_text(encoding="utf-8"))
LIST_BYTES = 120_000  # the whole list of 142 tools, compact JSON
MODEL_BYTES = 90_000  # name, description and input schema of all: what a model reads in every conversation
TOOL_MODEL_BYTES = 2_400  # the same of the largest
SCHEMA_BYTES = 8_192  # hosts were seen to drop tools with larger schemas
OPENING = re.compile(r"[A-Z].{18,}\.")


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


def _agreed_parameters(name: str) -> dict[str, Any]:
    properties = {n: _build_schema(p) for n, p in _row(name).get("params", {}).items()}
    return properties | {"which are required": sorted(_row(name)["required"])}


@cache
def _list_tools() -> dict[str, dict[str, Any]]:
    """What a host is told about each tool, as the official SDK puts it on the wire."""
    listed = anyio.run(sdk_server.build().list_tools)
    return {t.name: t.model_dump(mode="json", by_alias=True, exclude_none=True) for t in listed if t.name in TOOLS}


def _compact(value: Any) -> str:
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False)


@pytest.mark.parametrize("name", sorted(TOOLS))
def test_what_a_host_is_told_equals_the_last_review(name: str, pytestconfig: pytest.Config) -> None:
    snap = SNAPS / f"{name}.json"
    now = json.dumps(_list_tools()[name], indent=1, ensure_ascii=False) + "\n"
    if pytestconfig.getoption("snaps") == "write":
        snap.write_text(now, encoding="utf-8")
    assert snap.exists(), f"write it with pytest --snaps=write, read it, commit it: {snap.name}"
    assert snap.read_text(encoding="utf-8") == now


def test_what_a_parameter_expects_is_told_in_words() -> None:
    told = [
        (f"{name}.{parameter}", describe_expected(node))
        for name, tool in _list_tools().items()
        for parameter, node in tool["inputSchema"].get("properties", {}).items()
    ]
    wordless = re.compile(r"[\^\\\[]|another (form|kind)")
    assert [f"{place}: {words}" for place, words in told if wordless.search(words)] == []


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
def test_a_tool_that_is_only_named_exists_under_its_name() -> None:
    assert [name for name in NAMED_ONLY if name not in TOOLS] == []


def test_words_of_the_search_are_of_tools_that_exist() -> None:
    """They stand apart from the tools, so one that is renamed would lose them without a word."""
    words = read_words()
    assert set(words["phrases"]) | set(words["tools"]) <= set(TOOLS)
    assert set(TOOLS) - set(words["phrases"]) == {"get_spending_summary", "import_spending_statement"}


def test_titles_are_names_a_person_can_allow() -> None:
    """A verb and its object, as hosts show them: "Allow Remove a loyalty status?"."""
    titles = [tool.title for tool in TOOLS.values()]
    assert [t for t in titles if len(t) > 40 or re.search(r"[?.,:;!]", t) or not re.match(r"[A-Z][a-z]+ ", t)] == []
    assert len(set(titles)) == len(titles)


@pytest.mark.spec("s1.4.label_in_description")
def test_description_opens_with_a_sentence_and_ends_with_the_label() -> None:
    """How long it may be, tests/evals says."""
    openings = {name: tool.description.splitlines()[0] for name, tool in TOOLS.items()}
    faults = [f"{n}: not one sentence: {first}" for n, first in openings.items() if not OPENING.fullmatch(first)]
    faults += [f"{n}: no label" for n, tool in TOOLS.items() if not tool.description.endswith(f"{tool.tier.label}.")]
    assert faults == []


def _parameters(tool: Tool) -> dict[str, Any]:
    """What the contract says of them: all but their descriptions; the names of those that are required."""
    properties = tool.arguments.schema["properties"].items()
    told = {name: {key: value for key, value in p.items() if key != "description"} for name, p in properties}
    return told | {"which are required": sorted(tool.arguments.required)}


@pytest.mark.spec("s6.1.no_webhooks")
def test_parameters_equal_the_catalogue() -> None:
    faults = []
    for name, tool in TOOLS.items():
        have, agreed = _parameters(tool), _agreed_parameters(name)
        wrong = sorted(n for n in have.keys() | agreed.keys() if have.get(n) != agreed.get(n))
        faults += [f"{name}.{n}: {have.get(n)} is not {agreed.get(n)}" for n in wrong]
    assert faults == []


# What OpenAI's strict mode, Gemini's function declarations and Anthropic's tools all take.
KEYWORDS = {
    *("type", "description", "default", "enum", "format", "pattern", "minLength", "maxLength", "minimum", "maximum"),
    *("items", "minItems", "maxItems", "properties", "required", "additionalProperties"),
}
KINDS = {"string": str, "integer": int, "number": (int, float), "boolean": bool, "array": list, "object": dict}
FORMATS = {"date", "uuid"}
OPEN = {"call_read_tool.arguments", "call_write_tool.arguments"}  # what the tool inside takes, which no schema can say


def _find_schema_faults(node: dict[str, Any], place: str) -> Iterator[str]:
    """What a host or a model would stumble over in a published schema."""
    kind = node.get("type")
    yield from (f"{place}: {word}" for word in node.keys() - KEYWORDS)
    if not isinstance(kind, str) or kind not in KINDS:
        yield f"{place}: type is {kind}"
        return
    values = node.get("enum", ["a value"])
    if (kind != "string" and "enum" in node) or not values or not all(isinstance(v, str) and v for v in values):
        yield f"{place}: enum {values}"
    if "default" in node and not isinstance(node["default"], KINDS[kind]):
        yield f"{place}: default {node['default']}"
    if node.get("format", "date") not in FORMATS or "(?" in node.get("pattern", ""):
        yield f"{place}: {node.get('format')} {node.get('pattern')}"
    if kind == "array":
        yield from _find_schema_faults(node.get("items", {}), f"{place}[]")
    if kind == "object" and place not in OPEN:
        inner = node.get("properties", {})
        if node.get("additionalProperties", False) is not False or ("." in place and not inner):
            yield f"{place}: says not what it holds"
        yield from (f for name, part in inner.items() for f in _find_schema_faults(part, f"{place}.{name}"))


@pytest.mark.spec("s4.1.tool_object", "s4.1.schema_dialect")
def test_input_schema_is_closed_small_and_taken_by_every_model() -> None:
    """Every address and REST publish these: one type, texts to choose from, objects that name what they hold."""
    faults = []
    schemas = [(name, tool.arguments.schema) for name, tool in (TOOLS | LEAN_TOOLS).items()]
    schemas += [(name, openapi._arguments(tool)) for name, tool in TOOLS.items()]
    for name, schema in schemas:
        faults += [f"{name}: open to other arguments"] * (schema["additionalProperties"] is not False)
        faults += [f"{name}: too large"] * (len(_compact(schema).encode()) >= SCHEMA_BYTES)
        faults += _find_schema_faults(schema, name)
    assert faults == []


def test_what_is_listed_of_a_schema_leaves_out_only_what_no_caller_has_to_know() -> None:
    for tool in TOOLS.values():
        whole, listed = tool.arguments.schema, tool.arguments.listed
        assert list(listed["properties"]) == list(whole["properties"])
        assert listed.get("required") == whole.get("required")
        kinds = {name: node["type"] for name, node in whole["properties"].items()}
        assert {name: node["type"] for name, node in listed["properties"].items()} == kinds
    text = _compact([tool.arguments.listed for tool in TOOLS.values()])
    assert re.findall(r'"(?:minLength|maxLength|minItems|maxItems)":|"default":false', text) == []
    run_hour = TOOLS["create_standing_order"].arguments.listed["properties"]["run_hour"]
    assert run_hour == {"type": "integer", "maximum": 23, "description": "In UTC"}
    clear = TOOLS["update_trip"].arguments.listed["properties"]["clear"]
    assert clear["items"] == {"type": "string"}  # its values are the parameters next to it
    slugs = [
        TOOLS[name].arguments.listed["properties"]["program"]
        for name in ("update_points_balance", "delete_points_balance")
    ]
    assert ["enum" in slug for slug in slugs] == [True, False]  # the second says where they come from


@pytest.mark.spec("s4.4.admin.label")
def test_hints_title_tier_and_area_equal_the_catalogue() -> None:
    faults = []
    for name, tool in TOOLS.items():
        row = {"anonymous": False} | _row(name)
        have = {key: getattr(tool, key) for key in ("title", "area", "open_world", "meter", "anonymous")}
        have |= {"tier": tool.tier.label.removesuffix("-only"), "effect": tool.effect.name}
        faults += [f"{name}: {key} is {value}, not {row[key]}" for key, value in have.items() if value != row[key]]
        faults += [f"{name}: is not live"] * (row["data"] == "live" and not tool.live)
    assert faults == []


@pytest.mark.spec("s1.1.structured_results")
def test_result_has_every_field_of_the_catalogue() -> None:
    faults = [f"{name}: returns no Result" for name, tool in TOOLS.items() if not issubclass(tool.returns, Result)]
    for name, tool in TOOLS.items():
        shape = {field: parse(text) for field, text in _row(name)["returns"].items()}
        faults += missing(shape, tool.returns, CONTRACT["types"], name)
    assert faults == []


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


def test_result_fields_are_always_present() -> None:
    """The outcome alone has a default."""
    seen: set[Any] = set()
    records = [record for tool in TOOLS.values() for record in _records(tool.returns, seen)]
    fields = [(record, *field) for record in records for field in getattr(record, "model_fields", {}).items()]
    optional = [(record, name) for record, name, field in fields if not field.is_required()]
    assert [f"{r.__name__}.{n}" for r, n in optional if not (issubclass(r, Result) and n == "status")] == []


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


def test_each_tool_is_tried_by_name_in_the_tests_of_its_file() -> None:
    names = {name: _test_names(tool.function.__module__.rsplit(".", 1)[1]) for name, tool in TOOLS.items()}
    assert [name for name in TOOLS if not any(f"{test}_".startswith(f"test_{name}_") for test in names[name])] == []
