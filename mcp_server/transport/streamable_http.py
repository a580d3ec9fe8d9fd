"""Stateless Streamable HTTP (MCP specification, "Transports") for one SDK server: an authenticated POST and its answer.

A request that one exchange can answer is answered so; all others go to the SDK's session managers untouched, streamed
where the client asked for progress.
"""

import secrets
from collections.abc import AsyncIterator, Mapping
from contextlib import AbstractContextManager, asynccontextmanager
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

import anyio
from mcp.server import MCPServer
from mcp.server.connection import Connection
from mcp.server.lowlevel import Server
from mcp.server.runner import modern_error_data, serve_one
from mcp.server.streamable_http import check_accept_headers
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from mcp.server.transport_security import TransportSecuritySettings
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
from mcp_types import (
    DEFAULT_NEGOTIATED_VERSION,
    INVALID_PARAMS,
    INVALID_REQUEST,
    PARSE_ERROR,
    CallToolRequestParams,
    ClientCapabilities,
    RequestId,
)
from mcp_types.methods import validate_client_request
from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS
from pydantic import ValidationError
from pydantic_core import to_json
from starlette.requests import Request
from starlette.types import Message, Receive, Scope, Send

from mcp_server.calls.lean_tools import LEAN_TOOLS
from mcp_server.toolkit import TOOLS, Caller
from mcp_server.toolkit.json_bodies import MAX_VALUES, TooManyValues, parse_json
from mcp_server.transport.call_stream import CallStream
from mcp_server.transport.elicitation import accepts_forms
from mcp_server.transport.json_responses import JsonResponse, rpc_error
from mcp_server.transport.person_answers import PersonAnswers
from mcp_server.transport.sdk_server import answer_call
from shared.asgi import BodyIncomplete, BodyTooLarge, Headers, add_headers, read_body
from shared.domain.mcp_addresses import WHOLE
from shared.secrets import is_same_secret, sign
from shared.settings import settings
from shared.telemetry.traces import continue_trace, mark_failed, span

# One JSON-RPC request answered in one exchange by `serve_one`, the SDK's own driver for a single request.
#
# The SDK's stateless path builds a transport, memory streams, task groups and a dispatcher for each POST and tears them
# down, and leaves cyclic garbage behind. A request of the handshake era that wants one JSON answer needs none of that:
# a bare tool takes 133 microseconds here and 456 on the bare SDK server (`python -m tests.bench`). tools/list and
# resources/read of 2026-07-28 are answered here too, because the SDK's handler would copy and serialise the whole list.
#
# Results, errors and checks stay the SDK's, which serves 2026-07-28 with the same driver. It is not documented for this
# use, so the SDK is pinned to its minor version, `tests/mcp_server/transport/test_single_exchange.py` compares both
# ways answer by answer, and the conformance run covers them.

_METHODS = frozenset({"tools/call", "tools/list", "resources/read", "ping"})
_MODERN_METHODS = frozenset({"tools/list", "resources/read"})


@dataclass
class _DispatchContext:
    """The SDK's dispatch context for a request whose client gets progress if its answer may stream."""

    transport: TransportContext
    request_id: RequestId
    message_metadata: ServerMessageMetadata
    stream: CallStream | None = None
    progress_token: str | int | None = None
    cancel_requested: anyio.Event = field(default_factory=anyio.Event)
    can_send_request: bool = False

    async def send_raw_request(
        self,
        method: str,
        params: Mapping[str, Any] | None,  # noqa: ARG002 - named by the SDK's protocol
        opts: CallOptions | None = None,  # noqa: ARG002
    ) -> dict[str, Any]:
        raise NoBackChannelError(method)

    async def notify(
        self,
        method: str,  # noqa: ARG002
        params: Mapping[str, Any] | None,  # noqa: ARG002
        opts: CallOptions | None = None,  # noqa: ARG002
    ) -> None:
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
    # The SDK's own checks; the SDK answers whatever they reject.
    route = classify_inbound_request(message, headers=dict(request.headers))
    if isinstance(route, InboundLadderRejection) or find_duplicated_routing_header(request.headers.items()):
        return None
    return Connection.from_envelope(route.protocol_version, route.client_info, route.client_capabilities)


class WholeLists:
    """tools/list as JSON, once for each revision: writing its 135 kB took 0.4 of 0.6 milliseconds of a request.

    Cached for callers of the whole catalogue; its parts are too many to cache.
    """

    def __init__(self) -> None:
        self._texts: dict[str, bytes] = {}

    async def answer(
        self, server: Server[Any], connection: Connection, message: dict[str, Any], request: Request
    ) -> JsonResponse:
        """The answer of `answer_request`, cached where nothing in the request can change it."""
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
    except Exception as raised:  # the edge: the SDK turns it into a JSON-RPC error without internals
        error = modern_error_data(raised)
        reply["error"] = error.model_dump(exclude_none=True)
        if connection.protocol_version not in HANDSHAKE_PROTOCOL_VERSIONS:
            status = ERROR_CODE_HTTP_STATUS.get(error.code, 200)
    return JsonResponse(status, to_json(reply))


# Session ids of clients that declare forms: the id itself contains the declaration, so no process keeps a session.
#
# Revisions before 2026-07-28 declare capabilities once, at `initialize`. A client that declares none we use gets no
# id.

HEADER = b"mcp-session-id"
_KIND = "forms"
_MAC_LENGTH = 32


def list_session_headers(message: dict[str, Any], caller: Caller) -> Headers:
    """The headers for the answer to this `initialize`."""
    try:
        declared = ClientCapabilities.model_validate((message.get("params") or {}).get("capabilities"), by_name=False)
    except ValidationError:
        return []
    if not accepts_forms(declared):
        return []
    nonce = secrets.token_urlsafe(12)
    mac = _sign(settings().encryption_keys[0], nonce, caller.public_id, caller.client_id)
    return [(HEADER, f"{_KIND}.{nonce}.{mac}".encode())]


def has_declared_forms(session_id: bytes | None, caller: Caller) -> bool:
    """Whether this application of this account declared forms. An id that is not ours means no, and is no error."""
    if not session_id:
        return False
    return _is_ours(session_id.decode("latin-1"), caller.public_id, caller.client_id, *settings().encryption_keys)


@lru_cache(maxsize=4096)
def _is_ours(session_id: str, account: str, client: str, *materials: str) -> bool:
    kind, _, rest = session_id.partition(".")
    nonce, _, mac = rest.partition(".")
    return kind == _KIND and any(is_same_secret(_sign(key, nonce, account, client), mac) for key in materials)


def _sign(material: str, nonce: str, account: str, client: str) -> str:
    return sign(material, f"mcp session\0{_KIND}\0{nonce}\0{account}\0{client}")[:_MAC_LENGTH]


# A tools/call that needs none of the SDK's chain, from its message to its answer's bytes.
#
# Between one exchange and the gate the SDK builds a session, a context, a span and a chain of a dozen callables, and it
# shapes the result with two models. Only the check of the request matters to a call of the handshake era
# without state of a question, and that check stays the SDK's.
# Without this each call takes 110 to 120 microseconds more of the processor: a fact 334 instead of 217, 3.1 times
# less than on FastMCP instead of 4.7, where 3.0 is the goal (`python -m tests.bench`, FastMCP 4.2.3).
# `tests/mcp_server/transport/test_single_exchange.py` compares both ways answer by answer.

_KNOWN_PARAMS = frozenset({"name", "arguments", "_meta"})


def is_direct(message: dict[str, Any], version: str) -> bool:
    """Whether it is a call of one of our tools that needs nothing in between.

    The SDK gets whatever it would refuse.
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
            reply["result"] = await answer_call(params.name, params.arguments or {}, scope, receive)
            if reply["result"]["isError"]:
                mark_failed()
    except Exception as raised:  # the edge: the SDK turns it into a JSON-RPC error that tells nothing internal
        reply["error"] = modern_error_data(raised).model_dump(exclude_none=True)
    return JsonResponse(200, to_json(reply))


def _open_span(message: dict[str, Any], version: str) -> AbstractContextManager[None]:
    """The span that the SDK makes around a call; it continues the client's trace."""
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
        headers = dict(scope["headers"])
        version = headers.get(b"mcp-protocol-version", b"").decode("latin-1") or DEFAULT_NEGOTIATED_VERSION
        parsed = _parse_message(body, version)
        if isinstance(parsed, JsonResponse):
            return await parsed(send)
        message, body = parsed
        if "method" not in message:
            return await self._take_answer(message, scope["caller"], send)
        if HEADER in headers and (stream := self._open_stream(message, version, scope, receive, send)):
            return await self._answer_on(stream, version, message, Request({**scope, "call_stream": stream}, receive))
        # Only a caller that asked for progress and accepts streams gets one.
        accept = headers.get(b"accept", b"")
        meta = (message.get("params") or {}).get("_meta")
        if isinstance(meta, dict) and "progressToken" in meta and STREAM in accept:
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
        """The stream of a call whose client can show forms; it starts only when there is a question or news."""
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
        """Answers 202 for the reply to one of our questions; 400 if no one waits for it."""
        if await self.answers.take(caller.account_id, message):
            await send({"type": "http.response.start", "status": 202, "headers": [(b"content-length", b"0")]})
            await send({"type": "http.response.body", "body": b""})
        else:
            await rpc_error(400, INVALID_REQUEST, "No question is open under this id.")(send)


def _parse_message(body: bytes, version: str) -> tuple[dict[str, Any], bytes] | JsonResponse:
    """One JSON-RPC message and its body, or the refusal of anything else."""
    try:
        message = parse_json(body)
    except TooManyValues:
        return rpc_error(413, INVALID_REQUEST, f"The request holds more than {MAX_VALUES:,} values.")
    except ValueError:
        return rpc_error(400, PARSE_ERROR, "Parse error: the body is not JSON.")
    if fault := _find_fault(message):
        return rpc_error(400, INVALID_REQUEST, fault)
    params = message.get("params") or {}
    if message.get("method") != "tools/call" or isinstance(params.get("arguments"), dict | None):
        return message, body
    if (arguments := _read_object(params["arguments"])) is None:
        status = 200 if version in HANDSHAKE_PROTOCOL_VERSIONS else ERROR_CODE_HTTP_STATUS[INVALID_PARAMS]
        words = "arguments must be an object with the values by parameter, such as {}."
        return rpc_error(status, INVALID_PARAMS, words, about=message.get("id"))
    message["params"] = params | {"arguments": arguments}
    return message, to_json(message)


def _read_object(value: Any) -> dict[str, Any] | None:
    """Arguments that a client sent as the text of an object; None for anything else."""
    try:
        parsed = parse_json(value.encode()) if isinstance(value, str) else None
    except ValueError:
        return None
    return parsed if isinstance(parsed, dict) else None


def _find_fault(message: Any) -> str | None:
    """Why this is not a single JSON-RPC message that can be served, in our own words."""
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


def _replay(body: bytes, receive: Receive) -> Receive:
    """A `receive` that repeats the body and then continues with the client's own messages."""
    unread = [{"type": "http.request", "body": body, "more_body": False}]

    async def receive_again() -> Message:
        return unread.pop() if unread else await receive()

    return receive_again
