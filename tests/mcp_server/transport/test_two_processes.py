"""Questions of a server of two processes: whichever receives an answer, the call continues."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import anyio
import httpx
import httpx2
import pytest
from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from mcp_types import ElicitResult

from tests.mcp_server.auth_double import AuthDouble
from tests.mcp_server.conftest import addresses, bearer, listening, served
from tests.mcp_server.transport.test_revocation_events import until
from tests.support.people import account

pytestmark = [pytest.mark.running_clock, pytest.mark.slow]  # a program on the real clock; two workers import everything
CALLS = 8  # each on its own connections, so that both processes are met
YES = {"action": "accept", "content": {"answer": True}}


def _is_ready(url: str) -> bool:
    try:
        return httpx.get(f"{url}/readyz", trust_env=False).status_code == 200
    except httpx.TransportError:
        return False


@contextmanager
def two_processes() -> Iterator[tuple[str, str]]:
    """The address of the tools, and a token."""
    (auth_socket, auth_port), (mcp_socket, port) = listening(), listening()
    mcp_socket.close()
    auth, url = AuthDouble(), f"http://127.0.0.1:{port}"
    with addresses(auth_port, port), served(auth.app(), auth_socket):
        token = auth.grant(account("bob"))
        command = [sys.executable, "-m", "mcp_server", "--port", str(port), "--workers", "2"]
        program = subprocess.Popen(command, env=os.environ.copy())
        try:
            assert until(lambda: _is_ready(url), 90)
            yield f"{url}/mcp", token
        finally:
            program.send_signal(signal.SIGTERM)
            program.wait(90)


def _post(url: str, headers: dict[str, str], **message: Any) -> httpx.Response:
    return httpx.post(url, json={"jsonrpc": "2.0", **message}, headers=headers, trust_env=False, timeout=90)


def ask_on_the_stream(url: str, token: str) -> dict[str, Any]:
    headers = bearer(token) | {"Accept": "application/json, text/event-stream"}
    client = {"protocolVersion": "2025-11-25", "capabilities": {"elicitation": {}}}
    client["clientInfo"] = {"name": "c", "version": "1"}
    session = _post(url, headers, id=0, method="initialize", params=client).headers["mcp-session-id"]
    headers |= {"MCP-Protocol-Version": "2025-11-25", "Mcp-Session-Id": session}
    call = {"jsonrpc": "2.0", "id": 1, "method": "tools/call"}
    call["params"] = {"name": "reset_calendar_feed", "arguments": {}}
    with (
        httpx.Client(trust_env=False, timeout=90) as http,
        http.stream("POST", url, json=call, headers=headers) as response,
    ):
        messages = (json.loads(line[5:]) for line in response.iter_lines() if line.startswith("data:"))
        question = next(messages)
        assert _post(url, headers, id=question["id"], result=YES).status_code == 202
        answer: dict[str, Any] = next(messages)["result"]["structuredContent"]
    return answer


def ask_between_requests(url: str, token: str) -> dict[str, Any]:
    async def agree(_context: Any, _params: Any) -> ElicitResult:
        return ElicitResult(action="accept", content={"answer": True})

    async def session() -> dict[str, Any]:
        headers = {"Authorization": f"Bearer {token}", "Connection": "close"}  # each request finds its own process
        async with httpx2.AsyncClient(headers=headers, trust_env=False, timeout=90) as http:
            transport = streamable_http_client(url, http_client=http)
            async with Client(transport, mode="2026-07-28", elicitation_callback=agree) as connected:
                answer = (await connected.call_tool("reset_calendar_feed", {})).structured_content
                assert answer is not None
                return answer

    return anyio.run(session)


def test_an_answer_finds_the_call_whichever_process_receives_it(clean: None) -> None:
    with two_processes() as (url, token):
        for ask in (ask_on_the_stream, ask_between_requests):
            assert [ask(url, token)["status"] for _ in range(CALLS)] == ["ok"] * CALLS
