"""The SDK's MCP Apps extension with our screens, its declaration in every handshake, and the bounds of reading them."""

from typing import Any

import anyio.to_thread
from mcp.server.apps import Apps, ResourceCsp
from mcp.server.context import CallNext, HandlerResult, ServerRequestContext
from mcp.server.extension import Extension
from mcp.shared.exceptions import MCPError
from mcp_types import INVALID_PARAMS, INVALID_REQUEST

from mcp_server.screens.load import load_screens
from mcp_server.toolkit.thread_limiter import limiter
from shared.limits import Verdict, address_key, choose_limit, hit

READS_PER_MINUTE, TRUSTED_READS_PER_MINUTE = 300, 20_000  # trusted networks read for many people
MAX_URI = 300  # characters; the SDK repeats an unknown address in its error


def build_apps() -> Apps:
    """The extension with every screen. Policy and border are explicit, because the defaults of hosts differ."""
    apps = Apps()
    for screen in load_screens().values():
        apps.add_html_resource(
            screen.uri, screen.html, name=screen.name, title=screen.title, csp=ResourceCsp(), prefers_border=True
        )
    return apps


class DeclaredExtensions:
    """Puts capabilities.extensions into the answer to initialize.

    The SDK shapes that answer by the schema of 2025-11-25, which does not know the field, and hosts of today shake
    hands with that revision; without the declaration they draw nothing. What a client declares is not looked at.
    """

    def __init__(self, *extensions: Extension) -> None:
        self.settings = {extension.identifier: extension.settings() for extension in extensions}

    async def __call__(self, ctx: ServerRequestContext[Any, Any], call_next: CallNext) -> HandlerResult:
        answer = await call_next(ctx)
        if ctx.method != "initialize":
            return answer
        assert isinstance(answer, dict)
        return {**answer, "capabilities": {**answer["capabilities"], "extensions": self.settings}}


async def limit_reads(ctx: ServerRequestContext[Any, Any], call_next: CallNext) -> HandlerResult:
    """resources/read spends no quota and leaves no record of use; each network address may read so many a minute."""
    if ctx.method != "resources/read":
        return await call_next(ctx)
    if len(str((ctx.params or {}).get("uri"))) > MAX_URI:
        raise MCPError(code=INVALID_PARAMS, message="There is no such resource; resources/list names them all.")
    peer = (ctx.request.scope.get("client") or ("",))[0] if ctx.request else ""
    limit = choose_limit(peer, READS_PER_MINUTE, TRUSTED_READS_PER_MINUTE)
    if limit is not None:
        verdict = await anyio.to_thread.run_sync(_count_read, peer, limit, limiter=limiter())
        if not verdict.allowed:
            words = f"Too many resources were read from this address. Try again in {verdict.retry_after} seconds."
            raise MCPError(code=INVALID_REQUEST, message=words, data={"retry_after": verdict.retry_after})
    return await call_next(ctx)


def _count_read(peer: str, limit: int) -> Verdict:
    return hit(f"resource-reads:{address_key(peer)}", limit, 60)
