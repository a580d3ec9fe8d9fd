"""The parts of the OpenAPI document that are the same for every tool: keys, headers, outcomes, refusals, pages."""

from typing import Any

from shared.errors import PROBLEMS
from shared.services.operations.fact_reports import FIELDS
from shared.settings import VERSION, settings

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
    """All of them always present, and others may be."""
    return {"type": "object", "properties": properties, "required": list(properties)}


LABELS = {"data_mode": _text("sandbox"), "notice": _text()}  # on every answer made of invented data


REPORT_LINK = {"report_url": {"type": "string", "format": "uri"}}  # on every answer that states facts


def add_label(schema: Schema, *, with_report: bool = False) -> Schema:
    return {**schema, "properties": {**LABELS, **schema["properties"], **(REPORT_LINK if with_report else {})}}


def _outcome(word: str, **more: Schema) -> Schema:
    return add_label(_object(status=_text(word), message=_text(), **more))


OUTCOMES = ("Candidates", "ConfirmationRequired", "NoData")  # answers besides a tool's own result
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
    """One for each status, which names the kinds that have it and shows one."""
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
    listed = _object(tools={"type": "array", "items": _TOOL})
    one = _page("describe_tool", "One tool with its schemas", _TOOL, 401, 404, 429, 503, parameters=[name])
    return {
        "/api/v1/tools": {
            "get": _page("list_tools", "All tools", listed, 400, 401, 429, 503, parameters=[areas]),
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
