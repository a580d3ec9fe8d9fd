"""The MCP server on a loopback port, with tools of the tests and a stand-in for the auth server."""

import os
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import httpx
import pytest
import uvicorn

from mcp_server.app import build
from mcp_server.toolkit.context import Caller
from mcp_server.toolkit.thread_limiter import limiter
from mcp_server.transport.middleware import RequestGate
from shared.settings import settings
from tests.mcp_server.auth_double import AuthDouble
from tests.mcp_server.probes import Progressing, probes
from tests.support.fake_accounts import outside, pages, serving  # noqa: F401 - fixtures
from tests.support.noted_calls import forget_notes
from tests.support.people import People, everybody


@dataclass
class World:
    """The running server with everything a test turns about it."""

    url: str  # of the dedicated tool host, ending in /mcp
    base: str
    web_host: str  # the Host header of requests that came through the web host
    auth: AuthDouble
    front: RequestGate
    http: httpx.Client

    def token(self, caller: Caller, **other: Any) -> str:
        return self.auth.grant(caller, **other)

    def post(self, caller: Caller, body: Any, **headers: str) -> httpx.Response:
        """The bare call: bearer, content type, body."""
        return self.http.post(self.url, json=body, headers=bearer(self.token(caller)) | headers)

    def call(self, caller: Caller, name: str, /, **arguments: Any) -> dict[str, Any]:
        params = {"name": name, "arguments": arguments}
        return self.post(caller, {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}).json()["result"]


def bearer(token: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}


@contextmanager
def served(app: Any, sock: socket.socket) -> Iterator[None]:
    config = uvicorn.Config(app, loop="uvloop", http="httptools", ws="none", log_level="warning", access_log=False)
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, kwargs={"sockets": [sock]}, daemon=True)
    thread.start()
    yield
    server.should_exit = True
    thread.join(20)
    assert not thread.is_alive()


def listening() -> tuple[socket.socket, int]:
    """A loopback port that already takes connections, so that no one needs to wait for the server behind it."""
    sock = socket.create_server(("127.0.0.1", 0))
    return sock, sock.getsockname()[1]


@contextmanager
def addresses(auth_port: int, mcp_port: int) -> Iterator[None]:
    given = {"WEB_URL": f"http://127.0.0.1:{auth_port}", "MCP_URL": f"http://127.0.0.1:{mcp_port}/mcp"}
    os.environ.update(given)
    settings.cache_clear()
    limiter.cache_clear()
    yield
    for name in given:
        del os.environ[name]
    settings.cache_clear()
    limiter.cache_clear()


@pytest.fixture(scope="module")
def running() -> Iterator[World]:
    (auth_socket, auth_port), (mcp_socket, mcp_port) = listening(), listening()
    auth = AuthDouble(url=f"http://127.0.0.1:{auth_port}")
    base = f"http://127.0.0.1:{mcp_port}"
    with addresses(auth_port, mcp_port), probes(), served(auth.app(), auth_socket):
        front = build(Progressing())
        with served(front, mcp_socket), httpx.Client(trust_env=False, timeout=90) as http:
            yield World(f"{base}/mcp", base, f"127.0.0.1:{auth_port}", auth, front, http)


@pytest.fixture
def world(running: World, clean: None) -> World:
    running.auth.status = 200
    running.auth.asked.clear()
    running.front.token_verifier.forget_all()
    forget_notes()
    running.http.cookies.clear()
    return running


@pytest.fixture
def people(world: World) -> People:
    return everybody()
