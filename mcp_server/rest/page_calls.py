"""POST /api/v1/tools: one page's looks from the web host in one request, answered line by line; only for our pages."""

from contextlib import suppress
from typing import Any

import anyio
import anyio.to_thread
from pydantic import BaseModel, ConfigDict, Field, ValidationError
from pydantic_core import to_json
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.types import Receive, Scope, Send

from mcp_server.calls.dispatch import dispatch
from mcp_server.calls.pace import PACE
from mcp_server.toolkit.context import Caller
from mcp_server.toolkit.thread_limiter import limiter
from mcp_server.transport.token_verifier import AuthServerUnavailable, RateLimited, TokenRejected, TokenVerifier
from shared.asgi import (
    BodyIncomplete,
    BodyTooLarge,
    ClientDisconnected,
    read_body,
    run_while_connected,
    wait_for_disconnect,
)
from shared.documents.route_map import MAX_LEGS
from shared.domain.mcp_addresses import WHOLE
from shared.internal_api import DRAW_FLIGHTS, MAX_PAGE_CALLS, PAGE_CALLS_PATH, PAGE_TOKEN
from shared.reference.load import reference
from shared.services.bookings.flight_maps import Flight, draw_flights

MAX_BODY_BYTES, MAX_BODY_SECONDS = 256 * 1024, 5.0


class PageCall(BaseModel):
    model_config = ConfigDict(extra="forbid")
    name: str
    arguments: dict[str, Any] = {}


class DrawArguments(BaseModel):
    """Of the call that is no tool; the flights in the order in which they are flown."""

    model_config = ConfigDict(extra="forbid")
    flights: list[Flight] = Field(max_length=MAX_LEGS)


class PageCalls(BaseModel):
    model_config = ConfigDict(extra="forbid")
    calls: list[PageCall] = Field(min_length=1, max_length=MAX_PAGE_CALLS)


class PageRoute:
    """The route for read-only page tokens. Each call passes the gate separately, as over MCP."""

    def __init__(self, tokens: TokenVerifier) -> None:
        self.tokens = tokens

    def routes(self) -> list[Route]:
        return [Route(PAGE_CALLS_PATH, self.answer, methods=["POST"])]

    async def answer(self, request: Request) -> Response:
        caller = await self._find_looker(request)
        if isinstance(caller, int):
            return Response(status_code=caller, headers={"Allow": "GET, HEAD"} if caller == 405 else None)
        try:
            body = await read_body(
                request.scope, request.receive, max_bytes=MAX_BODY_BYTES, max_seconds=MAX_BODY_SECONDS
            )
            calls = PageCalls.model_validate_json(body).calls
        except (BodyTooLarge, BodyIncomplete, ValidationError):
            return Response(status_code=400)
        return Lines(calls, caller)

    async def _find_looker(self, request: Request) -> Caller | int:
        """The caller, or the status of the refusal: unknown token, one that may do more, or no answer about it."""
        scheme, _, token = request.headers.get("authorization", "").partition(" ")
        if scheme != "Bearer" or not token.startswith(PAGE_TOKEN):
            return 405  # the path lists tools, for other readers
        try:
            caller = await self.tokens.check(token, request.client.host if request.client else "", WHOLE)
        except TokenRejected:
            return 401
        except RateLimited:
            return 429
        except AuthServerUnavailable:
            return 503
        return caller if caller.on_page and caller.read_only else 403


class Lines(Response):
    """One line for each call in order of completion: its index and its answer."""

    def __init__(self, calls: list[PageCall], caller: Caller) -> None:
        super().__init__(media_type="application/x-ndjson")
        del self.headers["content-length"]
        self.calls, self.caller = calls, caller

    async def __call__(self, _scope: Scope, receive: Receive, send: Send) -> None:
        with suppress(ClientDisconnected):
            await run_while_connected(wait_for_disconnect(receive), self._answer_all(send))

    async def _answer_all(self, send: Send) -> None:
        await send({"type": "http.response.start", "status": self.status_code, "headers": self.raw_headers})
        async with anyio.create_task_group() as tasks:
            for place, call in enumerate(self.calls):
                tasks.start_soon(self._answer, place, call, send)
        await send({"type": "http.response.body", "body": b""})

    async def _answer(self, place: int, call: PageCall, send: Send) -> None:
        async with PACE.take_turn(self.caller.account_id):
            if call.name == DRAW_FLIGHTS:
                data = await _draw(call.arguments)
            else:
                data = (await dispatch(call.name, call.arguments, self.caller, "mcp")).data
        line = to_json([place, data]) + b"\n"
        await send({"type": "http.response.body", "body": line, "more_body": True})


async def _draw(arguments: dict[str, Any]) -> dict[str, Any]:
    """Draws the map and its flights; does not explain what is wrong with bad input: only our own pages ask."""
    try:
        flights = DrawArguments.model_validate(arguments).flights
    except ValidationError:
        return {"status": "invalid_input"}
    drawing, facts = await anyio.to_thread.run_sync(draw_flights, reference(), flights, limiter=limiter())
    return {"status": "ok", "map": drawing, "flights": facts}
