"""All that the author of a tool imports: the decorator, the call's context, parameter types, results, refusals."""

from mcp_server.toolkit.context import ANONYMOUS, Call, CallBase, Caller, LiveCall, RowsNeeded
from mcp_server.toolkit.registry import TOOLS, Detail, Effect, Tier, Tool, UnknownArea, parse_areas, tool
from mcp_server.toolkit.results import NO_DATA, Added, Marked, Money, NoDataWord, Paging, Part, Result, TotalValue

__all__ = [
    "ANONYMOUS",
    "NO_DATA",
    "TOOLS",
    "Added",
    "Call",
    "CallBase",
    "Caller",
    "Detail",
    "Effect",
    "LiveCall",
    "Marked",
    "Money",
    "NoDataWord",
    "Paging",
    "Part",
    "Result",
    "RowsNeeded",
    "Tier",
    "Tool",
    "TotalValue",
    "UnknownArea",
    "parse_areas",
    "tool",
]
