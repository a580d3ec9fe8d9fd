"""The gate: one tool call from its name and raw arguments to one answer and one usage note.

Three steps: `dispatch` turns whatever happens into one answer, `admit` decides who may call, `execute` runs the call.
"""

import difflib
import inspect
import logging
import time
from collections.abc import Awaitable
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any

import anyio.to_thread
from pydantic_core import to_jsonable_python

from mcp_server.calls import size_limit
from mcp_server.calls.condensing import condense, write_text
from mcp_server.calls.kept_answers import KeptAnswers, find_key
from mcp_server.calls.lean_tools import find_similar, find_tool, open_call
from mcp_server.calls.questions import (
    MAX_QUESTIONS,
    Person,
    QuestionSent,
    describe_refused,
    find_question,
    insert_reply,
)
from mcp_server.calls.quota import Quota, Via
from mcp_server.calls.usage import USAGE_LOG
from mcp_server.toolkit.context import Call, Caller, LiveCall, RowsNeeded
from mcp_server.toolkit.json_objects import list_objects
from mcp_server.toolkit.provenance import cite_sources
from mcp_server.toolkit.refusals import paywall, refuse_administration, refuse_change, refuse_elsewhere
from mcp_server.toolkit.registry import TOOLS, Detail, Tier, Tool
from mcp_server.toolkit.report_link import build_report_link, describe_call
from mcp_server.toolkit.results import Result
from mcp_server.toolkit.sandbox_rows import mark_rows
from mcp_server.toolkit.thread_limiter import limiter
from shared import clock
from shared.asgi import ClientDisconnected, Receive, run_while_connected, wait_for_disconnect
from shared.db.maintenance import WATCH
from shared.db.outages import OUTAGES, await_return, is_outage, run_again
from shared.db.usage import API_CALLS, SEARCHES, UNCOUNTED_TOOL
from shared.domain.mcp_addresses import WHOLE, McpAddress
from shared.domain.plans import is_allowed
from shared.errors import AdminOnly, Candidates, ConfirmationRequired, Fault, Invalid, Refusal, TemporarilyUnavailable
from shared.settings import settings
from shared.telemetry.call_context import get_id
from shared.telemetry.metrics import note_call

log = logging.getLogger(__name__)
RETRY_SECONDS = 2  # after which a call is to be repeated that the database did not answer
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

    @cached_property
    def texts(self) -> list[str]:
        """The sentence, led by the sandbox notice where it applies, and the data as compact JSON without nulls."""
        lead = f"{NOTICE}\n" if "notice" in self.data else ""
        return [lead + self.message, write_text(self.data)]


KEPT: KeptAnswers[Answer] = KeptAnswers()


async def dispatch(
    name: str,
    raw_arguments: dict[str, Any],
    caller: Caller,
    via: Via,
    receive: Receive | None = None,
    address: McpAddress = WHOLE,
    person: Person | None = None,
) -> Answer:
    """One answer and one usage note for each call, whatever happens in it.

    Raises ClientDisconnected when the client disconnected while the tool waited for a source, and QuestionSent, without
    a note, when the call comes again with the answer of the person.
    """
    started = time.perf_counter()
    answer, pending, quota = None, False, Quota(caller, via)
    try:
        refuse_in_maintenance(caller)
        name, raw_arguments = open_call(name, raw_arguments, address)  # what is inside counts from here on
        tool = admit(name, caller, address)
        answer = await _until_disconnect(tool, execute(tool, raw_arguments, quota, person), receive)
    except ClientDisconnected:
        raise
    except QuestionSent:
        pending = True
        raise
    except Refusal as refusal:
        answer = _render_refusal(refusal)
    except Exception as error:  # the edge: what is no outage is a bug, logged once and answered generically
        answer = _render_outage(error, quota) if is_outage(error) else _render_crash(name, quota)
    finally:
        seconds = time.perf_counter() - started - quota.person_seconds
        outcome = answer.status if answer else "cancelled"
        label = name if find_tool(name, address) else "unknown"
        if not pending:
            note_call(label, outcome, seconds)
        if not pending and not _is_own_look(find_tool(name, address), caller):
            USAGE_LOG.note(caller, via, label, outcome, round(seconds * 1000))
    return replace(answer, calls_left=quota.remaining.get(API_CALLS)) if quota.remaining else answer


def refuse_in_maintenance(caller: Caller) -> None:
    """Raises TemporarilyUnavailable for everybody but administrators on the pages."""
    maintenance = WATCH.current
    if maintenance and not (caller.on_page and caller.is_admin):
        raise TemporarilyUnavailable(maintenance.sentence, retry_after=maintenance.retry_after, saved=False)


def admit(name: str, caller: Caller, address: McpAddress = WHOLE) -> Tool:
    """The tool, if this caller may run it here: it exists, its address, admin, reading only, tier.

    Raises the refusal otherwise.
    """
    tool = find_tool(name, address)
    if tool is None:
        here = [other.name for other in TOOLS.values() if address.offers(other.name, other.area, reads=True)]
        nearest = difflib.get_close_matches(name[:64], here, 3) or (find_similar(name) if address.finds else [])
        hint = f"; nearest: {', '.join(nearest)}" if nearest else ""
        raise Invalid(Fault("name", "is not a tool of this server", f"a name from tools/list{hint}"))
    if not address.offers(name, tool.area, reads=True):  # what changes data is refused below, in its own words
        raise refuse_elsewhere(name, address)
    if tool.tier is Tier.ADMIN and not caller.is_admin:
        raise AdminOnly(f"{name} is for administrators only.")
    if tool.tier is Tier.ADMIN and not caller.may_administer:
        raise refuse_administration(name)
    if caller.read_only and not tool.reads:
        raise refuse_change(name)
    if not is_allowed(caller.plan, tool.tier) and tool.trial is None:
        raise paywall(caller, tool.tier.needs.slug, tool.plain_name)
    return tool


async def execute(tool: Tool, raw_arguments: dict[str, Any], quota: Quota, person: Person | None = None) -> Answer:
    """Checks the arguments, reserves the quota, runs the body. Raises a Refusal or anything the body raises."""
    caller = quota.caller
    await _check_trial(tool, caller)
    arguments = tool.arguments.check(raw_arguments)
    if tool.name != UNCOUNTED_TOOL and not caller.anonymous and not _is_own_look(tool, caller):
        await USAGE_LOG.check_daily_limit(caller)
    async with quota.reserve(tool, arguments):
        answer = await (_ask_and_run(quota, raw_arguments, person) if person else _run_body(quota))
        quota.ending = answer.status, answer.message
    return answer


def _is_own_look(tool: Tool | None, caller: Caller) -> bool:
    """A page shows a person what they keep: no call of the day is used, and none is noted."""
    return caller.on_page and tool is not None and tool.reads and not tool.live and tool.meter == "none"


async def _run_body(quota: Quota) -> Answer:
    """The body of a tool that only reads is run once more where the database went away in it; no other ever is."""
    try:
        return await _run_once(quota)
    except Exception as error:
        if not (quota.tool.reads and is_outage(error)):
            raise
        OUTAGES.note(error)
    await anyio.to_thread.run_sync(await_return)
    return await _run_once(quota)


async def _run_once(quota: Quota) -> Answer:
    tool, arguments = quota.tool, dict(quota.arguments)
    compact = tool.condenses and _is_compact(arguments.pop("detail"), quota.via)
    terms = (quota.caller, quota.via, clock.now(), quota.remaining.get(SEARCHES))
    if inspect.iscoroutinefunction(tool.function):
        quota.may_have_stored = not tool.reads  # in its own transactions
        result = await tool.function(LiveCall(*terms), **arguments)
        return _render_result(tool, result, arguments, compact=compact)
    if tool.static:  # the change to a thread and back takes 0.1 ms, a quarter of such a call
        try:
            return _build_answer(tool, Call(*terms, reads=tool.reads, static=True), arguments, compact)
        except RowsNeeded:
            if tool.static != "mostly":
                raise
    call = Call(*terms, reads=tool.reads)
    return await anyio.to_thread.run_sync(_run_on_thread, quota, call, arguments, compact, limiter=limiter())


async def _ask_and_run(quota: Quota, raw_arguments: dict[str, Any], person: Person) -> Answer:
    """Runs the body, and again with each answer of the person: what it refused was rolled back before they are asked.

    The refusal stands where they do not answer.
    """
    for _ in range(MAX_QUESTIONS):
        try:
            return await _run_body(quota)
        except (Candidates, ConfirmationRequired) as refusal:
            question = find_question(refusal, raw_arguments)
            if question is None:
                raise
            asked_at = time.perf_counter()
            reply = await person.ask(question)
            quota.person_seconds += time.perf_counter() - asked_at
            changed = insert_reply(question, reply, raw_arguments)
            if changed is None:
                raise describe_refused(refusal, question, reply) from None
        raw_arguments = changed
        quota.arguments = quota.tool.arguments.check(raw_arguments)
    return await _run_body(quota)


async def _check_trial(tool: Tool, caller: Caller) -> None:
    """Below the tier a tool with a trial asks whether the account is on one. Raises Paywall."""
    if tool.trial is None or is_allowed(caller.plan, tool.tier):
        return
    if not await anyio.to_thread.run_sync(run_again, partial(tool.trial, caller.account_id), limiter=limiter()):
        raise paywall(caller, tool.tier.needs.slug, tool.plain_name)


def _is_compact(detail: Detail | None, via: Via) -> bool:
    """Over REST an answer is whole unless asked otherwise: a program reads it, by the schema that is published."""
    return detail == "compact" or (detail is None and via == "mcp")


def _run_on_thread(quota: Quota, call: Call, arguments: dict[str, Any], compact: bool) -> Answer:
    """A `def` tool on a worker thread: one transaction, committed when the body returned and its answer is built.

    A tool that only reads has none.
    """
    tool, done = quota.tool, False
    try:
        key = find_key(tool, call, arguments, compact)
        build = partial(_build_answer, tool, call, arguments, compact)
        answer = build() if key is None else KEPT.find(call, key, build)
        done, quota.may_have_stored = True, not tool.reads
        return answer
    finally:
        call.finish(commit=done)


def _build_answer(tool: Tool, call: Call, arguments: dict[str, Any], compact: bool) -> Answer:
    return _render_result(tool, tool.function(call, **arguments), arguments, compact=compact)


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


def _render_result(tool: Tool, result: Result, arguments: dict[str, Any], *, compact: bool) -> Answer:
    data = result.model_dump(mode="json")
    objects = list_objects(data)
    mark_rows(objects)
    data = add_sandbox_label(data)
    citation = cite_sources(objects) if tool.cites else ""
    if citation:
        data["message"] = f"{data['message']} {citation}"
    if citation or tool.states_facts:
        data["report_url"] = build_report_link(tool=tool.name, key=describe_call(arguments))
    if compact:
        data = condense(data, objects[1:])
    return Answer(result.status, False, size_limit.fit_to_limit(data, reads=tool.reads))


def _render_refusal(refusal: Refusal) -> Answer:
    facts = to_jsonable_python(refusal.facts)
    data = {"status": refusal.status, "message": refusal.message, **facts}
    if citation := cite_sources(list_objects(facts)):
        data["message"] = f"{refusal.message} {citation}"
    return Answer(refusal.status, refusal.is_error, add_sandbox_label(data))


def _render_outage(error: Exception, quota: Quota) -> Answer:
    OUTAGES.note(error)
    words = f"The database of this service does not answer. Nothing was stored. Call again in {RETRY_SECONDS} seconds."
    if quota.may_have_stored:
        words = (
            "The database of this service went away during the call, so it is not certain that the change was stored. "
            f"Look in {RETRY_SECONDS} seconds whether it is there before you call again."
        )
    saved = None if quota.may_have_stored else False
    return _render_refusal(TemporarilyUnavailable(words, retry_after=RETRY_SECONDS, saved=saved))


def _render_crash(name: str, quota: Quota) -> Answer:
    call_id = get_id()
    log.exception("call %s of %s failed", call_id, name)
    words = "Something went wrong here; it is logged and nothing was stored."
    if quota.may_have_stored:
        words = (
            "Something went wrong here and is logged. It is not certain that the change was stored: look whether it is"
            " there before you call again."
        )
    data = {"status": "internal_error", "message": f"{words} Quote the call id to the operator.", "call_id": call_id}
    return Answer("internal_error", True, add_sandbox_label(data))
