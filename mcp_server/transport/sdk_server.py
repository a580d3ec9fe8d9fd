"""The official SDK's server with our tools: the SDK speaks the protocol, the gate answers every call."""

from typing import Any

from mcp.server import CacheHint, MCPServer
from mcp.server.context import CallNext, HandlerResult, ServerRequestContext
from mcp.server.extension import Extension
from mcp.server.mcpserver.tools import Tool as SdkTool
from mcp.server.mcpserver.utilities.func_metadata import ArgModelBase, FuncMetadata
from mcp.shared.exceptions import MCPError
from mcp_types import INVALID_PARAMS, CallToolRequestParams, CallToolResult, TextContent, ToolAnnotations
from mcp_types.methods import validate_client_request

from mcp_server.calls.dispatch import dispatch
from mcp_server.toolkit.registry import TOOLS, Tool
from shared.asgi import ClientDisconnected
from shared.settings import VERSION, settings

NAME = "award-travel"
TITLE = "Award Travel"
LIST_TTL_MS = 300_000
# Hosts cut instructions at about 512 characters, so what matters stands first.
INSTRUCTIONS = """\
Award flights and hotels, points prices, transfer routes and bonuses, and the user's own cards, balances, trips and \
monitors. Every result begins with status and message: say the message. Rows carry their age and source; repeat both. \
candidates: ask which one, then call again. confirmation_required: ask the user, then confirm. paywall and \
limit_reached are answers, not failures. no_data means unknown: never estimate it. Names are resolved loosely; dates \
are YYYY-MM-DD.
Begin with search_availability for one route and day, find_transfer_paths for points that must be moved, \
list_my_cards and list_points_balances for what the user holds. A host that shows only some tools can ask for \
areas: add ?areas=search,cards to the address."""


class GateExtension(Extension):
    """The gate at the SDK's own interception point, so that the SDK shapes each answer for its protocol revision.

    It answers every call itself: an unknown name is refused and noted like any other, and nothing is checked twice.
    """

    identifier = "award-travel/gate"

    async def intercept_tool_call(
        self,
        params: CallToolRequestParams,
        ctx: ServerRequestContext[Any, Any],
        call_next: CallNext,  # noqa: ARG002 - the gate is the last stop
    ) -> HandlerResult:
        request = ctx.request
        assert request is not None  # every call comes by HTTP
        arguments = params.arguments or {}
        try:
            answer = await dispatch(params.name, arguments, request.scope["caller"], "mcp", request.receive)
        except ClientDisconnected:
            return CallToolResult(content=[], is_error=True)  # nobody reads it
        return CallToolResult(
            content=[TextContent(type="text", text=text) for text in answer.texts],
            structured_content=answer.data,
            is_error=answer.is_error,
        )


class ToolList:
    """tools/list, built by the SDK once per protocol revision and then cached.

    Building and checking 142 tool objects costs 12 milliseconds a request, and the list is the same for every caller.
    """

    def __init__(self) -> None:
        self._lists: dict[str, dict[str, Any]] = {}

    async def __call__(self, ctx: ServerRequestContext[Any, Any], call_next: CallNext) -> HandlerResult:
        if ctx.method != "tools/list":
            return await call_next(ctx)
        validate_client_request(ctx.method, ctx.protocol_version, ctx.params)
        if (ctx.params or {}).get("cursor") is not None:
            raise MCPError(code=INVALID_PARAMS, message="The list has one page; send no cursor.")
        if ctx.protocol_version not in self._lists:
            built = await call_next(ctx)
            assert isinstance(built, dict)
            self._lists[ctx.protocol_version] = built
        whole = self._lists[ctx.protocol_version]
        areas: frozenset[str] = ctx.request.scope["areas"] if ctx.request else frozenset()
        if not areas:
            return whole
        return {**whole, "tools": [entry for entry in whole["tools"] if TOOLS[entry["name"]].area in areas]}


async def refuse_prompts(ctx: ServerRequestContext[Any, Any], call_next: CallNext) -> HandlerResult:
    """There are tools only. The SDK would log a traceback for an unknown prompt, so any caller could fill the log."""
    if ctx.method == "prompts/get":
        raise MCPError(code=INVALID_PARAMS, message="This server has no prompts.")
    return await call_next(ctx)


def to_sdk_tool(tool: Tool) -> SdkTool:
    """What the SDK lists. The gate runs the call, so function and argument model are never used here."""
    return SdkTool(
        fn=tool.function,
        name=tool.name,
        title=tool.title,
        description=tool.description,
        parameters=tool.arguments.schema,
        fn_metadata=FuncMetadata(arg_model=ArgModelBase),
        is_async=False,
        annotations=ToolAnnotations(**tool.hints),
        meta={"tier": tool.tier.label, "area": tool.area},
    )


def build(*extensions: Extension) -> MCPServer[Any]:
    """The server. Extensions given here (tests bring fixture tools) stand before the gate."""
    suffix = " [SANDBOX]" if settings().data_mode == "sandbox" else ""
    return MCPServer(
        NAME,
        title=TITLE + suffix,
        instructions=INSTRUCTIONS + suffix,
        website_url=settings().web_url,
        version=VERSION,
        tools=[to_sdk_tool(TOOLS[name]) for name in sorted(TOOLS)],
        extensions=[*extensions, GateExtension()],
        middleware=[ToolList(), refuse_prompts],
        cache_hints={"tools/list": CacheHint(ttl_ms=LIST_TTL_MS, scope="public")},
        subscriptions=False,
        log_level="WARNING",
    )
