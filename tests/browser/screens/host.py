"""A host of screens on two loopback ports: the page, the judge and the tools on one, the sandbox proxy on the other."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, Response
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles

from mcp_server.screens.load import load_screens
from mcp_server.toolkit.registry import TOOLS
from mcp_server.transport.sdk_server import to_sdk_tool
from tests.browser.screens.judge import Judge
from tests.support.requirements import HERE as PROGRAMS

HERE = Path(__file__).parent
MODULES = PROGRAMS.parent
SCHEMA = MODULES / "@modelcontextprotocol" / "ext-apps" / "dist" / "src" / "generated" / "schema.json"
# The policy the specification names for a screen that declares no addresses.
POLICY = (
    "default-src 'none'; script-src 'self' 'unsafe-inline'; style-src 'self' 'unsafe-inline'; img-src 'self' data:;"
    " font-src 'self'; media-src 'self' data:; connect-src 'none'; frame-src 'none'; object-src 'none';"
    " base-uri 'self'"
)
Answer = Callable[[str, dict[str, Any]], dict[str, Any]]


def _describe_tool(name: str) -> dict[str, Any]:
    """What resources/read and tools/list give a host for this tool."""
    tool = TOOLS[name]
    listed = to_sdk_tool(tool)
    return {
        "html": load_screens()[tool.screen or ""].html,
        "tool": {"name": name, "description": listed.description, "inputSchema": listed.parameters},
    }


def build_host(answer: Answer, sandbox: str) -> Starlette:
    """`answer` gives a tool's result from its name and arguments."""
    judge = Judge(SCHEMA)

    async def page(request: Request) -> Response:
        file = "bridge_host.html" if request.url.path == "/published" else "host.html"
        return HTMLResponse((HERE / file).read_text(encoding="utf-8").replace("SANDBOX_ORIGIN", sandbox))

    async def tool(request: Request) -> Response:
        return JSONResponse(_describe_tool((await request.json())["name"]))

    async def call(request: Request) -> Response:
        body = await request.json()
        return JSONResponse(await run_in_threadpool(answer, body["name"], body["arguments"]))

    async def judged(request: Request) -> Response:
        body = await request.json()
        return JSONResponse(judge.list_faults(body["message"], body["answers"]))

    return Starlette(
        routes=[
            Route("/", page),
            Route("/published", page),
            Route("/tool", tool, methods=["POST"]),
            Route("/call", call, methods=["POST"]),
            Route("/judge", judged, methods=["POST"]),
            Mount("/modules", StaticFiles(directory=MODULES, follow_symlink=True)),
        ]
    )


def build_sandbox() -> Starlette:
    async def page(_: Request) -> Response:
        headers = {"content-security-policy": POLICY}
        return HTMLResponse((HERE / "sandbox.html").read_text(encoding="utf-8"), headers=headers)

    return Starlette(routes=[Route("/", page)])
