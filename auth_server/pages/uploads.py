"""Forms with a file that a tool of the tool server reads."""

from collections.abc import Callable

from starlette.requests import Request
from starlette.responses import Response

from auth_server.web.flows import Flow, run
from auth_server.web.handlers import Handler, await_tools, read_upload_form
from auth_server.web.outcomes import PageResult
from auth_server.web.rendering import to_response
from auth_server.web.request_data import RequestData
from auth_server.web.tool_server import Answer, ToolCall


def handle_tool_upload(
    before: Flow[PageResult | ToolCall],
    max_bytes: int,
    after: Callable[[Answer], Flow[PageResult]],
    show_too_large: Flow[PageResult],
) -> Handler:
    """The flow `before` prepares the call, or answers itself; the flow `after` shows the result of the tool."""

    async def handler(request: Request) -> Response:
        data = await read_upload_form(request, max_bytes, show_too_large)
        if not isinstance(data, RequestData):
            return to_response(data)
        call = await run(before, data)
        if not isinstance(call, ToolCall):
            return to_response(await await_tools(request, call))
        answer = await request.app.state.tool_server.call(call)
        return to_response(await await_tools(request, await run(after(answer), data)))

    return handler
