"""Both hosts in this process, the web host passing tool paths on: REST is tried the whole way a caller goes."""

import os
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import httpx
import pytest

from auth_server.accounts import api_keys
from auth_server.app import create_app
from auth_server.web import flows as auth_threads
from mcp_server.app import build
from mcp_server.toolkit.context import Caller
from mcp_server.toolkit.thread_limiter import limiter
from mcp_server.transport.middleware import RequestGate
from shared.db.base import transaction
from shared.settings import settings
from tests.mcp_server.conftest import listening, served
from tests.support.noted_calls import forget_notes
from tests.support.people import People, everybody


@dataclass
class World:
    """The web host's address, the tool host's, and a client that believes nothing of the environment."""

    url: str
    mcp_url: str
    front: RequestGate
    http: httpx.Client

    def key(self, caller: Caller, name: str = "Tests", *, administer: bool = False) -> str:
        with transaction() as session:
            return api_keys.issue(session, caller.account_id, name, administer=administer)[1]

    def call(self, key: str | None, name: str, /, arguments: Any = None, **more: Any) -> httpx.Response:
        headers = {"Authorization": f"Bearer {key}"} if key else {}
        headers |= more.pop("headers", {})
        address = f"{self.url}/api/v1/tools/{name}"
        return self.http.post(address, json={} if arguments is None else arguments, headers=headers, **more)

    def get(self, path: str, **more: Any) -> httpx.Response:
        return self.http.get(self.url + path, **more)


@pytest.fixture(scope="module")
def running() -> Iterator[World]:
    (web_socket, web_port), (mcp_socket, mcp_port) = listening(), listening()
    web, mcp = f"http://127.0.0.1:{web_port}", f"http://127.0.0.1:{mcp_port}"
    given = {"WEB_URL": web, "MCP_URL": f"{mcp}/mcp", "MCP_UPSTREAM_URL": mcp}
    forget = (settings, limiter, auth_threads.limiter, auth_threads.hashing_limiter)
    os.environ.update(given)
    for cache in forget:
        cache.cache_clear()
    front = build()
    with (
        served(create_app(), web_socket),
        served(front, mcp_socket),
        httpx.Client(trust_env=False, timeout=90) as http,
    ):
        yield World(web, f"{mcp}/mcp", front, http)
    for name in given:
        del os.environ[name]
    for cache in forget:
        cache.cache_clear()


@pytest.fixture
def world(running: World, clean: None) -> World:
    forget_notes()
    running.http.cookies.clear()
    return running


@pytest.fixture
def people(world: World) -> People:
    return everybody()
