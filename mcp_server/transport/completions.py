"""completion/complete: what may follow in an argument of a prompt: airports, programmes and the caller's own trips."""

from contextvars import ContextVar
from functools import partial
from typing import Any

import anyio.to_thread
from mcp.server import MCPServer
from mcp.server.context import CallNext, HandlerResult, ServerRequestContext
from mcp.shared.exceptions import MCPError
from mcp_types import (
    INVALID_PARAMS,
    INVALID_REQUEST,
    Completion,
    CompletionArgument,
    CompletionContext,
    PromptReference,
    ResourceTemplateReference,
)
from sqlalchemy import select

from mcp_server.toolkit.context import Caller
from mcp_server.toolkit.thread_limiter import limiter
from mcp_server.ways_of_working.texts import read_ways_of_working
from shared.db.base import transaction
from shared.db.trips import Trip
from shared.domain import names
from shared.limits import hit
from shared.reference.completions import complete_places, complete_programs
from shared.reference.load import reference

PER_MINUTE = 300  # of one account: hosts ask at each letter
MAX_VALUES = 20  # the protocol allows 100; no one reads so many
MAX_CHARACTERS = 100
MAX_TRIPS = 200  # looked through, the latest first
_asking: ContextVar[Caller] = ContextVar("asking")


def add_completions(server: MCPServer[Any]) -> None:
    server.completion()(complete_argument)  # type: ignore[no-untyped-call]


async def remember_caller(ctx: ServerRequestContext[Any, Any], call_next: CallNext) -> HandlerResult:
    """The SDK does not hand its context to what completes, and trips are the caller's own."""
    if ctx.method != "completion/complete":
        return await call_next(ctx)
    assert ctx.request is not None  # every call comes by HTTP
    token = _asking.set(ctx.request.scope["caller"])
    try:
        return await call_next(ctx)
    finally:
        _asking.reset(token)


async def complete_argument(
    ref: PromptReference | ResourceTemplateReference,
    argument: CompletionArgument,
    context: CompletionContext | None,  # noqa: ARG001 - no argument depends on another
) -> Completion:
    """Raises MCPError for an argument no prompt has, and over the limit."""
    kind = _find_kind(ref, argument.name)
    if not kind or len(argument.value) > MAX_CHARACTERS:
        return Completion(values=[], total=0, has_more=False)
    work = partial(_complete, kind, argument.value, _asking.get().account_id)
    values, total = await anyio.to_thread.run_sync(work, limiter=limiter())
    return Completion(values=values, total=total, has_more=total > len(values))


def _find_kind(ref: PromptReference | ResourceTemplateReference, name: str) -> str:
    way = read_ways_of_working().get(ref.name) if isinstance(ref, PromptReference) else None
    kinds = {argument.name: argument.completes for argument in way.arguments} if way else {}
    if name not in kinds:
        raise MCPError(code=INVALID_PARAMS, message="No prompt has such an argument; prompts/list names them.")
    return kinds[name]


def _complete(kind: str, text: str, account_id: int) -> tuple[list[str], int]:
    verdict = hit(f"completions:{account_id}", PER_MINUTE, 60)
    if not verdict.allowed:
        words = f"Too many completions were asked for. Try again in {verdict.retry_after} seconds."
        raise MCPError(code=INVALID_REQUEST, message=words, data={"retry_after": verdict.retry_after})
    if kind == "airport":
        return complete_places(reference(), text, MAX_VALUES)
    if kind == "program":
        return complete_programs(reference(), text, MAX_VALUES)
    return _complete_trips(text, account_id)


def _complete_trips(text: str, account_id: int) -> tuple[list[str], int]:
    """Active trips with a word that begins so, the latest first, each with the number that tools take."""
    active = select(Trip.id, Trip.name).where(Trip.account_id == account_id, Trip.archived_at.is_(None))
    with transaction(account_id) as session:
        rows = session.execute(active.order_by(Trip.id.desc()).limit(MAX_TRIPS)).all()
    start = names.normalize_name(text)
    fitting = [f"{name} (trip {id})" for id, name in rows if f" {start}" in f" {names.normalize_name(name)}"]
    return fitting[:MAX_VALUES], len(fitting)
