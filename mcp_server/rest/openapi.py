"""What describes REST: the tools go in; the list, each tool's page and the OpenAPI 3.1 document come out as bytes."""

import hashlib
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import timedelta
from functools import lru_cache
from typing import Any

from pydantic.json_schema import models_json_schema
from pydantic_core import to_json

from mcp_server.rest import openapi_components as parts
from mcp_server.toolkit.arguments import Plain
from mcp_server.toolkit.registry import TOOLS, Effect, Tier, Tool
from shared import clock
from shared.settings import settings

Schema = dict[str, Any]
OWN = "mcp_server__tools__"  # how names begin that the schema generator had to tell apart
MOVED = {"sightings__Flights": "flights__Flights"}  # a published name stays when its file gets another name
LONGEST_DESCRIPTION = 300  # chat assistants take no longer one of an operation
_REF = re.compile(r'"#/components/(schemas|responses|headers|examples)/([^"]+)"')


@dataclass(frozen=True)
class Made:
    """One document, ready to be sent."""

    body: bytes
    tag: str


def _made(body: bytes) -> Made:
    return Made(body, f'"{hashlib.sha256(body).hexdigest()[:24]}"')


# The list and one tool's page


def _summary(tool: Tool) -> dict[str, Any]:
    return {
        "name": tool.name,
        "title": tool.title,
        "area": tool.area,
        "tier": tool.tier.label,
        "needs_key": not tool.anonymous,
        "description": tool.description,
        "arguments": tool.arguments.schema,
    }


@lru_cache(maxsize=64)
def listing(areas: frozenset[str]) -> Made:
    return _made(to_json({"tools": [_summary(tool) for tool in _chosen(areas)]}))


@lru_cache(maxsize=256)
def described(name: str) -> Made:
    tool = TOOLS[name]
    more = {"annotations": tool.hints, "metered": tool.meter, "needs_connection": tool.needs}
    returns = tool.returns.model_json_schema(mode="serialization", schema_generator=Plain)
    return _made(to_json(_summary(tool) | more | {"example": example(tool), "returns": returns}))


def _chosen(areas: frozenset[str]) -> list[Tool]:
    return [TOOLS[name] for name in sorted(TOOLS) if not areas or TOOLS[name].area in areas]


# The OpenAPI document


@lru_cache(maxsize=64)
def document(areas: frozenset[str]) -> Made:
    """Everything, or for hosts that take few operations the tools of some areas alone."""
    chosen = _chosen(areas)
    paths = {} if areas else dict(parts.pages())
    paths |= {f"/api/v1/tools/{tool.name}": {"post": operation(tool)} for tool in chosen}
    whole = {
        "openapi": "3.1.0",
        "info": parts.info(),
        "servers": [{"url": settings().web_url}],
        "security": parts.KEY_IN_EITHER_HEADER,
        "tags": [{"name": area} for area in sorted({tool.area for tool in chosen} | (set() if areas else {"about"}))],
        "paths": paths,
        "components": _components(paths),
    }
    return _made("".join(yaml(whole)).encode())


def build() -> None:
    """Makes the whole documents anew, of the tools there are now: at the start, so that no caller waits for them."""
    for cache in (_results, listing, described, document):
        cache.cache_clear()
    document(frozenset())
    listing(frozenset())


def operation(tool: Tool) -> dict[str, Any]:
    made = {
        "operationId": tool.name,
        "summary": tool.title,
        "description": _short(tool.description),
        "tags": [tool.area],
        "x-openai-isConsequential": tool.effect is not Effect.READS,
        "requestBody": {
            "required": bool(tool.arguments.required),
            "content": {"application/json": {"schema": _arguments(tool), "example": example(tool)}},
        },
        "responses": _responses(tool),
    }
    return made | ({"security": [{}, *parts.KEY_IN_EITHER_HEADER]} if tool.anonymous else {})


def _short(text: str) -> str:
    """As many whole sentences as fit, and the plan's label that ends every description."""
    sentences = re.split(r"(?<=\.)\s+", " ".join(text.split()))
    label = sentences.pop()
    kept = ""
    for sentence in sentences:
        if len(kept) + len(sentence) + len(label) + 2 > LONGEST_DESCRIPTION:
            break
        kept += sentence + " "
    return ((kept or " ".join(sentences)[: LONGEST_DESCRIPTION - len(label) - 1] + " ") + label).strip()


def _arguments(tool: Tool) -> Schema:
    """Definitions move to the components, where all tools' are."""
    schema: Schema = {k: v for k, v in tool.arguments.schema.items() if k != "$defs"}
    made: Schema = _renamed(schema, "#/$defs/", f"#/components/schemas/{tool.name}_")
    return made


def _renamed(node: Any, old: str, new: str) -> Any:
    if isinstance(node, dict):
        return {k: v.replace(old, new) if k == "$ref" else _renamed(v, old, new) for k, v in node.items()}
    return [_renamed(v, old, new) for v in node] if isinstance(node, list) else node


def _responses(tool: Tool) -> dict[str, Any]:
    outcomes = [{"$ref": f"#/components/schemas/{name}"} for name in (_result(tool), *parts.OUTCOMES)]
    good = {
        "description": "The answer; its field status says which of the shapes it is.",
        "headers": {name: {"$ref": f"#/components/headers/{name}"} for name in parts.HEADERS},
        "content": {"application/json": {"schema": {"anyOf": outcomes}}},
    }
    refusals = [word for word in parts.REFUSALS if _possible(word, tool)]
    return {"200": good} | {str(status): parts.refusal(status) for status in parts.statuses(refusals)}


def _possible(word: str, tool: Tool) -> bool:
    if word == "paywall":
        return tool.tier is not Tier.ADMIN
    return word != "admin_only" or tool.tier is Tier.ADMIN


@lru_cache(maxsize=1)
def _results() -> tuple[dict[str, str], dict[str, Schema]]:
    """The name of each tool's result, and every schema of a result, told apart where two are named alike."""
    models = [(tool.returns, "serialization") for tool in TOOLS.values()]
    names, whole = models_json_schema(models, ref_template="#/components/schemas/{model}", schema_generator=Plain)  # type: ignore[arg-type]
    schemas = _renamed(whole["$defs"], OWN, "")
    of_tool = {
        tool.name: _published(names[(tool.returns, "serialization")]["$ref"].rsplit("/", 1)[1])
        for tool in TOOLS.values()
    }
    schemas = {_published(name): schema for name, schema in schemas.items()}
    for name in set(of_tool.values()):
        schemas[name] = parts.labelled(schemas[name])
    return of_tool, schemas


def _published(schema_name: str) -> str:
    name = schema_name.removeprefix(OWN)
    return MOVED.get(name, name)


def _result(tool: Tool) -> str:
    return _results()[0][tool.name]


def _definitions() -> dict[str, Schema]:
    found = dict(_results()[1]) | parts.SCHEMAS
    for tool in TOOLS.values():
        for name, schema in tool.arguments.schema.get("$defs", {}).items():
            found[f"{tool.name}_{name}"] = _renamed(schema, "#/$defs/", f"#/components/schemas/{tool.name}_")
    return found


def _components(paths: dict[str, Any]) -> dict[str, Any]:
    """What the paths refer to, directly or through another, and nothing else."""
    kinds: dict[str, dict[str, Any]] = {
        "schemas": _definitions(),
        "responses": parts.responses(),
        "headers": parts.HEADERS,
        "examples": {},
    }
    wanted: set[tuple[str, str]] = set()
    open_ends = _refs(paths)
    while open_ends:
        wanted |= open_ends
        open_ends = {r for kind, name in open_ends for r in _refs(kinds[kind][name])} - wanted
    made = {kind: {n: all_of[n] for n in sorted(all_of) if (kind, n) in wanted} for kind, all_of in kinds.items()}
    return {"securitySchemes": parts.SECURITY} | {kind: chosen for kind, chosen in made.items() if chosen}


def _refs(node: Any) -> set[tuple[str, str]]:
    return set(_REF.findall(to_json(node).decode()))


# Examples: plausible arguments by name, where type and bounds do not give one

BY_NAME: dict[str, Any] = {
    "airline": "BA",
    "card": "Chase Sapphire Preferred",
    "destination": "JFK",
    "flight_number": "BA117",
    "from_program": "chase-ultimate-rewards",
    "name": "Japan in spring",
    "origin": "LHR",
    "points_needed": 60000,
    "program": "flying-blue",
    "target_program": "flying-blue",
}


def example(tool: Tool) -> dict[str, Any]:
    """The required arguments with values the tool accepts."""
    properties = tool.arguments.schema["properties"]
    return {name: _value(name, properties[name]) for name in tool.arguments.required}


def _value(name: str, schema: Schema) -> Any:
    if "enum" in schema:
        return schema["enum"][0]
    if name in BY_NAME:
        return BY_NAME[name]
    if pattern := schema.get("pattern"):
        return next((text for text in _forms() if re.fullmatch(pattern, text)), "Something")
    kind = schema.get("type", "string")
    if kind == "array":
        return [_value(name, schema.get("items", {}))] * schema.get("minItems", 0)
    plain = {"integer": schema.get("minimum", 1), "number": 100, "boolean": True, "object": {}}
    return plain.get(kind if isinstance(kind, str) else kind[0], "Something")


def _forms() -> tuple[str, ...]:
    """Texts of the forms parameters have: codes, days, months, times, identifiers."""
    day = (clock.today() + timedelta(days=60)).isoformat()
    return ("LHR", "BA", "BA117", day, day[:7], "07:30", "3f2a64c8-7a3e-4d7a-9c40-2f0d5b9c1e11", "#0055aa", "2027")


# YAML, the few forms of it a tree of plain values needs: blocks, and JSON's own scalars


def yaml(node: Any, depth: int = 0) -> Iterator[str]:
    pad = "  " * depth
    items: Iterable[tuple[str, Any]] = (
        ((f"{pad}{_key(k)}:", v) for k, v in node.items()) if isinstance(node, dict) else ((f"{pad}-", v) for v in node)
    )
    for head, value in items:
        if isinstance(value, dict | list) and value:
            yield f"{head}\n"
            yield from yaml(value, depth + 1)
        else:
            yield f"{head} {to_json(value).decode()}\n"


_PLAIN_KEY = re.compile(r"[A-Za-z_$][A-Za-z0-9_$-]*")
_WORDS = frozenset({"true", "false", "null", "yes", "no", "on", "off", "y", "n"})


def _key(name: str) -> str:
    return name if _PLAIN_KEY.fullmatch(name) and name.lower() not in _WORDS else to_json(name).decode()
