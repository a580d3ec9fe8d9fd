"""The programs that are compared, each an ASGI application made by one function: `python -m tests.bench.programs`."""

import argparse
from typing import Any

import uvicorn
from mcp.server import MCPServer
from mcp.server.transport_security import TransportSecuritySettings
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Scope, Send

from shared.processes.worker_releases import open_listeners

# What our servers are served with, so that their limits of a request's head count too.
PROTOCOLS = {
    "ours": "mcp_server.transport.uvicorn_protocol:HttpProtocol",
    "auth": "auth_server.web.uvicorn_protocol:HttpProtocol",
}
UNCHECKED = TransportSecuritySettings(enable_dns_rebinding_protection=False)


def _trivial() -> MCPServer[Any]:
    server: MCPServer[Any] = MCPServer("bare", log_level="WARNING")

    @server.tool()
    async def add(a: int, b: int) -> dict[str, int | str]:
        return {"status": "ok", "sum": a + b}

    return server


def bare() -> ASGIApp:
    """The SDK as it comes: one tool that does nothing, no one asks who calls."""
    return _trivial().streamable_http_app(json_response=True, stateless_http=True, transport_security=UNCHECKED)


def peer() -> ASGIApp:
    """The same work on FastMCP, in an environment of its own."""
    from tests.bench.peer import build

    return build()


def bare_fast() -> ASGIApp:
    """The same tool behind our transport, to tell what the transport gains from what the gate costs."""
    from mcp_server.transport.streamable_http import Transport

    transport = Transport(_trivial())
    pages = Starlette(lifespan=lambda _: transport.running())

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await pages(scope, receive, send)
        else:
            await transport(scope, receive, send)

    return app


def ours() -> ASGIApp:
    from mcp_server.app import build

    return build()


def auth() -> ASGIApp:
    from auth_server.app import create_app

    return create_app()


async def _echo(request: Request) -> Response:
    return JSONResponse({"active": True, "echo": (await request.body()).decode()})


def echo() -> ASGIApp:
    return Starlette(routes=[Route("/oauth/introspect", _echo, methods=["POST"])])


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("program", choices=["bare", "bare_fast", "peer", "ours", "auth", "echo"])
    parser.add_argument("port", type=int)
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--workers", type=int, default=1, help="of a program that is not ours")
    given = parser.parse_args()
    options: dict[str, Any] = {
        "app": f"tests.bench.programs:{given.program}",
        "factory": True,
        "host": given.host,
        "port": given.port,
        "loop": "uvloop",
        "http": PROTOCOLS.get(given.program, "httptools"),
        "ws": "none",
        "access_log": False,
        "log_level": "warning",
    }
    if given.program in PROTOCOLS:
        config = uvicorn.Config(**options)
        uvicorn.Server(config).run(open_listeners(config))
    else:
        uvicorn.run(workers=given.workers, **options)


if __name__ == "__main__":
    main()
