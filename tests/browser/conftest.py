"""A real browser, and the places it goes: the web host and an application, both over real sockets."""

import socket
import threading
from collections.abc import Iterator
from typing import Any

import pytest
import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp

from auth_server.app import create_app
from auth_server.web import flows
from tests.auth_server.mailbox import mails  # noqa: F401
from tests.support.browser import Chromium, Tab
from tests.support.fake_identity_providers import outside, serving  # noqa: F401 - fixtures


async def callback(request: Request) -> Response:
    """An application that, as some do, sends the browser on to another of its addresses."""
    onward = f"http://localhost:{request.url.port}/arrived?{request.url.query}"
    return RedirectResponse(onward, 302)


async def arrived(request: Request) -> Response:
    return HTMLResponse("<title>application</title><p>The application has its answer.")


APPLICATION = Starlette(routes=[Route("/callback", callback), Route("/arrived", arrived)])


def serve(app: ASGIApp, listening: socket.socket) -> uvicorn.Server:
    server = uvicorn.Server(uvicorn.Config(app, log_level="error", server_header=False))
    threading.Thread(target=server.run, kwargs={"sockets": [listening]}, daemon=True).start()
    return server


@pytest.fixture
def places(clean: None, configure: Any) -> Iterator[tuple[str, str]]:
    """The addresses of the web host and of an application, both over real sockets."""
    with socket.create_server(("127.0.0.1", 0)) as web, socket.create_server(("127.0.0.1", 0)) as other:
        base, application = (f"http://127.0.0.1:{s.getsockname()[1]}" for s in (web, other))
        configure(WEB_URL=base)
        flows.limiter.cache_clear()
        flows.hashing_limiter.cache_clear()
        servers = [serve(create_app(), web), serve(APPLICATION, other)]
        yield base, application
        for server in servers:
            server.should_exit = True


@pytest.fixture(scope="session")
def chromium(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Chromium]:
    """One browser for all tests of a worker: to start one takes longer than most of them."""
    started = Chromium(tmp_path_factory.mktemp("profile"))
    yield started
    started.close()


@pytest.fixture
def tab(chromium: Chromium) -> Iterator[Tab]:
    opened = Tab(chromium)
    yield opened
    opened.close()
