"""Stateless Streamable HTTP (MCP specification, "Transports") for one SDK server: an authenticated POST and its answer.

A request that one exchange can answer is answered so; all others go to the SDK's session managers untouched, streamed
where the client asked for progress.
"""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from mcp.server import MCPServer
from mcp.server.connection import Connection
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from mcp.server.transport_security import TransportSecuritySettings
from mcp_types import DEFAULT_NEGOTIATED_VERSION, INVALID_REQUEST, PARSE_ERROR
from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS
from starlette.requests import Request
from starlette.types import Message, Receive, Scope, Send

from mcp_server.toolkit.context import Caller
from mcp_server.transport.call_stream import CallStream
from mcp_server.transport.direct_calls import answer_directly, is_direct
from mcp_server.transport.json_bodies import MAX_VALUES, TooManyValues, parse_json
from mcp_server.transport.json_responses import JsonResponse, rpc_error
from mcp_server.transport.person_answers import PersonAnswers
from mcp_server.transport.sessions import HEADER, has_declared_forms, list_session_headers
from mcp_server.transport.single_exchange import WholeLists, answer_request, open_connection
from shared.asgi import BodyIncomplete, BodyTooLarge, add_headers, read_body

STREAM = b"text/event-stream"
TITLED_SINCE = "2025-11-25"  # SEP-1330: choices of a form have titles
MAX_BODY_BYTES, MAX_BODY_SECONDS = 4 * 1024 * 1024, 15.0


class Transport:
    """Stateless Streamable HTTP for one SDK server."""

    def __init__(self, server: MCPServer[Any]) -> None:
        # Host and Origin are checked by the middleware for every path, so the SDK's own check of them is off.
        unchecked = TransportSecuritySettings(enable_dns_rebinding_protection=False)
        server.streamable_http_app(json_response=True, stateless_http=True, transport_security=unchecked)
        self.json_manager = server.session_manager
        self.server = self.json_manager.app
        self.answers, self.lists = PersonAnswers(), WholeLists()
        self.stream_manager = StreamableHTTPSessionManager(self.server, stateless=True, security_settings=unchecked)

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        async with self.json_manager.run(), self.stream_manager.run():
            yield

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            body = await read_body(scope, receive, max_bytes=MAX_BODY_BYTES, max_seconds=MAX_BODY_SECONDS)
        except BodyIncomplete:
            return await rpc_error(408, INVALID_REQUEST, "The body did not arrive in time.")(send)
        except BodyTooLarge:
            return await rpc_error(413, INVALID_REQUEST, "The request is larger than 4 MiB.")(send)
        message = _parse_message(body)
        if isinstance(message, JsonResponse):
            return await message(send)
        headers = dict(scope["headers"])
        version = headers.get(b"mcp-protocol-version", b"").decode("latin-1") or DEFAULT_NEGOTIATED_VERSION
        if "method" not in message:
            return await self._take_answer(message, scope["caller"], send)
        if HEADER in headers and (stream := self._open_stream(message, version, scope, receive, send)):
            return await self._answer_on(stream, version, message, Request({**scope, "call_stream": stream}, receive))
        if _wants_stream(message, headers.get(b"accept", b"")):
            return await self.stream_manager.handle_request(scope, _replay(body, receive), send)
        if is_direct(message, version):
            response = await answer_directly(message, version, scope, receive)
            return await response(send)
        request = Request(scope, receive)
        if connection := open_connection(message, version, request):
            response = await self.lists.answer(self.server, connection, message, request)
            return await response(send)
        if message["method"] == "initialize":
            send = add_headers(send, list_session_headers(message, scope["caller"]))
        return await self.json_manager.handle_request(scope, _replay(body, receive), send)

    def _open_stream(
        self, message: dict[str, Any], version: str, scope: Scope, receive: Receive, send: Send
    ) -> CallStream | None:
        """The stream of a call whose client can show forms; it begins only where something is asked or told."""
        headers, caller = dict(scope["headers"]), scope["caller"]
        is_call = "id" in message and message["method"] == "tools/call" and version in HANDSHAKE_PROTOCOL_VERSIONS
        if (
            not is_call
            or STREAM not in headers.get(b"accept", b"")
            or not has_declared_forms(headers.get(HEADER), caller)
        ):
            return None
        return CallStream(self.answers, caller.account_id, receive, send, titled=version >= TITLED_SINCE)

    async def _answer_on(self, stream: CallStream, version: str, message: dict[str, Any], request: Request) -> None:
        connection = Connection.from_envelope(version, None, None)
        await stream.end(await answer_request(self.server, connection, message, request))

    async def _take_answer(self, message: dict[str, Any], caller: Caller, send: Send) -> None:
        """202 for the answer to a question of ours; 400 for one that no one waits for."""
        if await self.answers.take(caller.account_id, message):
            await send({"type": "http.response.start", "status": 202, "headers": [(b"content-length", b"0")]})
            await send({"type": "http.response.body", "body": b""})
        else:
            await rpc_error(400, INVALID_REQUEST, "No question is open under this id.")(send)


def _parse_message(body: bytes) -> dict[str, Any] | JsonResponse:
    """One JSON-RPC message, or the refusal of what is none."""
    try:
        message = parse_json(body)
    except TooManyValues:
        return rpc_error(413, INVALID_REQUEST, f"The request holds more than {MAX_VALUES:,} values.")
    except ValueError:
        return rpc_error(400, PARSE_ERROR, "Parse error: the body is not JSON.")
    fault = _find_fault(message)
    return rpc_error(400, INVALID_REQUEST, fault) if fault else message


def _find_fault(message: Any) -> str | None:
    """Why this is not one JSON-RPC message that can be served, in our words and not a library's."""
    if isinstance(message, list):
        return "Batches are not part of this protocol; send one request at a time."
    if not isinstance(message, dict) or message.get("jsonrpc") != "2.0":
        return 'The body must be one JSON-RPC object with "jsonrpc": "2.0".'
    if "method" not in message and ("result" in message or "error" in message):
        return None  # an answer to a question of ours
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
    return isinstance(meta, dict) and "progressToken" in meta and STREAM in accept


def _replay(body: bytes, receive: Receive) -> Receive:
    """A `receive` that gives the body once more and then continues with the client's own messages."""
    unread = [{"type": "http.request", "body": body, "more_body": False}]

    async def receive_again() -> Message:
        return unread.pop() if unread else await receive()

    return receive_again
