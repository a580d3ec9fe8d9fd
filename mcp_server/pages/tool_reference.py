"""GET /tools and /tools/AREA: the reference of all tools for people, made from the server's registry."""

import html
import json
import shlex
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from markupsafe import Markup
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from mcp_server.calls.tool_search import find_phrases
from mcp_server.pages.public_pages import PublicPage, prepare_page, redirect_to_site, send_page
from mcp_server.pages.templates import render_page
from mcp_server.toolkit.example_arguments import example_arguments
from mcp_server.toolkit.registry import TOOLS, Effect, Tool
from shared import clock
from shared.domain.plans import Plan, Tier
from shared.domain.tool_profiles import AREAS
from shared.settings import settings

PATH, BY_PLAN = "/tools", "/tools/by-plan"
_EFFECTS = {
    Effect.READS: "changes nothing",
    Effect.ADDS: "adds",
    Effect.FILES: "files",
    Effect.CHANGES: "changes or deletes",
    Effect.REPLACES: "replaces",
}
# What people ask for, the area that answers, and its drawing.
VERBS = (
    ("Find seats", "Business to Tokyo in March for two, with the points I have?", "search", "search"),
    ("Watch a route", "Tell me when two seats to Lisbon open in May.", "alerts", "watches"),
    ("Count what you hold", "What are my points worth, and what ends soon?", "balances", "wallet"),
    ("Move points", "How do I get 60,000 points to Flying Blue?", "transfers", "swap"),
    ("Compare with money", "Is 45,000 points a good price for this flight?", "pricing", "money"),
    ("Plan a trip", "London and back in April, seven nights, for two.", "trips", "trips"),
    ("Keep bookings", "File this confirmation, and tell me what is missing.", "bookings", "mail"),
    ("Choose a card", "Which card earns most on what I spend?", "cards", "ticket"),
    ("Use credits and vouchers", "Which credits end this month?", "vouchers", "star"),
    ("Reach a status", "How many nights are left to Globalist?", "status", "shield"),
    ("Check a hotel", "Did the price of my stay fall?", "hotels", "bed"),
    ("Work for clients", "Make a document of these three flights for a client.", "advisor", "clients"),
)
_KINDS = {"string": "text", "integer": "whole number", "boolean": "true or false"}
Schema = Mapping[str, Any]


@dataclass(frozen=True)
class ArgumentRow:
    """One argument as a row of the table."""

    name: str
    kind: str
    required: bool
    about: str


@dataclass(frozen=True)
class ToolEntry:
    """One tool as its part of the page."""

    tool: Tool
    effect: str
    phrases: Markup
    about: Markup
    arguments: list[ArgumentRow]
    mcp: Markup
    rest: Markup
    command: Markup


async def serve_list(request: Request) -> Response:
    if moved := redirect_to_site(request):
        return moved
    query = request.query_params.get("q", "").strip()[:60]
    site = settings().web_url
    return send_page(request, prepare_page(_write_list(site, query)) if query else _build_list(site))


async def serve_plans(request: Request) -> Response:
    return redirect_to_site(request) or send_page(request, _build_plans(settings().web_url))


async def serve_area(request: Request) -> Response:
    area = request.path_params["area"]
    if area not in AREAS:
        raise HTTPException(404)
    return redirect_to_site(request) or send_page(
        request, _build_area(area, settings().web_url, clock.today().isoformat())
    )


@lru_cache(maxsize=2)
def _build_list(site: str) -> PublicPage:
    return prepare_page(_write_list(site, ""))


def _write_list(site: str, query: str) -> str:
    """Lists tools with all words of the query in their name, title, phrases or area."""
    words = query.lower().split()
    texts = {
        tool.name: f"{tool.name} {tool.title} {find_phrases(tool.name)} {tool.area}".lower() for tool in TOOLS.values()
    }
    fitting = {name for name, text in texts.items() if all(word in text for word in words)}
    lists = [(area, name_area(area), [tool for tool in select_tools(area) if tool.name in fitting]) for area in AREAS]
    facts = {"count": len(TOOLS), "found": len(fitting), "query": query, "site": site, "path": PATH, "verbs": VERBS}
    return render_page("tools.html", areas=[part for part in lists if part[2]], **facts)


@lru_cache(maxsize=2)
def _build_plans(site: str) -> PublicPage:  # noqa: ARG001 - links of the frame name it
    return prepare_page(render_page("tools_by_plan.html", groups=group_by_plan(), path=PATH, own_path=BY_PLAN))


def group_by_plan() -> list[tuple[str, str, list[Tool]]]:
    """The tools each plan adds to the one below it, and last those of administrators: anchor, heading, tools."""
    groups = []
    tools = sorted(TOOLS.values(), key=lambda tool: tool.name)
    for plan in Plan:
        added = [tool for tool in tools if tool.tier is not Tier.ADMIN and tool.tier.needs is plan]
        groups.append((plan.slug, plan.slug.title(), added))
    groups.append(("administrators", "Administrators only", [tool for tool in tools if tool.tier is Tier.ADMIN]))
    return [group for group in groups if group[2]]


@lru_cache(maxsize=64)
def _build_area(area: str, site: str, day: str) -> PublicPage:  # noqa: ARG001 - examples name days that are to come
    entries = [describe_tool(tool, site) for tool in select_tools(area)]
    areas = [(name, name_area(name)) for name in AREAS]
    return prepare_page(
        render_page("tools_area.html", area=area, title=name_area(area), entries=entries, areas=areas, path=PATH)
    )


def select_tools(area: str) -> list[Tool]:
    return [TOOLS[name] for name in sorted(TOOLS) if TOOLS[name].area == area]


def name_area(area: str) -> str:
    return area.replace("_", " ").capitalize()


def describe_tool(tool: Tool, site: str) -> ToolEntry:
    """Describes a tool for the page; `site` is the address for its REST example."""
    example = example_arguments(tool)
    required = set(tool.arguments.required)
    properties: Mapping[str, Schema] = tool.arguments.schema["properties"]
    rows = [_describe_argument(name, node, name in required) for name, node in properties.items()]
    about = tool.description.removesuffix(f"{tool.tier.label}.").strip()
    key = [] if tool.anonymous else ['-H "Authorization: Bearer $KEY"']
    body = shlex.quote(json.dumps(example, ensure_ascii=False))
    rest_text = " ".join(
        ("curl", *key, "-H 'Content-Type: application/json' -d", body, f"{site}/api/v1/tools/{tool.name}")
    )
    return ToolEntry(
        tool,
        _EFFECTS[tool.effect],
        _escape(find_phrases(tool.name)),
        _escape(about),
        sorted(rows, key=lambda row: not row.required),
        _escape(json.dumps({"name": tool.name, "arguments": example}, ensure_ascii=False)),
        _escape(rest_text),
        _escape(_write_command(tool, example)),
    )


def _escape(text: str) -> Markup:
    """Escapes text between tags. Quotes stay: examples are full of them."""
    return Markup(html.escape(text, quote=False))  # noqa: S704 - escaped here


def _describe_argument(name: str, node: Schema, required: bool) -> ArgumentRow:
    parts = [str(node.get("description", ""))]
    if "default" in node:
        parts.append(f"Otherwise {json.dumps(node['default'])}.")
    return ArgumentRow(name, _describe_kind(node), required, " ".join(filter(None, parts)))


def _describe_kind(node: Schema) -> str:
    """Describes the allowed value in a few words: "whole number, 1 to 9"."""
    if values := node.get("enum"):
        return " or ".join(filter(None, (", ".join(values[:-1]), values[-1])))
    if "items" in node:
        return f"list, each {_describe_kind(node['items'])}"
    if node.get("format") == "date":
        return "day, YYYY-MM-DD"
    words = _KINDS.get(node["type"], str(node["type"]))
    low, high = (node.get(bound) for bound in ("minimum", "maximum"))
    if low is not None and high is not None:
        return f"{words}, {low:,} to {high:,}"
    return f"{words}, at least {low:,}" if low is not None else words


def _write_command(tool: Tool, example: Mapping[str, Any]) -> str:
    words = ["award-travel", "call", tool.name]
    for name, value in example.items():
        words.append(f"--{name.replace('_', '-')}")
        words += map(_write_word, value if isinstance(value, list) else [value])
    return " ".join(words)


def _write_word(value: Any) -> str:
    return shlex.quote(value if isinstance(value, str) else json.dumps(value))


def routes() -> list[Route]:
    return [Route(PATH, serve_list), Route(BY_PLAN, serve_plans), Route(PATH + "/{area}", serve_area)]
