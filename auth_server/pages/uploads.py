"""Forms with a file that a tool of the tool server reads."""

from collections.abc import Callable

from starlette.requests import Request
from starlette.responses import Response

from auth_server.pages.tool_calls import ToolCall, call_tool
from auth_server.web.flows import Flow, run
from auth_server.web.handlers import Handler, read_upload_form
from auth_server.web.outcomes import FlowResult, Page
from auth_server.web.rendering import to_response


def handle_tool_upload(
    before: Flow[FlowResult | ToolCall], max_bytes: int, after: Callable[[ToolCall], Flow[FlowResult]]
) -> Handler:
    """The flow `before` prepares the call, or answers itself; the flow `after` shows the result of the tool."""

    async def handler(request: Request) -> Response:
        data = await read_upload_form(request, max_bytes)
        if isinstance(data, Page):
            return to_response(data)
        call = await run(before, data)
        if not isinstance(call, ToolCall):
            return to_response(call)
        call.result = await call_tool(call)
        return to_response(await run(after(call), data))

    return handler
