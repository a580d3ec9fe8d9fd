"""The documents that describe REST: the list of tools, each tool's page and the OpenAPI 3.1 document, as bytes.

/.well-known/openapi.yaml is served as JSON, which every YAML 1.2 reader can read.
"""

import hashlib
import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from threading import Lock
from typing import Any

from pydantic.json_schema import models_json_schema
from pydantic_core import to_json

from mcp_server.toolkit.argument_schema import Plain
from mcp_server.toolkit.example_arguments import example_arguments
from mcp_server.toolkit.registry import TOOLS, Effect, Tier, Tool
from shared.domain.tool_profiles import AREAS, PROFILES
from shared.errors import PROBLEMS
from shared.services.operations.fact_reports import FIELDS
from shared.settings import VERSION, settings

# The parts of the OpenAPI document that are the same for every tool: keys, headers, outcomes, refusals, pages.

Schema = dict[str, Any]
KEY_IN_EITHER_HEADER: list[dict[str, list[str]]] = [{"bearer": []}, {"header": []}]
SECURITY: dict[str, Schema] = {
    "bearer": {"type": "http", "scheme": "bearer", "description": "An API key, as a bearer token."},
    "header": {"type": "apiKey", "in": "header", "name": "X-API-Key", "description": "An API key."},
}


def info() -> dict[str, Any]:
    return {
        "title": settings().service_name,
        "version": VERSION,
        "description": (
            "Award flights and hotels, points prices, transfer routes, and the account's own cards, balances, trips "
            "and monitors. Every answer begins with status and message. Rows carry their age and source. "
            "no_data means unknown; it is never an estimate. Calls are counted by calendar month."
        ),
    }


def _text(*words: str) -> Schema:
    return {"type": "string", "enum": list(words)} if words else {"type": "string"}


def _object(**properties: Schema) -> Schema:
    """A schema with these fields required, and others allowed."""
    return {"type": "object", "properties": properties, "required": list(properties)}


LABELS = {"data_mode": _text("sandbox"), "notice": _text()}  # on every answer made of invented data


REPORT_LINK = {"report_url": {"type": "string", "format": "uri"}}  # on every answer that states facts


def add_label(schema: Schema, *, with_report: bool = False) -> Schema:
    return {**schema, "properties": {**LABELS, **schema["properties"], **(REPORT_LINK if with_report else {})}}


def _outcome(word: str, **more: Schema) -> Schema:
    return add_label(_object(status=_text(word), message=_text(), **more))


OUTCOMES = ("Candidates", "ConfirmationRequired", "NoData")  # answers other than a tool's result
SCHEMAS: dict[str, Schema] = {
    "Candidates": _outcome("candidates", candidates={"type": "array"}, saved={"type": "boolean"})
    | {"description": "Several things fit; nothing was stored. Call again with one of them."},
    "ConfirmationRequired": _outcome("confirmation_required")
    | {"description": "Nothing was changed. Call again with confirm true."},
    "NoData": _outcome("no_data", missing={"type": "array", "items": _text()})
    | {"description": "Nothing usable is known; nothing is estimated."},
    "CompactAnswer": add_label(_object(status=_text("ok", "partial"), message=_text(), detail=_text("compact")))
    | {"description": "With detail compact: the result, whose rows leave out what is empty or stands in provenance."},
    "Problem": {
        **_object(
            type={"type": "string", "format": "uri-reference"},
            title=_text(),
            status={"type": "integer"},
            detail=_text(),
            outcome=_text(*PROBLEMS),
        ),
        "description": "RFC 9457. outcome is the kind; further fields depend on it.",
    },
}
HEADERS: dict[str, Any] = {
    "RateLimit-Limit": {"description": "Calls the period allows.", "schema": {"type": "integer"}},
    "RateLimit-Remaining": {"description": "Calls left of it.", "schema": {"type": "integer"}},
    "RateLimit-Reset": {"description": "Seconds until it begins again.", "schema": {"type": "integer"}},
}

REFUSALS = tuple(word for word in PROBLEMS if word not in ("no_such_page", "method_not_allowed"))
SEVERAL = {409: "limit_reached"}  # a kind with a second status: a plan's cap does not end by waiting


def statuses(words: list[str]) -> list[int]:
    return sorted({PROBLEMS[word].status for word in words} | SEVERAL.keys())


def refusal(status: int) -> dict[str, str]:
    return {"$ref": f"#/components/responses/Problem{status}"}


def responses() -> dict[str, Any]:
    """A response for each status, with the kinds that have it and one example."""
    by_status = {}
    for status in statuses(list(REFUSALS)):
        words = [word for word in REFUSALS if PROBLEMS[word].status == status or SEVERAL.get(status) == word]
        by_status[f"Problem{status}"] = {
            "description": "; ".join(f"{PROBLEMS[word].title} ({word})" for word in words) + ".",
            "content": {
                "application/problem+json": {
                    "schema": {"$ref": "#/components/schemas/Problem"},
                    "example": _example(words[0], status),
                }
            },
        }
    return by_status


def _example(word: str, status: int) -> dict[str, Any]:
    kind = PROBLEMS[word]
    about = f"{settings().web_url}/problems#{word}"
    return {"type": about, "title": kind.title, "status": status, "detail": kind.meaning, "outcome": word}


def _page(operation: str, summary: str, schema: Schema, *statuses: int, **more: Any) -> dict[str, Any]:
    good = {"description": "As asked.", "content": {"application/json": {"schema": schema}}}
    return {
        "operationId": operation,
        "summary": summary,
        "tags": ["about"],
        "security": [{}, *KEY_IN_EITHER_HEADER],
        **more,
        "responses": {"200": good} | {str(status): refusal(status) for status in statuses},
    }


_TOOL = _object(
    name=_text(),
    title=_text(),
    area=_text(),
    tier=_text("Free", "Paid", "Premium", "Pro", "Admin-only"),
    needs_key={"type": "boolean"},
    description=_text(),
    arguments={"type": "object"},
)


def pages() -> dict[str, Any]:
    """The operations that are not tools."""
    areas = {"name": "areas", "in": "query", "required": False, "description": "Comma list.", "schema": _text()}
    name = {"name": "name", "in": "path", "required": True, "schema": _text()}
    tool_list = _object(tools={"type": "array", "items": _TOOL})
    one = _page("describe_tool", "One tool with its schemas", _TOOL, 401, 404, 429, 503, parameters=[name])
    return {
        "/api/v1/tools": {
            "get": _page("list_tools", "All tools", tool_list, 400, 401, 429, 503, parameters=[areas]),
        },
        "/api/v1/tools/{name}": {"get": one},
        **({"/api/v1/agent/register": {"post": _registration()}} if settings().agents_may_register else {}),
        "/api/v1/facts/report": {"post": _report()},
    }


def _report() -> dict[str, Any]:
    fields = {name: {"type": "string", "maxLength": most} for name, most in FIELDS.items()}
    request = {"type": "object", "properties": fields, "required": ["key", "wrong"], "additionalProperties": False}
    example = {
        "file": "transfer_partners.csv",
        "key": "Chase to Hyatt",
        "wrong": "The ratio is 4:3 with this card since 1 October 2026.",
        "link": "https://issuer.example/terms",
    }
    good = {
        "description": "Stored for the operator.",
        "content": {"application/json": {"schema": _object(message=_text(), report=_text())}},
    }
    return {
        "operationId": "report_fact",
        "summary": "Report a wrong fact",
        "description": "Says which fact is wrong and how: its file, or the tool that stated it. No fact changes by it.",
        "tags": ["about"],
        "security": [{}],
        "x-openai-isConsequential": True,
        "requestBody": {"required": True, "content": {"application/json": {"schema": request, "example": example}}},
        "responses": {"201": good} | {str(s): refusal(s) for s in (400, 408, 413, 415, 422, 429, 503)},
    }


def _registration() -> dict[str, Any]:
    request = _object(agent_name={"type": "string", "minLength": 1, "maxLength": 100})
    response = _object(api_key=_text(), account_id=_text(), claim_code=_text(), api_calls_per_month={"type": "integer"})
    problems = {str(status): refusal(status) for status in (400, 403, 408, 413, 415, 422, 429)}
    content = {"application/json": {"schema": request, "example": {"agent_name": "Trip planner"}}}
    good = {"description": "The key, shown this once.", "content": {"application/json": {"schema": response}}}
    return {
        "operationId": "register_agent",
        "summary": "Get an API key without a person",
        "tags": ["about"],
        "security": [{}],
        "x-openai-isConsequential": True,
        "requestBody": {"required": True, "content": content},
        "responses": {"201": good} | problems,
    }


MAX_DESCRIPTION_CHARACTERS = 300  # of an operation: chat assistants accept no longer one
_REF = re.compile(r'"#/components/(schemas|responses|headers|examples)/([^"]+)"')


@dataclass(frozen=True)
class Document:
    """Bytes ready to send, with their ETag."""

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


_built: dict[tuple[Callable[[str], Document], str], Document] = {}
_building = Lock()


def find_built(build: Callable[[str], Document], name: str) -> Document | None:
    return _built.get((build, name))


def build_once(build: Callable[[str], Document], name: str) -> Document:
    """Builds one document at a time, each once, however many ask at the same time."""
    with _building:
        if (document := find_built(build, name)) is None:
            document = _built[build, name] = build(name)
        return document


@lru_cache(maxsize=64)
def list_tools(areas: frozenset[str]) -> Document:
    tools = [TOOLS[name] for name in sorted(TOOLS) if not areas or TOOLS[name].area in areas]
    return _document(to_json({"tools": [_summary(tool) for tool in tools]}))


def describe_tool(name: str) -> Document:
    tool = TOOLS[name]
    more = {"annotations": tool.hints, "metered": tool.meter, "needs_connection": tool.needs}
    returns = tool.returns.model_json_schema(mode="serialization", schema_generator=Plain)
    return _document(to_json(_summary(tool) | more | {"example": example_arguments(tool), "returns": returns}))


# The OpenAPI document

WHOLE = ""
PARTS = tuple(
    dict.fromkeys((*AREAS, *PROFILES))
)  # other sets of areas would be two million documents, each built for half a second


def document(part: str = WHOLE) -> Document:
    """The OpenAPI document: all operations, or the tools of one of PARTS for hosts that take few operations."""
    names = PROFILES[part][1] if part in PROFILES else {n for n, t in TOOLS.items() if part in (WHOLE, t.area)}
    tools = [TOOLS[name] for name in sorted(names)]
    paths = {} if part else dict(pages())
    paths |= {f"/api/v1/tools/{tool.name}": {"post": operation(tool)} for tool in tools}
    content = {
        "openapi": "3.1.0",
        "info": info(),
        "servers": [{"url": settings().web_url}],
        "security": KEY_IN_EITHER_HEADER,
        "tags": [{"name": area} for area in sorted({tool.area for tool in tools} | (set() if part else {"about"}))],
        "paths": paths,
        "components": _components(paths),
    }
    return _document(to_json(content, indent=1))


def forget_documents() -> None:
    """Drops the documents, so that they are rebuilt from the tools registered then."""
    _built.clear()
    for cache in (_results, list_tools):
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
    return description | ({"security": [{}, *KEY_IN_EITHER_HEADER]} if tool.anonymous else {})


def _shorten(text: str) -> str:
    """Keeps as many whole sentences as fit, then the plan's label, which ends every description."""
    sentences = re.split(r"(?<=\.)\s+", " ".join(text.split()))
    label = sentences.pop()
    opening = ""
    for sentence in sentences:
        if len(opening) + len(sentence) + len(label) + 2 > MAX_DESCRIPTION_CHARACTERS:
            break
        opening += sentence + " "
    return ((opening or " ".join(sentences)[: MAX_DESCRIPTION_CHARACTERS - len(label) - 1] + " ") + label).strip()


def _arguments(tool: Tool) -> Schema:
    """The arguments' schema; definitions move to the components shared by all tools."""
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


def _responses(tool: Tool) -> dict[str, Any]:
    shapes = (_results()[0][tool.name], *(("CompactAnswer",) if tool.condenses else ()), *OUTCOMES)
    outcomes = [{"$ref": f"#/components/schemas/{name}"} for name in shapes]
    good = {
        "description": "The answer; its field status says which of the shapes it is.",
        "headers": {name: {"$ref": f"#/components/headers/{name}"} for name in HEADERS},
        "content": {"application/json": {"schema": {"anyOf": outcomes}}},
    }
    refusals = [word for word in REFUSALS if _possible(word, tool)]
    return {"200": good} | {str(status): refusal(status) for status in statuses(refusals)}


def _possible(word: str, tool: Tool) -> bool:
    if word == "registration_closed":  # no tool registers anybody
        return False
    if word == "paywall":
        return tool.tier is not Tier.ADMIN
    return word != "admin_only" or tool.tier is Tier.ADMIN


@lru_cache(maxsize=1)
def _results() -> tuple[dict[str, str], dict[str, Schema]]:
    """The name of each tool's result schema, and all schemas of results by name.

    Each is named after its class. A test forbids two classes with one name, which would get their modules' names.
    """
    models = [(tool.returns, "serialization") for tool in TOOLS.values()]
    names, whole = models_json_schema(models, ref_template="#/components/schemas/{model}", schema_generator=Plain)  # type: ignore[arg-type]
    schemas: dict[str, Schema] = dict(whole["$defs"])
    result_names = {
        tool.name: names[(tool.returns, "serialization")]["$ref"].rsplit("/", 1)[1] for tool in TOOLS.values()
    }
    reportable = {result_names[tool.name] for tool in TOOLS.values() if tool.takes_reports}
    for name in set(result_names.values()):
        schemas[name] = add_label(schemas[name], with_report=name in reportable)
    return result_names, schemas


def _definitions() -> dict[str, Schema]:
    definitions = dict(_results()[1]) | SCHEMAS
    for tool in TOOLS.values():
        for name, schema in tool.arguments.schema.get("$defs", {}).items():
            definitions[f"{tool.name}_{name}"] = _refer_to_components(schema, tool)
    return definitions


def _components(paths: dict[str, Any]) -> dict[str, Any]:
    """The components the paths refer to, directly or through others."""
    kinds: dict[str, dict[str, Any]] = {
        "schemas": _definitions(),
        "responses": responses(),
        "headers": HEADERS,
        "examples": {},
    }
    reached: set[tuple[str, str]] = set()
    new = _find_refs(paths)
    while new:
        reached |= new
        new = {ref for kind, name in new for ref in _find_refs(kinds[kind][name])} - reached
    used = {kind: {n: all_of[n] for n in sorted(all_of) if (kind, n) in reached} for kind, all_of in kinds.items()}
    return {"securitySchemes": SECURITY} | {kind: schemas for kind, schemas in used.items() if schemas}


def _find_refs(node: Any) -> set[tuple[str, str]]:
    return set(_REF.findall(to_json(node).decode()))
