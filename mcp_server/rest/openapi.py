"""The documents that describe REST: the list of tools, each tool's page and the OpenAPI 3.1 document, as bytes.

/.well-known/openapi.yaml is served as JSON text, which is YAML 1.2 as well: every reader of YAML reads it.
"""

import hashlib
import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from pydantic.json_schema import models_json_schema
from pydantic_core import to_json

from mcp_server.rest import openapi_components as parts
from mcp_server.toolkit.argument_schema import Plain
from mcp_server.toolkit.example_arguments import example_arguments
from mcp_server.toolkit.registry import TOOLS, Effect, Tier, Tool
from shared.settings import settings

Schema = dict[str, Any]
MOVED = {"sightings__Flights": "flights__Flights"}  # a published name stays when its file gets another name
MAX_DESCRIPTION_CHARACTERS = 300  # of an operation: chat assistants take no longer one
_REF = re.compile(r'"#/components/(schemas|responses|headers|examples)/([^"]+)"')


@dataclass(frozen=True)
class Document:
    """Bytes ready to be sent, with their ETag."""

    body: bytes
    tag: str


def _document(body: bytes) -> Document:
    return Document(body, f'"{hashlib.sha256(body).hexdigest()[:24]}"')


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
def list_tools(areas: frozenset[str]) -> Document:
    return _document(to_json({"tools": [_summary(tool) for tool in _select(areas)]}))


@lru_cache(maxsize=256)
def describe_tool(name: str) -> Document:
    tool = TOOLS[name]
    more = {"annotations": tool.hints, "metered": tool.meter, "needs_connection": tool.needs}
    returns = tool.returns.model_json_schema(mode="serialization", schema_generator=Plain)
    return _document(to_json(_summary(tool) | more | {"example": example_arguments(tool), "returns": returns}))


def _select(areas: frozenset[str]) -> list[Tool]:
    return [TOOLS[name] for name in sorted(TOOLS) if not areas or TOOLS[name].area in areas]


# The OpenAPI document


@lru_cache(maxsize=64)
def document(areas: frozenset[str]) -> Document:
    """The OpenAPI document: all operations, or the tools of some areas for hosts that take few operations."""
    tools = _select(areas)
    paths = {} if areas else dict(parts.pages())
    paths |= {f"/api/v1/tools/{tool.name}": {"post": operation(tool)} for tool in tools}
    content = {
        "openapi": "3.1.0",
        "info": parts.info(),
        "servers": [{"url": settings().web_url}],
        "security": parts.KEY_IN_EITHER_HEADER,
        "tags": [{"name": area} for area in sorted({tool.area for tool in tools} | (set() if areas else {"about"}))],
        "paths": paths,
        "components": _components(paths),
    }
    return _document(to_json(content, indent=1))


def forget_documents() -> None:
    """From here on they are built again, from the tools registered then.

    Each is built for anyone who asks first, on a thread: at the start all together took half a second of two, and 10
    MB.
    """
    for cache in (_results, list_tools, describe_tool, document):
        cache.cache_clear()


def operation(tool: Tool) -> dict[str, Any]:
    description = {
        "operationId": tool.name,
        "summary": tool.title,
        "description": _shorten(tool.description),
        "tags": [tool.area],
        "x-openai-isConsequential": tool.effect is not Effect.READS,
        "requestBody": {
            "required": bool(tool.arguments.required),
            "content": {"application/json": {"schema": _arguments(tool), "example": example_arguments(tool)}},
        },
        "responses": _responses(tool),
    }
    return description | ({"security": [{}, *parts.KEY_IN_EITHER_HEADER]} if tool.anonymous else {})


def _shorten(text: str) -> str:
    """As many whole sentences as fit, then the label of the plan that ends every description."""
    sentences = re.split(r"(?<=\.)\s+", " ".join(text.split()))
    label = sentences.pop()
    opening = ""
    for sentence in sentences:
        if len(opening) + len(sentence) + len(label) + 2 > MAX_DESCRIPTION_CHARACTERS:
            break
        opening += sentence + " "
    return ((opening or " ".join(sentences)[: MAX_DESCRIPTION_CHARACTERS - len(label) - 1] + " ") + label).strip()


def _arguments(tool: Tool) -> Schema:
    """Definitions move to the components, where all tools' are."""
    schema = {k: v for k, v in tool.arguments.schema.items() if k != "$defs"}
    if tool.condenses:  # over REST answers are whole unless asked otherwise
        properties = schema["properties"]
        schema["properties"] = properties | {"detail": properties["detail"] | {"default": "full"}}
    return _refer_to_components(schema, tool)


def _refer_to_components(schema: Schema, tool: Tool) -> Schema:
    prefix = f"#/components/schemas/{tool.name}_"
    changed: Schema = _rename_refs(schema, lambda ref: ref.replace("#/$defs/", prefix))
    return changed


def _rename_refs(node: Any, rename: Callable[[str], str]) -> Any:
    if isinstance(node, dict):
        return {k: rename(v) if k == "$ref" else _rename_refs(v, rename) for k, v in node.items()}
    return [_rename_refs(v, rename) for v in node] if isinstance(node, list) else node


def _published_name(name: str) -> str:
    """Without the module path of models named alike: `mcp_server__tools__cards__Removed` becomes `cards__Removed`."""
    short = "__".join(name.split("__")[-2:])
    return MOVED.get(short, short)


def _published_ref(ref: str) -> str:
    path, _, name = ref.rpartition("/")
    return f"{path}/{_published_name(name)}"


def _responses(tool: Tool) -> dict[str, Any]:
    shapes = (_result(tool), *(("CompactAnswer",) if tool.condenses else ()), *parts.OUTCOMES)
    outcomes = [{"$ref": f"#/components/schemas/{name}"} for name in shapes]
    good = {
        "description": "The answer; its field status says which of the shapes it is.",
        "headers": {name: {"$ref": f"#/components/headers/{name}"} for name in parts.HEADERS},
        "content": {"application/json": {"schema": {"anyOf": outcomes}}},
    }
    refusals = [word for word in parts.REFUSALS if _possible(word, tool)]
    return {"200": good} | {str(status): parts.refusal(status) for status in parts.statuses(refusals)}


def _possible(word: str, tool: Tool) -> bool:
    if word == "registration_closed":  # no tool registers anybody
        return False
    if word == "paywall":
        return tool.tier is not Tier.ADMIN
    return word != "admin_only" or tool.tier is Tier.ADMIN


@lru_cache(maxsize=1)
def _results() -> tuple[dict[str, str], dict[str, Schema]]:
    """The name of each tool's result schema, and all schemas of results by name."""
    models = [(tool.returns, "serialization") for tool in TOOLS.values()]
    names, whole = models_json_schema(models, ref_template="#/components/schemas/{model}", schema_generator=Plain)  # type: ignore[arg-type]
    schemas = {_published_name(name): _rename_refs(schema, _published_ref) for name, schema in whole["$defs"].items()}
    assert len(schemas) == len(whole["$defs"]), "two schemas of the same module and name"
    result_names = {
        tool.name: _published_name(names[(tool.returns, "serialization")]["$ref"].rsplit("/", 1)[1])
        for tool in TOOLS.values()
    }
    reportable = {result_names[tool.name] for tool in TOOLS.values() if tool.takes_reports}
    for name in set(result_names.values()):
        schemas[name] = parts.add_label(schemas[name], with_report=name in reportable)
    return result_names, schemas


def _result(tool: Tool) -> str:
    return _results()[0][tool.name]


def _definitions() -> dict[str, Schema]:
    definitions = dict(_results()[1]) | parts.SCHEMAS
    for tool in TOOLS.values():
        for name, schema in tool.arguments.schema.get("$defs", {}).items():
            definitions[f"{tool.name}_{name}"] = _refer_to_components(schema, tool)
    return definitions


def _components(paths: dict[str, Any]) -> dict[str, Any]:
    """The components the paths refer to, directly or through others."""
    kinds: dict[str, dict[str, Any]] = {
        "schemas": _definitions(),
        "responses": parts.responses(),
        "headers": parts.HEADERS,
        "examples": {},
    }
    reached: set[tuple[str, str]] = set()
    new = _find_refs(paths)
    while new:
        reached |= new
        new = {ref for kind, name in new for ref in _find_refs(kinds[kind][name])} - reached
    used = {kind: {n: all_of[n] for n in sorted(all_of) if (kind, n) in reached} for kind, all_of in kinds.items()}
    return {"securitySchemes": parts.SECURITY} | {kind: schemas for kind, schemas in used.items() if schemas}


def _find_refs(node: Any) -> set[tuple[str, str]]:
    return set(_REF.findall(to_json(node).decode()))
