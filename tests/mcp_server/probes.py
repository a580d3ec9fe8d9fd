"""Tools made for the transport's tests, one of each kind the edge must carry; they replace the real ones there."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Annotated, Any
from unittest.mock import patch

import anyio
from mcp.server.context import CallNext, HandlerResult, ServerRequestContext
from mcp.server.extension import Extension
from mcp_types import CallToolRequestParams, CallToolResult
from pydantic import Field

from mcp_server.toolkit.context import Call, LiveCall
from mcp_server.toolkit.registry import TOOLS, Effect, Tier, tool
from mcp_server.toolkit.results import Result
from shared.db.trips import Trip
from shared.errors import NotFound


class Words(Result):
    words: list[str]
    nothing: str | None


def say_words(
    call: Call, text: Annotated[str, Field(max_length=2000)], times: Annotated[int, Field(ge=1, le=3)] = 1
) -> Words:
    """Say words. Free."""
    return Words(message=f"Said {times} times.", words=[text] * times, nothing=None)


async def wait_a_little(call: LiveCall) -> Words:
    """Wait for the world. Free."""
    await anyio.sleep(0)
    return Words(message="Waited.", words=[call.caller.client_name], nothing=None)


def look_further(call: Call) -> Words:
    """Look further. Premium."""
    return Words(message="Looked.", words=[], nothing=None)


def admin_look(call: Call) -> Words:
    """Look at all. Admin-only."""
    return Words(message="Looked.", words=[], nothing=None)


def break_down(call: Call) -> Words:
    """Break. Free."""
    raise RuntimeError("secret detail of a library")


def find_nothing(call: Call) -> Words:
    """Find nothing. Free."""
    raise NotFound("card", 7)


def add_trip(call: Call, name: str) -> Words:
    """Add a trip. Free."""
    call.db.add(Trip(name=name))
    return Words(message="Added.", words=[name], nothing=None)


class Progressing(Extension):
    """A tool that tells by itself how far it is; the transport must carry it."""

    identifier = "award-travel/tests"

    async def intercept_tool_call(
        self, params: CallToolRequestParams, ctx: ServerRequestContext[Any, Any], call_next: CallNext
    ) -> HandlerResult:
        if params.name != "tell_progress":
            return await call_next(ctx)
        for part in (1, 2):
            await ctx.session.report_progress(part, 2, f"part {part}")
        return CallToolResult(content=[], structured_content={"status": "ok"})


@contextmanager
def probes() -> Iterator[None]:
    with patch.dict(TOOLS, clear=True):
        tool(area="search", tier=Tier.FREE, effect=Effect.READS)(say_words)
        tool(area="search", tier=Tier.FREE, effect=Effect.READS, open_world=True, screen="month-of-seats")(
            wait_a_little
        )
        tool(area="cards", tier=Tier.PREMIUM, effect=Effect.READS)(look_further)
        tool(area="admin", tier=Tier.ADMIN, effect=Effect.READS)(admin_look)
        tool(area="trips", tier=Tier.FREE, effect=Effect.READS)(break_down)
        tool(area="cards", tier=Tier.FREE, effect=Effect.READS)(find_nothing)
        tool(area="trips", tier=Tier.FREE, effect=Effect.ADDS)(add_trip)
        yield
