"""From a named tool and raw arguments to one answer: admission, arguments, quota, body, rendering, usage."""

import difflib
import inspect
import logging
import secrets
import time
from dataclasses import dataclass
from typing import Any, Literal

import anyio.to_thread
from pydantic_core import to_json, to_jsonable_python
from sqlalchemy.orm import Session

from mcp_server.call import Call, Caller, LiveCall
from mcp_server.results import Result
from mcp_server.threads import limiter
from mcp_server.toolbox import TOOLS, Tier, Tool
from mcp_server.usage import LEDGER
from shared import clock
from shared.db.base import transaction
from shared.db.trips import SearchRecord
from shared.db.usage import SEARCHES, UNCOUNTED_TOOL, give_back, take
from shared.domain.plans import allows
from shared.errors import AdminOnly, Fault, Invalid, LimitReached, Paywall, Refusal
from shared.settings import settings

log = logging.getLogger(__name__)
Via = Literal["mcp", "rest"]
NOTICE = "SANDBOX - invented data for testing. Not real availability or prices."
COUNTED = {"ok", "partial", "no_data"}  # a search counts when a backend or the cache answered
UNRECORDED = {"invalid", "paywall", "limit_reached", "internal_error"}


@dataclass(frozen=True)
class Answer:
    """What every door renders: the outcome, the data, and one sentence."""

    status: str
    is_error: bool
    data: dict[str, Any]

    @property
    def message(self) -> str:
        return str(self.data["message"])

    @property
    def texts(self) -> list[str]:
        """The sentence, led by the sandbox notice where it applies, and the data as compact JSON."""
        lead = f"{NOTICE}\n" if "notice" in self.data else ""
        return [lead + self.message, to_json(self.data).decode()]


def _labelled(data: dict[str, Any]) -> dict[str, Any]:
    if settings().data_mode == "sandbox":
        return {"data_mode": "sandbox", "notice": NOTICE, **data}
    return data


def _refused(no: Refusal) -> Answer:
    facts = to_jsonable_python(no.facts)
    return Answer(no.status, no.is_error, _labelled({"status": no.status, "message": no.message, **facts}))


def _answered(result: Result) -> Answer:
    return Answer(result.status, False, _labelled(result.model_dump(mode="json")))


def _crashed(tool: str) -> Answer:
    call_id = secrets.token_hex(8)
    log.exception("call %s of %s failed", call_id, tool)
    message = "Something went wrong here; it is logged and nothing was stored. Quote the call id to the operator."
    data = {"status": "internal_error", "message": message, "call_id": call_id}
    return Answer("internal_error", True, _labelled(data))


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
    if not allows(caller.plan, tool.tier):
        raise paywall(caller, tool.tier.needs.slug, tool.title)
    return tool


def paywall(caller: Caller, required: str, feature: str, free_alternative: str | None = None) -> Paywall:
    return Paywall(
        f"{feature} needs the {required.title()} plan; this account is on {caller.plan.slug.title()}.",
        required=required,
        current=caller.plan.slug,
        feature=feature,
        upgrade_url=f"{settings().web_url}/plans",
        free_alternative=free_alternative,
    )


class _Searches:
    """The reservation of one metered search: taken before the body, given back when the call does not count."""

    def __init__(self, tool: Tool, caller: Caller, arguments: dict[str, Any]) -> None:
        self.tool, self.caller, self.arguments = tool, caller, arguments
        self.day = clock.today()
        self.left: int | None = None

    def reserve(self) -> None:
        cap = self.caller.limits.searches_per_day
        with transaction(self.caller.account_id) as session:
            used = take(session, self.caller.account_id, SEARCHES, self.day, cap)
        if used is None:
            raise LimitReached(
                f"All {cap} searches of today are used. They start again at 00:00 UTC; Premium has no daily limit.",
                limit="searches_per_day",
                current=cap or 0,
                cap=cap or 0,
                resets_at=clock.midnight(),
                upgrade_url=f"{settings().web_url}/plans",
            )
        self.left = None if cap is None else cap - used

    def settle(self, answer: Answer | None) -> None:
        """None: the body crashed or the call was cancelled."""
        with transaction(self.caller.account_id) as session:
            if answer is None or answer.status not in COUNTED:
                give_back(session, self.caller.account_id, SEARCHES, self.day)
            if answer is not None and answer.status not in UNRECORDED:
                self._record(session, answer)

    def _record(self, session: Session, answer: Answer) -> None:
        session.add(
            SearchRecord(
                tool=self.tool.name,
                arguments=to_jsonable_python(self.arguments),
                summary=answer.message,
                outcome=answer.status,
            )
        )


def _run_here(tool: Tool, call: Call, arguments: dict[str, Any]) -> Answer:
    """A `def` tool on this thread: one transaction, committed when the body returned."""
    done = False
    try:
        answer = _answered(tool.function(call, **arguments))
        done = True
        return answer
    finally:
        call.finish(commit=done)


async def run(tool: Tool, caller: Caller, given: dict[str, Any], via: Via) -> Answer:
    """Checks the arguments, reserves the quota, runs the body. Raises a Refusal or anything the body raises."""
    arguments = tool.arguments.check(given)
    if tool.name != UNCOUNTED_TOOL:
        await LEDGER.check(caller)
    if tool.meter == "search":
        return await _search(_Searches(tool, caller, arguments), via)
    return await _body(tool, caller, arguments, via, None)


async def _search(searches: _Searches, via: Via) -> Answer:
    """A metered call. However it ends, cancelled included, its reservation is kept or given back."""
    made: Answer | None = None
    await anyio.to_thread.run_sync(searches.reserve, limiter=limiter())
    try:
        made = await _caught(searches.tool, searches.caller, searches.arguments, via, searches.left)
    finally:
        with anyio.CancelScope(shield=True):
            await anyio.to_thread.run_sync(searches.settle, made, limiter=limiter())
    return made


async def _caught(tool: Tool, caller: Caller, arguments: dict[str, Any], via: Via, left: int | None) -> Answer:
    try:
        return await _body(tool, caller, arguments, via, left)
    except Refusal as no:
        return _refused(no)


async def _body(tool: Tool, caller: Caller, arguments: dict[str, Any], via: Via, left: int | None) -> Answer:
    if inspect.iscoroutinefunction(tool.function):
        live = LiveCall(caller, via, clock.now(), left)
        return _answered(await tool.function(live, **arguments))
    call = Call(caller, via, clock.now(), left)
    return await anyio.to_thread.run_sync(_run_here, tool, call, arguments, limiter=limiter())


async def answer(name: str, given: dict[str, Any], caller: Caller, via: Via) -> Answer:
    """The whole way for one call: whatever happens, there is one answer and one note of it."""
    started = time.perf_counter()
    outcome = "cancelled"
    try:
        made = await _tried(name, given, caller, via)
        outcome = made.status
        return made
    finally:
        milliseconds = round((time.perf_counter() - started) * 1000)
        LEDGER.note(caller, via, name if name in TOOLS else "unknown", outcome, milliseconds)


async def _tried(name: str, given: dict[str, Any], caller: Caller, via: Via) -> Answer:
    try:
        return await run(admit(name, caller), caller, given, via)
    except Refusal as no:
        return _refused(no)
    except Exception:  # the edge: everything else is a bug, logged once and answered generically
        return _crashed(name)
