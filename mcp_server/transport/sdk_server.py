"""The official SDK's server with our tools: the SDK speaks the protocol, the gate answers every call."""

from dataclasses import replace
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
from mcp_server.calls.lean_tools import LEAN_TOOLS, list_catalogue, prepare_ranking
from mcp_server.calls.questions import QuestionSent
from mcp_server.screens.load import load_screens
from mcp_server.toolkit.registry import TOOLS, Tool
from mcp_server.transport.call_progress import tell_progress
from mcp_server.transport.completions import add_completions, remember_caller
from mcp_server.transport.elicitation import find_person, secure_states
from mcp_server.transport.icons import list_icons
from mcp_server.transport.prompts import list_prompts, refuse_unknown_prompts
from mcp_server.transport.resource_links import list_links
from mcp_server.transport.skills import SkillsExtension
from mcp_server.transport.ui_extension import DeclaredExtensions, build_apps, limit_reads
from shared.asgi import ClientDisconnected
from shared.domain.mcp_addresses import WHOLE, McpAddress
from shared.settings import VERSION, settings

NAME = "award-travel"
PUBLIC = CacheHint(ttl_ms=300_000, scope="public")  # lists and screens are the same for every caller
# Hosts cut instructions at about 512 characters, so what matters stands first.
INSTRUCTIONS = """\
Award flights and hotels, points prices, transfer routes and bonuses, and the user's own cards, balances, trips and \
monitors. Every result begins with status and message: say the message. Rows carry their age and source; repeat both. \
candidates: ask which one, then call again. confirmation_required: ask the user, then confirm. paywall and \
limit_reached are answers, not failures. no_data means unknown: never estimate it. Names are resolved loosely; dates \
are YYYY-MM-DD.
Begin with search_availability for one route and day, find_transfer_paths for points that must be moved, \
list_my_cards and list_points_balances for what the user holds. A host that takes few tools connects to \
/mcp/lean, where find_tools finds the others, or to a part such as /mcp/x/traveller."""


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
        async with tell_progress(ctx):
            return await self._answer_call(params, ctx)

    async def _answer_call(self, params: CallToolRequestParams, ctx: ServerRequestContext[Any, Any]) -> HandlerResult:
        request = ctx.request
        assert request is not None  # every call comes by HTTP
        arguments, caller, address = params.arguments or {}, request.scope["caller"], request.scope["address"]
        person = find_person(params, ctx)
        try:
            answer = await dispatch(params.name, arguments, caller, "mcp", request.receive, address, person)
        except QuestionSent as question:
            result: HandlerResult = question.result
            return result
        except ClientDisconnected:
            return CallToolResult(content=[], is_error=True)  # no one reads it
        texts = [TextContent(type="text", text=text) for text in answer.texts]
        inner = str(arguments.get("name")) if params.name in LEAN_TOOLS else params.name
        return CallToolResult(
            content=[*texts, *list_links(inner, answer.status, answer.data)],
            structured_content=answer.data,
            is_error=answer.is_error,
        )


class ToolList:
    """tools/list, built by the SDK once per protocol revision and then cached.

    Building and checking 142 tool objects costs 12 milliseconds a request, and the list is the same for every caller.
    """

    def __init__(self) -> None:
        self._lists: dict[str, dict[str, Any]] = {}
        self._wholes: dict[str, dict[str, Any]] = {}  # the same without the tools of the lean address

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
            named = [entry for entry in built["tools"] if entry["name"] in TOOLS]
            self._wholes[ctx.protocol_version] = {**built, "tools": named}
        areas: frozenset[str] = ctx.request.scope["areas"] if ctx.request else frozenset()
        address: McpAddress = ctx.request.scope["address"] if ctx.request else WHOLE
        if not areas and address is WHOLE:
            return self._wholes[ctx.protocol_version]
        every = self._lists[ctx.protocol_version]
        return {**every, "tools": [e for e in every["tools"] if _is_listed(e["name"], areas, address)]}


def _is_listed(name: str, areas: frozenset[str], address: McpAddress) -> bool:
    if name in LEAN_TOOLS:
        return address.finds
    tool = TOOLS[name]
    return (not areas or tool.area in areas) and address.lists(name, tool.area, reads=tool.reads)


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
        meta=_build_meta(tool),
    )


def _build_meta(tool: Tool) -> dict[str, Any]:
    """`_meta` of a listed tool. A screen that no file draws is a KeyError, which stops the start."""
    meta: dict[str, Any] = {"tier": tool.tier.label, "area": tool.area}
    return meta | {"ui": {"resourceUri": load_screens()[tool.screen].uri}} if tool.screen else meta


def _complete_lean_tools() -> dict[str, Tool]:
    """Those of the lean address, the search with the names of all tools; its index is built now, not at a call."""
    prepare_ranking(tuple(sorted(TOOLS)))
    find = LEAN_TOOLS["find_tools"]
    return LEAN_TOOLS | {find.name: replace(find, description=f"{find.description}\n{list_catalogue()}")}


def build(*extensions: Extension) -> MCPServer[Any]:
    """The server. Extensions given here (tests bring fixture tools) stand before the gate."""
    suffix = " [SANDBOX]" if settings().data_mode == "sandbox" else ""
    apps, skills = build_apps(), SkillsExtension()
    server: MCPServer[Any] = MCPServer(
        NAME,
        title=settings().service_name + suffix,
        instructions=INSTRUCTIONS + suffix,
        website_url=settings().web_url,
        icons=list_icons(),
        version=VERSION,
        tools=[to_sdk_tool(tool) for _, tool in sorted({**TOOLS, **_complete_lean_tools()}.items())],
        extensions=[*extensions, apps, skills, GateExtension()],
        middleware=[ToolList(), refuse_unknown_prompts, remember_caller, limit_reads, DeclaredExtensions(apps, skills)],
        cache_hints=dict.fromkeys(("tools/list", "prompts/list", "resources/list", "resources/read"), PUBLIC),
        request_state_security=secure_states(),
        subscriptions=False,
        log_level="WARNING",
    )
    for prompt in list_prompts():
        server.add_prompt(prompt)
    add_completions(server)
    return server
