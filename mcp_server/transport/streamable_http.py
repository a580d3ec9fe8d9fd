"""An authenticated POST comes in, the SDK's answer goes out: in one exchange where that is enough, else streamed.

The SDK's stateless path builds a transport, memory streams, task groups and a dispatcher for each POST, and tears
them down: about 300 of 400 microseconds a call, and cyclic garbage behind it. A handshake-era request that wants one
JSON answer needs none of that. `serve_one` is the SDK's own driver for one request (it runs 2026-07-28 with it), so
results, errors and checks stay the SDK's. It is not documented for this use: the SDK is pinned to its minor version
and the conformance run watches over it. Everything else goes to the SDK's session managers untouched.
"""
# ruff: noqa: ARG002 - the SDK's protocol for a dispatch context names arguments that one exchange has no use for

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import anyio
from mcp.server import MCPServer
from mcp.server.connection import Connection
from mcp.server.runner import modern_error_data, serve_one
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from mcp.server.transport_security import TransportSecuritySettings
from mcp.shared.dispatcher import CallOptions
from mcp.shared.exceptions import NoBackChannelError
from mcp.shared.message import ServerMessageMetadata
from mcp.shared.transport_context import TransportContext
from mcp_types import DEFAULT_NEGOTIATED_VERSION, INVALID_REQUEST, PARSE_ERROR, RequestId
from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS
from pydantic_core import from_json, to_json
from starlette.requests import Request
from starlette.types import Message, Receive, Scope, Send

from mcp_server.transport.json_responses import JsonResponse, rpc_error

BODY_LIMIT, BODY_SECONDS = 4 * 1024 * 1024, 15.0
ONE_EXCHANGE = frozenset({"tools/call", "tools/list", "ping"})
HOLLOW = b'"tools":[]'  # what the SDK wraps when the list's bytes are filled in here


@dataclass
class _Exchange:
    """The SDK's dispatch context for one request whose caller cannot be asked or told anything meanwhile."""

    transport: TransportContext
    request_id: RequestId
    message_metadata: ServerMessageMetadata
    cancel_requested: anyio.Event = field(default_factory=anyio.Event)
    can_send_request: bool = False

    async def send_raw_request(
        self, method: str, params: Mapping[str, Any] | None, opts: CallOptions | None = None
    ) -> dict[str, Any]:
        raise NoBackChannelError(method)

    async def notify(self, method: str, params: Mapping[str, Any] | None, opts: CallOptions | None = None) -> None:
        return None

    async def progress(self, progress: float, total: float | None = None, message: str | None = None) -> None:
        return None


class Transport:
    """Stateless Streamable HTTP for one SDK server."""

    def __init__(self, server: MCPServer[Any]) -> None:
        # Host and Origin are checked at the front for every path, so the SDK's own check of them is off.
        unchecked = TransportSecuritySettings(enable_dns_rebinding_protection=False)
        server.streamable_http_app(json_response=True, stateless_http=True, transport_security=unchecked)
        self.whole = server.session_manager
        self.low = self.whole.app
        self.streamed = StreamableHTTPSessionManager(self.low, stateless=True, security_settings=unchecked)

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        async with self.whole.run(), self.streamed.run():
            yield

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        headers = dict(scope["headers"])
        message, body = await _message(receive, headers.get(b"content-length"))
        if isinstance(message, JsonResponse):
            await message(send)
            return
        version = headers.get(b"mcp-protocol-version", b"").decode("latin-1") or DEFAULT_NEGOTIATED_VERSION
        if _wants_stream(message, headers.get(b"accept", b"")):
            await self.streamed.handle_request(scope, _replay(body, receive), send)
            return
        scope["fill"] = []
        method = message["method"]
        if version in HANDSHAKE_PROTOCOL_VERSIONS and method in ONE_EXCHANGE and "id" in message:
            await self._one(message, version, scope, receive, send)
        else:
            fill = _filling(scope, send) if method == "tools/list" else send
            await self.whole.handle_request(scope, _replay(body, receive), fill)

    async def _one(self, message: dict[str, Any], version: str, scope: Scope, receive: Receive, send: Send) -> None:
        request = Request(scope, receive)
        exchange = _Exchange(
            TransportContext(kind="streamable-http", can_send_request=False, headers=request.headers),
            message["id"],
            ServerMessageMetadata(request_context=request),
        )
        reply: dict[str, Any] = {"jsonrpc": "2.0", "id": message["id"]}
        try:
            reply["result"] = await serve_one(
                self.low,
                exchange,
                message["method"],
                message.get("params"),
                connection=Connection.from_envelope(version, None, None),
                lifespan_state={},
            )
        except Exception as error:  # the edge: the SDK turns it into a JSON-RPC error that tells nothing internal
            reply["error"] = modern_error_data(error).model_dump(exclude_none=True)
        await JsonResponse(200, _filled(to_json(reply), scope))(send)


async def _message(receive: Receive, announced: bytes | None) -> tuple[dict[str, Any] | JsonResponse, bytes]:
    """One JSON-RPC message with its bytes, or the refusal of what is none."""
    try:
        async with asyncio.timeout(BODY_SECONDS):
            body = await _read(receive, announced)
    except TimeoutError:
        return rpc_error(408, INVALID_REQUEST, "The body did not arrive in time."), b""
    if body is None:
        return rpc_error(413, INVALID_REQUEST, "The request is larger than 4 MiB."), b""
    try:
        message = from_json(body, allow_inf_nan=False)
    except ValueError:
        return rpc_error(400, PARSE_ERROR, "Parse error: the body is not JSON."), body
    fault = _fault(message)
    return rpc_error(400, INVALID_REQUEST, fault) if fault else message, body


async def _read(receive: Receive, announced: bytes | None) -> bytes | None:
    """The whole body, or None once it is too large. A caller that hangs up leaves a body that is no JSON."""
    if announced is not None and announced.isdigit() and int(announced) > BODY_LIMIT:
        return None
    body = bytearray()
    while True:
        message = await receive()
        body += message.get("body", b"")
        if len(body) > BODY_LIMIT:
            return None
        if not message.get("more_body", False):
            return bytes(body)


def _fault(message: Any) -> str | None:
    """Why this is not one JSON-RPC message that can be served, in our words and not a library's."""
    if isinstance(message, list):
        return "Batches are not part of this protocol; send one request at a time."
    if not isinstance(message, dict) or message.get("jsonrpc") != "2.0":
        return 'The body must be one JSON-RPC object with "jsonrpc": "2.0".'
    if "method" not in message and ("result" in message or "error" in message):
        return "This server asks its callers nothing, so there is nothing to answer."
    if not isinstance(message.get("method"), str):
        return "method must be a string."
    if "id" in message and type(message["id"]) not in (int, str):
        return "id must be a whole number or a string."
    if not isinstance(message.get("params"), dict | None):
        return "params must be an object."
    return None


def _wants_stream(message: dict[str, Any], accept: bytes) -> bool:
    """Only a caller that asked for progress, and says it reads streams, gets one."""
    meta = (message.get("params") or {}).get("_meta")
    return isinstance(meta, dict) and "progressToken" in meta and b"text/event-stream" in accept


def _replay(body: bytes, receive: Receive) -> Receive:
    waiting = [{"type": "http.request", "body": body, "more_body": False}]

    async def again() -> Message:
        return waiting.pop() if waiting else await receive()

    return again


def _filled(body: bytes, scope: Scope) -> bytes:
    tools: list[bytes] = scope["fill"]
    return body.replace(HOLLOW, b'"tools":' + tools[0], 1) if tools else body


def _filling(scope: Scope, send: Send) -> Send:
    """Sends the SDK's whole JSON answer with the list's bytes filled in and the length put right."""
    start: list[Message] = []

    async def fill(message: Message) -> None:
        if message["type"] == "http.response.start":
            start.append(message)
            return
        body = _filled(message.get("body", b""), scope)
        headers = [h for h in start[0]["headers"] if h[0] != b"content-length"]
        await send({**start[0], "headers": [*headers, (b"content-length", str(len(body)).encode())]})
        await send({**message, "body": body})

    return fill
