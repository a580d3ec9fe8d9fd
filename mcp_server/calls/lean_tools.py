"""The tools that only the lean address has: one finds tools of the catalogue by words, two run them by name."""

import re
from typing import Annotated, Any, NamedTuple

from pydantic import AfterValidator, Field, WithJsonSchema

from mcp_server.calls.tool_search import prepare_search
from mcp_server.toolkit import TOOLS, Effect, LiveCall, Part, Result, Tier, Tool, tool
from shared.domain.mcp_addresses import McpAddress
from shared.domain.tool_profiles import AREAS
from shared.errors import Fault, Invalid

LEAN_TOOLS: dict[str, Tool] = {}
MAX_RESULTS = 5
Query = Annotated[str, Field(min_length=1, max_length=1000, description="What is to be done, in the person's words.")]
Name = Annotated[str, Field(min_length=1, max_length=64, description="Of a tool, as find_tools gives it.")]
Inner = Annotated[dict[str, Any], Field(description="What its input_schema asks for.")]


def _check_area(value: str) -> str:
    if value not in AREAS:
        raise ValueError("is no area")
    return value


Area = Annotated[
    str,
    AfterValidator(_check_area),
    WithJsonSchema({"type": "string", "enum": list(AREAS), "description": "Only tools of this area."}),
]


class FoundTool(Part):
    """A tool, and which of the two runs it."""

    name: str
    does: str
    tier: str
    call_with: str
    input_schema: dict[str, Any]


class FoundTools(Result):
    tools: list[FoundTool]


@tool("search", Tier.FREE, Effect.READS, "Find the tool for a task", catalogue=LEAN_TOOLS)
async def find_tools(call: LiveCall, query: Query, area: Area | None = None) -> FoundTools:  # noqa: ARG001
    """Finds the tools for a task, at most five, with what they take, or says that none of them fits.

    Use the person's own words in any language, or the name of a tool listed below. Ask it before saying that something
    cannot be done. Free.
    """
    named = [name for name in re.findall(r"[a-z0-9_]+", query.lower()) if name in TOOLS]
    search = prepare_search(tuple(sorted(TOOLS)))
    names = dict.fromkeys([*named, *(search.rank(query) if area else search.find(query))])
    matches = [TOOLS[name] for name in names if area in (None, TOOLS[name].area)][:MAX_RESULTS]
    if not matches:
        words = "None of these tools fits. If it is about points, miles or travel with them, ask in other words."
        return FoundTools(message=words, tools=[])
    words = "These may help, the first fits best; each names how it is run. If none does, this service cannot do it."
    return FoundTools(message=words, tools=[_describe(t) for t in matches])


@tool("search", Tier.FREE, Effect.READS, "Run a tool", open_world=True, catalogue=LEAN_TOOLS)
async def call_read_tool(call: LiveCall, name: Name, arguments: Inner | None = None) -> Result:
    """Runs a tool that only reads, by the name find_tools gave. Counts as a call of that tool. Free."""
    raise NotImplementedError  # the gate unwraps it and runs the inner tool


@tool("search", Tier.FREE, Effect.REPLACES, "Run a tool that changes something", open_world=True, catalogue=LEAN_TOOLS)
async def call_write_tool(call: LiveCall, name: Name, arguments: Inner | None = None) -> Result:
    """Runs a tool that stores, changes or deletes, by the name find_tools gave. Counts as a call of that tool. Free."""
    raise NotImplementedError


_OPENED = {call_read_tool.__name__: True, call_write_tool.__name__: False}  # and whether it runs only what reads


class Opened(NamedTuple):
    name: str
    arguments: dict[str, Any]


def open_call(name: str, raw_arguments: dict[str, Any], address: McpAddress) -> Opened:
    """The call inside a call by name, at the lean address; every other call unchanged.

    Raises Invalid for faulty arguments, and for a tool that changes something where only reading was asked for.
    """
    if not address.finds or name not in _OPENED:
        return Opened(name, raw_arguments)
    arguments = LEAN_TOOLS[name].arguments.check(raw_arguments)
    inner = str(arguments["name"])
    if inner in _OPENED:
        raise Invalid(Fault("name", "runs others and cannot be run itself", "the tool that is to run"))
    if _OPENED[name] and inner in TOOLS and not TOOLS[inner].reads:
        refusal = Invalid(Fault("name", "changes data", "a tool that reads, or call_write_tool"))
        refusal.message = f"{inner} changes data, so call_read_tool does not run it. Call it with call_write_tool."
        raise refusal
    return Opened(inner, arguments["arguments"] or {})


def find_tool(name: str, address: McpAddress) -> Tool | None:
    lean = LEAN_TOOLS.get(name) if address.finds else None
    return lean or TOOLS.get(name)


def find_similar(name: str) -> list[str]:
    """Three tools that share words with an unknown name."""
    return prepare_search(tuple(sorted(TOOLS))).rank(name[:64].replace("_", " "))[:3]


def list_catalogue() -> str:
    """The names of all tools by area, for the description of the search: knowing the name saves the search."""
    areas: dict[str, list[str]] = {}
    for name in sorted(TOOLS):
        areas.setdefault(TOOLS[name].area, []).append(name)
    return "\n".join(f"{area}: {' '.join(names)}" for area, names in sorted(areas.items()))


def _describe(match: Tool) -> FoundTool:
    return FoundTool(
        name=match.name,
        does=match.description.splitlines()[0],
        tier=match.tier.label,
        call_with=(call_read_tool if match.reads else call_write_tool).__name__,
        input_schema=match.arguments.listed,
    )
