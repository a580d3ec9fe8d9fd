"""A host at one address: its requests to the real tools, without the bearer and the network."""

from typing import Any

import anyio
import httpx
from starlette.types import Receive, Scope, Send

from mcp_server.toolkit.context import ANONYMOUS, Caller
from mcp_server.toolkit.thread_limiter import limiter
from mcp_server.transport import sdk_server
from mcp_server.transport.streamable_http import Transport
from shared.domain.mcp_addresses import find_address

HEADERS = {"accept": "application/json, text/event-stream", "mcp-protocol-version": "2025-06-18"}


def ask(path: str, method: str, caller: Caller = ANONYMOUS, /, **params: Any) -> dict[str, Any]:
    """The result, or the error, of one request at one address."""
    answer: dict[str, Any] = anyio.run(_ask, path, method, caller, params).json()
    result: dict[str, Any] = answer.get("result") or answer["error"]
    return result


async def _ask(path: str, method: str, caller: Caller, params: dict[str, Any]) -> httpx.Response:
    limiter.cache_clear()  # a limiter belongs to one event loop, and each request runs its own loop
    transport = Transport(sdk_server.build())

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        scope |= {"caller": caller, "address": find_address(path), "areas": frozenset()}
        await transport(scope, receive, send)

    client = httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://127.0.0.1")
    async with transport.running(), client:
        body = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
        return await client.post("/mcp", json=body, headers=HEADERS)


def list_tools(path: str) -> dict[str, dict[str, Any]]:
    """What an address tells of each of its tools, by name."""
    return {tool["name"]: tool for tool in ask(path, "tools/list")["tools"]}


def call(path: str, caller: Caller, name: str, /, **arguments: Any) -> dict[str, Any]:
    """The structured content of one call."""
    content: dict[str, Any] = ask(path, "tools/call", caller, name=name, arguments=arguments)["structuredContent"]
    return content
