"""One JSON-RPC request answered in one exchange by `serve_one`, the SDK's own driver for a single request.

The SDK's stateless path builds a transport, memory streams, task groups and a dispatcher for each POST and tears them
down: about 300 of 400 microseconds a call, and cyclic garbage behind it. A request of the handshake era that wants one
JSON answer needs none of that. `python -m tests.bench` compares the two: a bare tool at concurrency 16 takes 133
microseconds here and 456 on the bare SDK server (2026-11-22). tools/list and resources/read of 2026-07-28 are
answered here too: the SDK's handler would copy and serialise the list's 110 kB in 2 of 2.3 milliseconds.

Results, errors and checks stay the SDK's, which serves 2026-07-28 with the same driver. It is not documented for this
use, so the SDK is pinned to its minor version, `tests/mcp_server/transport/test_single_exchange.py` compares both ways
answer by answer, and the conformance run covers them.
"""
# ruff: noqa: ARG002 - the SDK's protocol for a dispatch context names arguments that one exchange has no use for

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import anyio
from mcp.server.connection import Connection
from mcp.server.lowlevel import Server
from mcp.server.runner import modern_error_data, serve_one
from mcp.server.streamable_http import check_accept_headers
from mcp.shared.dispatcher import CallOptions
from mcp.shared.exceptions import NoBackChannelError
from mcp.shared.inbound import (
    ERROR_CODE_HTTP_STATUS,
    InboundLadderRejection,
    classify_inbound_request,
    find_duplicated_routing_header,
)
from mcp.shared.jsonrpc_dispatcher import progress_token_from_params
from mcp.shared.message import ServerMessageMetadata
from mcp.shared.transport_context import TransportContext
from mcp_types import RequestId
from mcp_types.methods import validate_client_request
from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS
from pydantic import ValidationError
from pydantic_core import to_json
from starlette.requests import Request

from mcp_server.transport.call_stream import CallStream
from mcp_server.transport.json_responses import JsonResponse
from shared.domain.mcp_addresses import WHOLE

_METHODS = frozenset({"tools/call", "tools/list", "resources/read", "ping"})
_MODERN_METHODS = frozenset({"tools/list", "resources/read"})


@dataclass
class _DispatchContext:
    """The SDK's dispatch context for a request whose client is notified of progress where its answer may stream."""

    transport: TransportContext
    request_id: RequestId
    message_metadata: ServerMessageMetadata
    stream: CallStream | None = None
    progress_token: str | int | None = None
    cancel_requested: anyio.Event = field(default_factory=anyio.Event)
    can_send_request: bool = False

    async def send_raw_request(
        self, method: str, params: Mapping[str, Any] | None, opts: CallOptions | None = None
    ) -> dict[str, Any]:
        raise NoBackChannelError(method)

    async def notify(self, method: str, params: Mapping[str, Any] | None, opts: CallOptions | None = None) -> None:
        return None

    async def progress(self, progress: float, total: float | None = None, message: str | None = None) -> None:
        if self.stream and self.progress_token is not None:
            part = {"progressToken": self.progress_token, "progress": progress, "total": total, "message": message}
            params = {name: value for name, value in part.items() if value is not None}
            await self.stream.send_message({"jsonrpc": "2.0", "method": "notifications/progress", "params": params})


def open_connection(message: dict[str, Any], version: str, request: Request) -> Connection | None:
    """The connection for a request that one exchange can answer; None leaves it to the SDK's session manager."""
    if "id" not in message or message["method"] not in _METHODS:
        return None
    if version in HANDSHAKE_PROTOCOL_VERSIONS:
        return Connection.from_envelope(version, None, None)
    if message["method"] not in _MODERN_METHODS or not check_accept_headers(request)[0]:
        return None
    # The SDK's own checks; whatever they reject is left to it, so that it words the refusal.
    route = classify_inbound_request(message, headers=dict(request.headers))
    if isinstance(route, InboundLadderRejection) or find_duplicated_routing_header(request.headers.items()):
        return None
    return Connection.from_envelope(route.protocol_version, route.client_info, route.client_capabilities)


class WholeLists:
    """tools/list as JSON, once for each revision: writing its 135 kB took 0.4 of 0.6 milliseconds of a request.

    Kept for callers of the whole catalogue; the parts of it are too many to keep.
    """

    def __init__(self) -> None:
        self._texts: dict[str, bytes] = {}

    async def answer(
        self, server: Server[Any], connection: Connection, message: dict[str, Any], request: Request
    ) -> JsonResponse:
        """What `answer_request` answers, from what it answered before where nothing of the request can change it."""
        version, scope = connection.protocol_version, request.scope
        is_whole = message["method"] == "tools/list" and not scope["areas"] and scope["address"] is WHOLE
        if not is_whole or (message.get("params") or {}).keys() - {"_meta"}:
            return await answer_request(server, connection, message, request)
        lead = b'{"jsonrpc":"2.0","id":' + to_json(message["id"])
        if version not in self._texts or not _is_valid(message, version):
            response = await answer_request(server, connection, message, request)
            if response.body.startswith(lead + b',"result":'):
                self._texts[version] = response.body[len(lead) :]
            return response
        return JsonResponse(200, lead + self._texts[version])


def _is_valid(message: dict[str, Any], version: str) -> bool:
    try:
        validate_client_request(message["method"], version, message.get("params"))
    except ValidationError:
        return False
    return True


async def answer_request(
    server: Server[Any], connection: Connection, message: dict[str, Any], request: Request
) -> JsonResponse:
    context = _DispatchContext(
        TransportContext(kind="streamable-http", can_send_request=False, headers=request.headers),
        message["id"],
        ServerMessageMetadata(request_context=request),
        stream=request.scope.get("call_stream"),
        progress_token=progress_token_from_params(message.get("params")),
    )
    reply, status = {"jsonrpc": "2.0", "id": message["id"]}, 200
    try:
        reply["result"] = await serve_one(
            server,
            context,
            message["method"],
            message.get("params"),
            connection=connection,
            lifespan_state={},
        )
    except Exception as raised:  # the edge: the SDK turns it into a JSON-RPC error that tells nothing internal
        error = modern_error_data(raised)
        reply["error"] = error.model_dump(exclude_none=True)
        if connection.protocol_version not in HANDSHAKE_PROTOCOL_VERSIONS:
            status = ERROR_CODE_HTTP_STATUS.get(error.code, 200)
    return JsonResponse(status, to_json(reply))
