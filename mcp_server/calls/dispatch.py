"""From a named tool and raw arguments to one answer: admission, arguments, quota, body, rendering, usage."""

import difflib
import inspect
import logging
import secrets
import time
from collections.abc import Coroutine
from dataclasses import dataclass, replace
from typing import Any

import anyio.to_thread
from pydantic_core import to_json, to_jsonable_python

from mcp_server.calls import size_limit
from mcp_server.calls.quota import Reservation, Via, meters
from mcp_server.calls.usage import USAGE_LOG
from mcp_server.toolkit.context import Call, Caller, LiveCall
from mcp_server.toolkit.refusals import paywall
from mcp_server.toolkit.registry import TOOLS, Tier, Tool
from mcp_server.toolkit.results import Result
from mcp_server.toolkit.thread_limiter import limiter
from shared import clock
from shared.db.usage import API_CALLS, SEARCHES, UNCOUNTED_TOOL
from shared.domain.plans import allows
from shared.errors import AdminOnly, Fault, Invalid, Refusal
from shared.http import Receive, hung_up, while_heard
from shared.settings import settings

log = logging.getLogger(__name__)
NOTICE = "SANDBOX - invented data for testing. Not real availability or prices."


@dataclass(frozen=True)
class Answer:
    """What every door renders: the outcome, the data, and one sentence."""

    status: str
    is_error: bool
    data: dict[str, Any]
    calls_left: int | None = None  # over REST: of this month, where this call was counted

    @property
    def message(self) -> str:
        return str(self.data["message"])

    @property
    def texts(self) -> list[str]:
        """The sentence, led by the sandbox notice where it applies, and the data as compact JSON."""
        lead = f"{NOTICE}\n" if "notice" in self.data else ""
        return [lead + self.message, to_json(self.data).decode()]


def labelled(data: dict[str, Any]) -> dict[str, Any]:
    if settings().data_mode == "sandbox":
        return {"data_mode": "sandbox", "notice": NOTICE, **data}
    return data


def _refused(no: Refusal) -> Answer:
    facts = to_jsonable_python(no.facts)
    return Answer(no.status, no.is_error, labelled({"status": no.status, "message": no.message, **facts}))


def _answered(tool: Tool, result: Result) -> Answer:
    data = labelled(result.model_dump(mode="json"))
    return Answer(result.status, False, size_limit.fit_to_limit(data, reads=tool.hints["readOnlyHint"]))


def _crashed(tool: str) -> Answer:
    call_id = secrets.token_hex(8)
    log.exception("call %s of %s failed", call_id, tool)
    message = "Something went wrong here; it is logged and nothing was stored. Quote the call id to the operator."
    data = {"status": "internal_error", "message": message, "call_id": call_id}
    return Answer("internal_error", True, labelled(data))


def admit(name: str, caller: Caller) -> Tool:
    """The tool, if this caller may run it: it exists, admin, tier. Raises the refusal otherwise."""
    tool = TOOLS.get(name)
    if tool is None:
        nearest = difflib.get_close_matches(name[:64], TOOLS, 3)
        hint = f"; nearest: {', '.join(nearest)}" if nearest else ""
        raise Invalid(Fault("name", "is not a tool of this server", f"a name from tools/list{hint}"))
    if tool.tier is Tier.ADMIN and not caller.is_admin:
        raise AdminOnly(f"{name} is for administrators only.")
    if caller.read_only and not tool.hints["readOnlyHint"]:
        raise Invalid(Fault("name", "changes data, and this token may only read", "a read-only tool"))
    if not allows(caller.plan, tool.tier) and tool.trial is None:
        raise paywall(caller, tool.tier.needs.slug, tool.title)
    return tool


async def _on_trial(tool: Tool, caller: Caller) -> None:
    """Below the tier a tool with a trial asks the account whether it is on one. Raises Paywall."""
    if tool.trial is None or allows(caller.plan, tool.tier):
        return
    if not await anyio.to_thread.run_sync(tool.trial, caller.account_id, limiter=limiter()):
        raise paywall(caller, tool.tier.needs.slug, tool.title)


def _run_here(tool: Tool, call: Call, arguments: dict[str, Any]) -> Answer:
    """A `def` tool on this thread: one transaction, committed when the body returned."""
    done = False
    try:
        answer = _answered(tool, tool.function(call, **arguments))
        done = True
        return answer
    finally:
        call.finish(commit=done)


async def run(tool: Tool, caller: Caller, given: dict[str, Any], via: Via) -> Answer:
    """Checks the arguments, reserves the quotas, runs the body. Raises a Refusal or anything the body raises."""
    await _on_trial(tool, caller)
    arguments = tool.arguments.check(given)
    if tool.name != UNCOUNTED_TOOL and not caller.anonymous:
        await USAGE_LOG.check_daily_limit(caller)
    if found := meters(tool, caller, via):
        return await _metered(Reservation(tool, caller, arguments, found), via)
    return await _body(tool, caller, arguments, via, None)


async def _metered(quota: Reservation, via: Via) -> Answer:
    """A metered call. However it ends, cancelled included, its reservation is kept or given back."""
    made: Answer | None = None
    if quota.limited:
        await anyio.to_thread.run_sync(quota.reserve, limiter=limiter())
    try:
        made = await _caught(quota.tool, quota.caller, quota.arguments, via, quota.left.get(SEARCHES))
    finally:
        with anyio.CancelScope(shield=True):
            ended = (made.status, made.message) if made else (None,)
            await quota.settle(*ended)
    return replace(made, calls_left=quota.left.get(API_CALLS))


async def _caught(tool: Tool, caller: Caller, arguments: dict[str, Any], via: Via, left: int | None) -> Answer:
    try:
        return await _body(tool, caller, arguments, via, left)
    except Refusal as no:
        return _refused(no)


async def _body(tool: Tool, caller: Caller, arguments: dict[str, Any], via: Via, left: int | None) -> Answer:
    if inspect.iscoroutinefunction(tool.function):
        live = LiveCall(caller, via, clock.now(), left)
        return _answered(tool, await tool.function(live, **arguments))
    call = Call(caller, via, clock.now(), left)
    return await anyio.to_thread.run_sync(_run_here, tool, call, arguments, limiter=limiter())


async def dispatch(
    name: str, given: dict[str, Any], caller: Caller, via: Via, receive: Receive | None = None
) -> Answer:
    """The whole way for one call: whatever happens, there is one answer and one note of it.

    Raises HungUp when the caller did not wait for what the world was asked.
    """
    started = time.perf_counter()
    outcome = "cancelled"
    try:
        made = await _heard(TOOLS.get(name), _tried(name, given, caller, via), receive)
        outcome = made.status
        return made
    finally:
        milliseconds = round((time.perf_counter() - started) * 1000)
        USAGE_LOG.note(caller, via, name if name in TOOLS else "unknown", outcome, milliseconds)


async def _heard(tool: Tool | None, trying: Coroutine[Any, Any, Answer], receive: Receive | None) -> Answer:
    """Waiting for the world ends when nobody waits for the answer; what replaces or removes is carried through."""
    if tool is None or not inspect.iscoroutinefunction(tool.function):
        return await trying
    if tool.hints["destructiveHint"]:
        with anyio.CancelScope(shield=True):
            return await trying
    return await (while_heard(hung_up(receive), trying) if receive else trying)


async def _tried(name: str, given: dict[str, Any], caller: Caller, via: Via) -> Answer:
    try:
        return await run(admit(name, caller), caller, given, via)
    except Refusal as no:
        return _refused(no)
    except Exception:  # the edge: everything else is a bug, logged once and answered generically
        return _crashed(name)
