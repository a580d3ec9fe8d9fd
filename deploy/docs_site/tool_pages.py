"""The pages about tools and plans, written from the catalogue and the limits that the server answers with."""

import html
from collections.abc import Iterator, Sequence

import mcp_server.tools  # noqa: F401 - registers the tools
from mcp_server.pages.tool_reference import ToolEntry, describe_tool, name_area, select_tools
from mcp_server.toolkit.registry import TOOLS
from shared.domain.plans import LIMITS, Plan
from shared.domain.tool_profiles import AREAS, PROFILES

SITE = "http://127.0.0.1:8000"
_LIMITS = {
    "searches_per_day": "Searches a day",
    "results": "Results of a search",
    "active_trips": "Active trips",
    "route_monitors": "Route monitors",
    "flight_alerts": "Flight alerts",
    "delay_alerts": "Delay alerts",
    "standing_orders": "Standing orders",
    "tool_calls_per_day": "Tool calls a day",
    "api_calls_per_month": "REST calls a month",
}


def write_areas() -> str:
    """The areas with their tools, and the profiles."""
    rows = [
        (
            f"[{name_area(area)}](tools/{area}.md)",
            f"`{area}`",
            ", ".join(f"`{tool.name}`" for tool in select_tools(area)),
        )
        for area in AREAS
    ]
    profiles = [(f"`/mcp/x/{name}`", str(len(tools))) for name, tools in PROFILES.items()]
    areas = write_table(("Area", "Its word", "Tools"), rows)
    return f"{len(TOOLS)} tools in {len(AREAS)} areas:\n\n{areas}\n\nProfiles:\n\n" + write_table(
        ("Address", "Tools"), profiles
    )


def write_plans() -> str:
    """The limits of each plan."""
    rows = [
        (title, *(_format_limit(getattr(LIMITS[plan], field)) for plan in Plan)) for field, title in _LIMITS.items()
    ]
    return write_table(("", *(plan.slug.title() for plan in Plan)), rows)


def _format_limit(value: int | None) -> str:
    return "no limit" if value is None else f"{value:,}"


def write_tool_pages() -> Iterator[tuple[str, str]]:
    """The place and the text of each area's page."""
    for area in AREAS:
        parts = [f"# {name_area(area)}", *(_write_tool(describe_tool(tool, SITE)) for tool in select_tools(area))]
        yield f"tools/{area}.md", "\n\n".join(parts) + "\n"


def _write_tool(entry: ToolEntry) -> str:
    parts = [f"## {entry.tool.name}", f"*{entry.title}*", f"**{entry.tool.tier.label}** · {entry.effect}", entry.about]
    if entry.arguments:
        rows = [
            (
                f"`{row.name}`",
                row.kind + ("; **required**" if row.required else ""),
                html.escape(row.about, quote=False),
            )
            for row in entry.arguments
        ]
        parts.append(write_table(("Argument", "What may stand there", "Meaning"), rows))
    else:
        parts.append("It takes no arguments.")
    parts.append(_write_block("json", "Over MCP", entry.mcp))
    parts.append(_write_block("sh", "Over REST", entry.rest))
    parts.append(_write_block("sh", "By command", entry.command))
    return "\n\n".join(parts)


def _write_block(language: str, title: str, text: str) -> str:
    return f'```{language} title="{title}"\n{html.unescape(text)}\n```'


def write_table(titles: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A table in Markdown; a bar or a line break in a cell would end the cell."""
    lines = [titles, ["---"] * len(titles), *([_write_cell(cell) for cell in row] for row in rows)]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def _write_cell(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ")
