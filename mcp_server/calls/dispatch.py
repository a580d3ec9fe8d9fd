"""The gate: one tool call from its name and raw arguments to one answer and one usage note.

Three steps: `dispatch` turns whatever happens into one answer, `admit` decides who may call, `execute` runs the call.
"""

import difflib
import inspect
import logging
import secrets
import time
from collections.abc import Awaitable
from dataclasses import dataclass, replace
from typing import Any

import anyio.to_thread
from pydantic_core import to_json, to_jsonable_python

from mcp_server.calls import size_limit
from mcp_server.calls.quota import Quota, Via
from mcp_server.calls.usage import USAGE_LOG
from mcp_server.toolkit.context import Call, Caller, LiveCall
from mcp_server.toolkit.provenance import cite_sources
from mcp_server.toolkit.refusals import paywall
from mcp_server.toolkit.registry import TOOLS, Tier, Tool
from mcp_server.toolkit.report_link import build_report_link, describe_call
from mcp_server.toolkit.results import Result
from mcp_server.toolkit.sandbox_rows import mark_rows
from mcp_server.toolkit.thread_limiter import limiter
from shared import clock
from shared.asgi import ClientDisconnected, Receive, run_while_connected, wait_for_disconnect
from shared.db.usage import API_CALLS, SEARCHES, UNCOUNTED_TOOL
from shared.domain.plans import is_allowed
from shared.errors import AdminOnly, Fault, Invalid, Refusal
from shared.settings import settings

log = logging.getLogger(__name__)
NOTICE = "SANDBOX - invented data for testing. Not real availability or prices."


@dataclass(frozen=True)
class Answer:
    """What every transport renders: the outcome, the data, and one sentence."""

    status: str
    is_error: bool
    data: dict[str, Any]
    calls_left: int | None = None  # over REST: API calls of this month, where this call was counted

    @property
    def message(self) -> str:
        return str(self.data["message"])

    @property
    def texts(self) -> list[str]:
        """The sentence, led by the sandbox notice where it applies, and the data as compact JSON."""
        lead = f"{NOTICE}\n" if "notice" in self.data else ""
        return [lead + self.message, to_json(self.data).decode()]


async def dispatch(
    name: str, raw_arguments: dict[str, Any], caller: Caller, via: Via, receive: Receive | None = None
) -> Answer:
    """One answer and one usage note for each call, whatever happens in it.

    Raises ClientDisconnected when the client disconnected while the tool waited for a source.
    """
    started = time.perf_counter()
    answer, quota = None, Quota(caller, via)
    try:
        tool = admit(name, caller)
        answer = await _until_disconnect(tool, execute(tool, raw_arguments, quota), receive)
    except ClientDisconnected:
        raise
    except Refusal as refusal:
        answer = _render_refusal(refusal)
    except Exception:  # the edge: everything else is a bug, logged once and answered generically
        answer = _render_crash(name)
    finally:
        milliseconds = round((time.perf_counter() - started) * 1000)
        outcome = answer.status if answer else "cancelled"
        USAGE_LOG.note(caller, via, name if name in TOOLS else "unknown", outcome, milliseconds)
    return replace(answer, calls_left=quota.remaining.get(API_CALLS)) if quota.remaining else answer


def admit(name: str, caller: Caller) -> Tool:
    """The tool, if this caller may run it: it exists, admin, read-only token, tier. Raises the refusal otherwise."""
    tool = TOOLS.get(name)
    if tool is None:
        nearest = difflib.get_close_matches(name[:64], TOOLS, 3)
        hint = f"; nearest: {', '.join(nearest)}" if nearest else ""
        raise Invalid(Fault("name", "is not a tool of this server", f"a name from tools/list{hint}"))
    if tool.tier is Tier.ADMIN and not caller.is_admin:
        raise AdminOnly(f"{name} is for administrators only.")
    if caller.read_only and not tool.hints["readOnlyHint"]:
        raise Invalid(Fault("name", "changes data, and this token may only read", "a read-only tool"))
    if not is_allowed(caller.plan, tool.tier) and tool.trial is None:
        raise paywall(caller, tool.tier.needs.slug, tool.title)
    return tool


async def execute(tool: Tool, raw_arguments: dict[str, Any], quota: Quota) -> Answer:
    """Checks the arguments, reserves the quota, runs the body. Raises a Refusal or anything the body raises."""
    caller = quota.caller
    await _check_trial(tool, caller)
    arguments = tool.arguments.check(raw_arguments)
    if tool.name != UNCOUNTED_TOOL and not caller.anonymous:
        await USAGE_LOG.check_daily_limit(caller)
    async with quota.reserve(tool, arguments):
        terms = (caller, quota.via, clock.now(), quota.remaining.get(SEARCHES))
        if inspect.iscoroutinefunction(tool.function):
            answer = _render_result(tool, await tool.function(LiveCall(*terms), **arguments), arguments)
        else:
            answer = await anyio.to_thread.run_sync(_run_on_thread, tool, Call(*terms), arguments, limiter=limiter())
        quota.ending = answer.status, answer.message
    return answer


async def _check_trial(tool: Tool, caller: Caller) -> None:
    """Below the tier a tool with a trial asks whether the account is on one. Raises Paywall."""
    if tool.trial is None or is_allowed(caller.plan, tool.tier):
        return
    if not await anyio.to_thread.run_sync(tool.trial, caller.account_id, limiter=limiter()):
        raise paywall(caller, tool.tier.needs.slug, tool.title)


def _run_on_thread(tool: Tool, call: Call, arguments: dict[str, Any]) -> Answer:
    """A `def` tool on a worker thread: one transaction, committed when the body returned and its answer is built."""
    done = False
    try:
        answer = _render_result(tool, tool.function(call, **arguments), arguments)
        done = True
        return answer
    finally:
        call.finish(commit=done)


async def _until_disconnect(tool: Tool, work: Awaitable[Answer], receive: Receive | None) -> Answer:
    """Cancels a tool that waits for a source once the client is gone, but never one that replaces or removes."""
    if not inspect.iscoroutinefunction(tool.function):
        return await work
    if tool.hints["destructiveHint"]:
        with anyio.CancelScope(shield=True):
            return await work
    return await (run_while_connected(wait_for_disconnect(receive), work) if receive else work)


def add_sandbox_label(data: dict[str, Any]) -> dict[str, Any]:
    if settings().data_mode == "sandbox":
        return {"data_mode": "sandbox", "notice": NOTICE, **data}
    return data


def _render_result(tool: Tool, result: Result, arguments: dict[str, Any]) -> Answer:
    data = add_sandbox_label(mark_rows(result.model_dump(mode="json")))
    citation = cite_sources(data) if tool.cites else ""
    if citation:
        data["message"] = f"{data['message']} {citation}"
    if citation or tool.states_facts:
        data["report_url"] = build_report_link(tool=tool.name, key=describe_call(arguments))
    return Answer(result.status, False, size_limit.fit_to_limit(data, reads=tool.hints["readOnlyHint"]))


def _render_refusal(refusal: Refusal) -> Answer:
    facts = to_jsonable_python(refusal.facts)
    data = {"status": refusal.status, "message": refusal.message, **facts}
    if citation := cite_sources(facts):
        data["message"] = f"{refusal.message} {citation}"
    return Answer(refusal.status, refusal.is_error, add_sandbox_label(data))


def _render_crash(name: str) -> Answer:
    call_id = secrets.token_hex(8)
    log.exception("call %s of %s failed", call_id, name)
    message = "Something went wrong here; it is logged and nothing was stored. Quote the call id to the operator."
    data = {"status": "internal_error", "message": message, "call_id": call_id}
    return Answer("internal_error", True, add_sandbox_label(data))
