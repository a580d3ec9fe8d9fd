"""A tools/call that needs nothing of the SDK's chain, from its message to the bytes of its answer.

Between one exchange and the gate the SDK builds a session, a context, a span and a chain of a dozen callables, and it
shapes the result by two of its models: 100 of 215 microseconds of a call (2026-11-23). Of all that only the check of
the request concerns a call of the handshake era that brings no state of a question, and that check stays the SDK's.
`tests/mcp_server/transport/test_single_exchange.py` compares both ways answer by answer.
"""

from contextlib import AbstractContextManager
from typing import Any

from mcp.server.runner import modern_error_data
from mcp_types import CallToolRequestParams
from mcp_types.methods import validate_client_request
from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS
from pydantic_core import to_json
from starlette.types import Receive, Scope

from mcp_server.calls.dispatch import dispatch
from mcp_server.calls.lean_tools import LEAN_TOOLS
from mcp_server.toolkit.registry import TOOLS
from mcp_server.transport.json_responses import JsonResponse
from mcp_server.transport.resource_links import list_links
from shared.asgi import ClientDisconnected
from shared.telemetry.traces import continue_trace, mark_failed, span

_KNOWN_PARAMS = frozenset({"name", "arguments", "_meta"})


def is_direct(message: dict[str, Any], version: str) -> bool:
    """Whether it is a call of one of our tools that nothing in between has anything to do with.

    Whatever the SDK would refuse is left to it.
    """
    params = message.get("params")
    if message["method"] != "tools/call" or "id" not in message or not params or params.keys() - _KNOWN_PARAMS:
        return False
    name = params.get("name")
    is_ours = isinstance(name, str) and (name in TOOLS or name in LEAN_TOOLS)
    return is_ours and version in HANDSHAKE_PROTOCOL_VERSIONS


async def answer_directly(message: dict[str, Any], version: str, scope: Scope, receive: Receive) -> JsonResponse:
    reply = {"jsonrpc": "2.0", "id": message["id"]}
    try:
        with _open_span(message, version):
            validate_client_request("tools/call", version, message["params"])
            params = CallToolRequestParams.model_validate(message["params"], by_name=False)
            reply["result"] = await _call(params.name, params.arguments or {}, scope, receive)
            if reply["result"]["isError"]:
                mark_failed()
    except Exception as raised:  # the edge: the SDK turns it into a JSON-RPC error that tells nothing internal
        reply["error"] = modern_error_data(raised).model_dump(exclude_none=True)
    return JsonResponse(200, to_json(reply))


def _open_span(message: dict[str, Any], version: str) -> AbstractContextManager[None]:
    """The span that the SDK makes around a call; it continues from the trace that the client names."""
    name, meta = message["params"]["name"], message["params"].get("_meta")
    traceparent = meta.get("traceparent") if isinstance(meta, dict) else None
    labels = {
        "mcp.method.name": "tools/call",
        "mcp.protocol.version": version,
        "jsonrpc.request.id": str(message["id"]),
        "gen_ai.operation.name": "execute_tool",
        "gen_ai.tool.name": name,
    }
    return span(f"tools/call {name}", continue_trace(traceparent if isinstance(traceparent, str) else None), **labels)


async def _call(name: str, arguments: dict[str, Any], scope: Scope, receive: Receive) -> dict[str, Any]:
    """The result as the SDK's models would write it."""
    try:
        answer = await dispatch(name, arguments, scope["caller"], "mcp", receive, scope["address"])
    except ClientDisconnected:
        return {"content": [], "isError": True}  # no one reads it
    texts = [{"type": "text", "text": text} for text in answer.texts]
    inner = str(arguments.get("name")) if name in LEAN_TOOLS else name
    links = list_links(inner, answer.status, answer.data)
    content = [*texts, *(link.model_dump(mode="json", by_alias=True, exclude_none=True) for link in links)]
    return {"content": content, "structuredContent": answer.data, "isError": answer.is_error}
