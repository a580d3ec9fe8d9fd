"""The gate: one tool call from its name and raw arguments to one answer and one usage note.

Three steps: `dispatch` turns any outcome into one answer, `admit` decides who may call, `execute` runs the call.
"""

import difflib
import inspect
import logging
import time
from collections import Counter
from collections.abc import Awaitable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any

import anyio.to_thread
from pydantic_core import to_json, to_jsonable_python

from mcp_server.calls.known_person import read_person
from mcp_server.calls.lean_tools import find_similar, find_tool, open_call
from mcp_server.calls.questions import (
    MAX_QUESTIONS,
    Person,
    Question,
    QuestionSent,
    describe_refused,
    find_question,
    insert_held,
    insert_reply,
)
from mcp_server.calls.quota import Quota, Via
from mcp_server.calls.usage import USAGE_LOG
from mcp_server.toolkit import TOOLS, Call, Caller, Detail, LiveCall, Paging, Result, RowsNeeded, Tier, Tool
from mcp_server.toolkit.context import ApartNeeded
from mcp_server.toolkit.provenance import cite_checks
from mcp_server.toolkit.refusals import paywall, refuse_administration, refuse_change, refuse_elsewhere, refuse_files
from mcp_server.toolkit.report_link import build_report_link, describe_call
from mcp_server.toolkit.sandbox_rows import list_objects, mark_rows
from mcp_server.toolkit.thread_limiter import limiter, run_for_account
from mcp_server.toolkit.wording import describe_airports, join_names
from shared import clock
from shared.asgi import ClientDisconnected, Receive, run_while_connected, wait_for_disconnect
from shared.db.balances import read_held_programs
from shared.db.maintenance import WATCH
from shared.db.outages import OUTAGES, await_return, is_locked, is_outage, run_again
from shared.db.usage import API_CALLS, SEARCHES, UNCOUNTED_TOOL
from shared.domain.mcp_addresses import WHOLE, McpAddress
from shared.domain.plans import is_allowed
from shared.errors import (
    AdminOnly,
    Busy,
    Candidates,
    ConfirmationRequired,
    Fault,
    Invalid,
    NoData,
    Refusal,
    TemporarilyUnavailable,
)
from shared.limits.heavy_work import run_heavy
from shared.reference.load import reference
from shared.settings import settings
from shared.telemetry.call_context import get_id
from shared.telemetry.metrics import note_call

# The size limit of an answer: lists that make it too long are shortened, and the message says so.
#
# A page becomes a smaller page that starts at the same row, so that the next page misses nothing.

MAX_CHARACTERS = 100_000  # of an answer's text: hosts cut longer ones, and a model pays for each
MOST_WITH_CITIES = 500  # characters of a message, before the day of the check
_NOTICE_CHARACTERS = 200  # reserve for the sandbox notice before the sentence
_KEPT_SHARE = 0.8  # of the longest list's rows, in each round


def count_characters(data: Mapping[str, Any]) -> int:
    """Characters of its text: the sentence, and all of it as JSON."""
    return len(to_json(data).decode()) + len(str(data.get("message", ""))) + _NOTICE_CHARACTERS


def fit_to_limit(data: dict[str, Any], *, reads: bool) -> dict[str, Any]:
    """Raises Invalid for a page of mixed lists that is too long and only read: no smaller page starts where it did."""
    if (length := count_characters(data)) <= MAX_CHARACTERS:
        return data
    if reads and (rows := _count_rows_on_page(data.get("paging"))) > 1:
        if smaller := _shrink_page(data, data["paging"], rows):
            return smaller
        fewer = max(1, int(rows * MAX_CHARACTERS * 0.9 / length))
        raise Invalid(
            Fault("per_page", f"makes a result longer than {MAX_CHARACTERS:,} characters", f"at most {fewer} here")
        )
    return _shorten_lists(data)


def _count_rows_on_page(paging: Mapping[str, int] | None) -> int:
    """Counts the rows of this page: the last one is seldom full."""
    if not paging:
        return 1
    return min(paging["per_page"], paging["total"] - (paging["page"] - 1) * paging["per_page"])


def _shrink_page(data: dict[str, Any], paging: Mapping[str, Any], rows: int) -> dict[str, Any] | None:
    """A page with the same first row, of a size that divides the requested one; None if the page is not one list."""
    name = next((name for name, value in data.items() if isinstance(value, list) and len(value) == rows), None)
    if name is None:
        return None
    per_page, total = paging["per_page"], paging["total"]
    summary = data["message"].replace(Paging(**paging).more, "")  # it names the next page of the requested size
    for fewer in (n for n in range(rows - 1, 0, -1) if per_page % n == 0):
        page = (paging["page"] - 1) * (per_page // fewer) + 1
        smaller = {"page": page, "per_page": fewer, "total": total, "has_more": page * fewer < total}
        message = f"{summary} Too long to show whole: go on with page {page + 1} and per_page {fewer}."
        answer = data | {"message": message, name: data[name][:fewer], "paging": smaller}
        if count_characters(answer) <= MAX_CHARACTERS or fewer == 1:
            return answer
    return None


def _shorten_lists(data: dict[str, Any]) -> dict[str, Any]:
    whole_lengths: dict[str, int] = {}
    lists = {name: rows for name, rows in _find_lists("", data) if len(rows) > 1}
    while count_characters(data) > MAX_CHARACTERS and lists:
        longest = max(lists, key=lambda name: len(to_json(lists[name])))
        rows = lists[longest]
        whole_lengths.setdefault(longest, len(rows))
        del rows[max(1, int(len(rows) * _KEPT_SHARE)) :]
        if len(rows) == 1:
            del lists[longest]
    short = dict(_find_lists("", data))
    counts = [f"{len(short[name])} of {count} {name.replace('_', ' ')}" for name, count in whole_lengths.items()]
    if "has_more" in data:
        data["has_more"] = True
    return data | {"message": f"{data['message']} Too long to show whole: {', '.join(counts)}."} if counts else data


def _find_lists(prefix: str, part: Mapping[str, Any]) -> Iterator[tuple[str, list[Any]]]:
    """The lists of a result by name, those within its parts too, but none within another list."""
    for name, value in part.items():
        if isinstance(value, list):
            yield prefix + name, value
        elif isinstance(value, dict):
            yield from _find_lists(f"{prefix}{name}.", value)


# Compact answers: values that rows share are given once, and empty ones are left out.
#
# A model reads each answer whole and pays for each word, so this is how tools with the parameter `detail` answer unless
# asked for `full`. Thirty offers of one search repeated their source, its age and the sandbox's marks: a
# quarter of 21 kB.

# For facts of the reference data (`Sourced`), and offers of a source of seats, fares or rooms.
_FACT_FIELDS = ("source_url", "as_of", "unaudited", "confidence", "verified_on", "audited_on")
_SIGHTING_FIELDS = ("source", "mode", "provider_checked_at", "age_seconds", "synthetic", "live", "generated_at")
# For published values of points, and airlines that a source of seats is asked about.
_VALUE_FIELDS = ("unit", "basis")
_STANDING_FIELDS = ("endpoints", "state", "last_success_at")

_OPENING = ("data_mode", "notice", "status", "message")  # come before what rows share, and that before the rows


def condense(data: dict[str, Any], rows: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Makes the JSON data of an answer compact, with all nested objects; consumes its argument.

    `provenance` holds the provenance its rows have in common: a row without such a field has that one.
    Rows leave out what is empty, and `bookable_with` where that is only their programme. Coverage counts who was asked
    and who answered, and names only those who did not.
    """
    facts = [row for row in rows if "source_url" in row and "unaudited" in row]
    sightings = [
        row for row in rows if "source" in row and "fetched_at" not in row and ("mode" in row or "synthetic" in row)
    ]
    _leave_out_confidence(facts)
    provenance = _share_fields(facts, _FACT_FIELDS) | _share_fields(sightings, _SIGHTING_FIELDS)
    provenance |= _share_fields([row for row in rows if "unit" in row and "basis" in row], _VALUE_FIELDS)
    provenance |= _share_fields([row for row in rows if "endpoints" in row and "state" in row], _STANDING_FIELDS)
    # An opinion quoted within a row has the row's date unless it says another.
    opinions = [row for row in rows if row.keys() == {"name", "value", "as_of"}]
    for opinion in opinions:
        if "as_of" in provenance and opinion["as_of"] == provenance["as_of"]:
            del opinion["as_of"]
    for value in data.values():
        if type(value) is list:
            _leave_out_empty(value, provenance)
    for row in rows:
        if "program" in row and row.get("bookable_with") == [row["program"]]:
            del row["bookable_with"]
    if type(coverage := data.get("coverage")) is dict:
        counts = {f"{name}_count": len(coverage[name]) for name in ("asked", "answered")}
        data["coverage"] = counts | {name: coverage[name] for name in ("failed", "skipped")}
    opening = {name: data.pop(name) for name in _OPENING if name in data}
    return opening | {"detail": "compact"} | ({"provenance": provenance} if provenance else {}) | data


def _leave_out_confidence(facts: list[dict[str, Any]]) -> None:
    """A part of a fact, such as an earning rate of a card, has the confidence of the fact unless it says another."""
    for fact in facts:
        parts = [part for value in fact.values() if type(value) is list for part in value if type(part) is dict]
        for part in parts:
            if "source_url" not in part and "confidence" in part and part["confidence"] == fact.get("confidence"):
                del part["confidence"]


def _share_fields(rows: list[dict[str, Any]], names: tuple[str, ...]) -> dict[str, Any]:
    """Removes from the rows the most common value of each field they all have, and returns these values."""
    shared: dict[str, Any] = {}
    if len(rows) < 2:
        return shared
    for name in names:
        if all(name in row for row in rows):
            texts = [to_json(row[name]) for row in rows]  # a list cannot be counted, its text can
            text, count = Counter(texts).most_common(1)[0]
            if count > 1:
                shared[name] = rows[texts.index(text)][name]
    for row in rows:
        for name, value in shared.items():
            if row[name] == value:
                del row[name]
    return shared


def _leave_out_empty(rows: list[Any], provenance: Mapping[str, Any]) -> None:
    """Removes null fields of rows and nested objects, but for those whose shared value is another."""
    for row in rows:
        if type(row) is dict:
            for name in [name for name, value in row.items() if value is None and provenance.get(name) is None]:
                del row[name]
            _leave_out_empty(list(row.values()), provenance)
        elif type(row) is list:
            _leave_out_empty(row, provenance)


def write_text(data: Mapping[str, Any]) -> str:
    """An answer as compact JSON without its null fields, for hosts that give a model only the text."""
    shared: dict[str, Any] = data.get("provenance") or {}
    telling = frozenset(name for name, value in shared.items() if value is not None)
    return to_json(_without_nulls(data, telling)).decode()


def _without_nulls(value: Any, telling: frozenset[str]) -> Any:
    """`telling`: fields whose null has a meaning, because rows share another value."""
    if type(value) is dict:
        return {
            name: _without_nulls(part, telling) if type(part) in (dict, list) else part
            for name, part in value.items()
            if part is not None or name in telling
        }
    return [_without_nulls(part, telling) for part in value] if type(value) is list else value


log = logging.getLogger(__name__)
_LOCKED = "Another call still changes what this one is about, so nothing was begun. Call again in a moment."
RETRY_SECONDS = 2  # after which to repeat a call that the database did not answer
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
    def text(self) -> str:
        """The sentence, led by the sandbox notice where it applies, and on the last line the data as compact JSON.

        One text, because some hosts show a model only the first.
        """
        lead = f"{NOTICE}\n" if "notice" in self.data else ""
        return f"{lead}{self.message}\n{write_text(self.data)}"


async def dispatch(
    name: str,
    raw_arguments: dict[str, Any],
    caller: Caller,
    via: Via,
    receive: Receive | None = None,
    address: McpAddress = WHOLE,
    person: Person | None = None,
) -> Answer:
    """Returns one answer and one usage note for each call, whatever happens in it.

    Raises ClientDisconnected when the client disconnected while the tool waited for a source, and QuestionSent, without
    a note, when the call will come again with the person's answer.
    """
    started = time.perf_counter()
    answer, pending, quota = None, False, Quota(caller, via)
    try:
        refuse_in_maintenance(caller)
        name, raw_arguments = open_call(name, raw_arguments, address)  # the inner call counts from here on
        tool = admit(name, caller, address)
        answer = await _until_disconnect(tool, execute(tool, raw_arguments, quota, person), receive)
    except ClientDisconnected:
        raise
    except QuestionSent:
        pending = True
        raise
    except Refusal as refusal:
        answer = _render_refusal(refusal)
    except Exception as error:  # the edge: anything but the first two is a bug, logged once, answered generically
        if is_outage(error):
            answer = _render_outage(error, quota)
        elif is_locked(error) and not quota.may_have_stored:
            answer = _render_refusal(Busy(_LOCKED, retry_after=RETRY_SECONDS))
        else:
            answer = _render_crash(name, quota)
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
    """The tool, if this caller may run it here: checks existence, address, admin, read-only and tier.

    Raises the refusal otherwise.
    """
    tool = find_tool(name, address)
    if tool is None:
        here = [other.name for other in TOOLS.values() if address.offers(other.name, other.area, reads=True)]
        nearest = difflib.get_close_matches(name[:64], here, 3) or (find_similar(name) if address.finds else [])
        hint = f"; nearest: {', '.join(nearest)}" if nearest else ""
        raise Invalid(Fault("name", "is not a tool of this server", f"a name from tools/list{hint}"))
    if not address.offers(name, tool.area, reads=True):  # changes are refused below, with another message
        raise refuse_elsewhere(name, address)
    if tool.tier is Tier.ADMIN and not caller.is_admin:
        raise AdminOnly(f"{name} is for administrators only.")
    if tool.tier is Tier.ADMIN and not caller.may_administer:
        raise refuse_administration(name)
    if caller.read_only and not tool.reads:
        raise refuse_change(name)
    if not is_allowed(caller.plan, tool.tier) and tool.trial is None:
        raise paywall(caller, tool.tier.needs.slug, tool.plain_name)
    if tool.keeps_files and not caller.has_person:
        raise refuse_files()
    return tool


async def execute(tool: Tool, raw_arguments: dict[str, Any], quota: Quota, person: Person | None = None) -> Answer:
    """Checks the arguments, reserves the quota, runs the body. Raises a Refusal or anything the body raises."""
    caller = quota.caller
    await _check_trial(tool, caller)
    arguments = tool.arguments.check(raw_arguments)
    quota.person = await read_person(tool, raw_arguments, caller)
    if quota.person.taken:
        raw_arguments = {**raw_arguments, **quota.person.taken}
        arguments = tool.arguments.check(raw_arguments)
    if tool.name != UNCOUNTED_TOOL and not caller.anonymous and not _is_own_look(tool, caller):
        await USAGE_LOG.check_daily_limit(caller)
    async with quota.reserve(tool, arguments):
        try:
            answer = await _ask_and_run(quota, raw_arguments, person)
        except NoData as refusal:
            refusal.message += _describe_cities(tool, quota.arguments) + quota.person.describe()
            raise
        quota.ending = answer.status, answer.message
    return answer


def _is_own_look(tool: Tool | None, caller: Caller) -> bool:
    """Whether a page shows people their own data, which uses up and records no call."""
    return caller.on_page and tool is not None and tool.reads and not tool.live and tool.meter == "none"


async def _run_body(quota: Quota) -> Answer:
    """Runs the body; only that of a reading tool is run once more if the database was lost."""
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
    quota.person.taste.left_out.clear()
    terms = (quota.caller, quota.via, clock.now(), quota.remaining.get(SEARCHES), quota.person.taste)
    if inspect.iscoroutinefunction(tool.function):
        quota.may_have_stored = not tool.reads  # in its own transactions
        result = await tool.function(LiveCall(*terms), **arguments)
        return _render_result(quota, result, arguments, compact=compact)
    if tool.static:  # switching to a thread and back takes 0.1 ms, a quarter of such a call
        try:
            return _build_answer(quota, Call(*terms, reads=tool.reads, static=True), arguments, compact)
        except RowsNeeded:
            if tool.static != "mostly":
                raise
    run = partial(run_for_account, quota.caller.account_id, _run_on_thread, quota)
    try:
        return await run(Call(*terms, reads=tool.reads), arguments, compact)
    except ApartNeeded as needed:
        computed = await run_heavy(needed.work)
    return await run(Call(*terms, reads=tool.reads, computed=computed), arguments, compact)


async def _ask_and_run(quota: Quota, raw_arguments: dict[str, Any], person: Person | None) -> Answer:
    """Runs the body, and again with each answer of the person; a refused run is rolled back before they are asked.

    They are not asked what their balances say. Without a reply the refusal is the answer.
    """
    for _ in range(MAX_QUESTIONS):
        try:
            return await _run_body(quota)
        except (Candidates, ConfirmationRequired) as refusal:
            question = find_question(refusal, raw_arguments)
            if question is None:
                raise
            changed: dict[str, Any] | None = await _take_held(quota, refusal, question, raw_arguments)
            if changed is None and person is None:
                raise
            if changed is None and person is not None:
                asked_at = time.perf_counter()
                reply = await person.ask(question)
                quota.person_seconds += time.perf_counter() - asked_at
                changed = insert_reply(question, reply, raw_arguments)
                if changed is None:
                    raise describe_refused(refusal, question, reply) from None
        raw_arguments = changed or raw_arguments
        quota.arguments = quota.tool.arguments.check(raw_arguments)
    return await _run_body(quota)


async def _take_held(
    quota: Quota, refusal: Refusal, question: Question, raw_arguments: dict[str, Any]
) -> dict[str, Any] | None:
    """The arguments with the programmes that the balances say are meant; None for a change, which never guesses."""
    if not isinstance(refusal, Candidates) or refusal.ambiguity.what != "programme":
        return None
    if not quota.tool.reads or quota.caller.anonymous:
        return None
    read = partial(run_again, partial(read_held_programs, quota.caller.account_id))
    taken = insert_held(question, await anyio.to_thread.run_sync(read, limiter=limiter()), raw_arguments)
    if taken is None:
        return None
    text, (changed, names) = refusal.ambiguity.text, taken
    sentence = f"{text} is taken for {join_names(names)}, where you hold points."
    quota.person = replace(quota.person, meant=(*quota.person.meant, sentence))
    return changed


async def _check_trial(tool: Tool, caller: Caller) -> None:
    """Below the tier a tool with a trial asks whether the account is on one. Raises Paywall."""
    if tool.trial is None or is_allowed(caller.plan, tool.tier):
        return
    if not await anyio.to_thread.run_sync(run_again, partial(tool.trial, caller.account_id), limiter=limiter()):
        raise paywall(caller, tool.tier.needs.slug, tool.plain_name)


def _is_compact(detail: Detail | None, via: Via) -> bool:
    """Over REST answers are whole unless asked otherwise: programs read them by the published schema."""
    return detail == "compact" or (detail is None and via == "mcp")


def _run_on_thread(quota: Quota, call: Call, arguments: dict[str, Any], compact: bool) -> Answer:
    """Runs a `def` tool on a worker thread in one transaction, committed once its answer is built.

    A tool that only reads has none.
    """
    tool, done = quota.tool, False
    try:
        answer = _build_answer(quota, call, arguments, compact)
        done, quota.may_have_stored = True, not tool.reads
        return answer
    finally:
        call.finish(commit=done)


def _build_answer(quota: Quota, call: Call, arguments: dict[str, Any], compact: bool) -> Answer:
    return _render_result(quota, quota.tool.function(call, **arguments), arguments, compact=compact)


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


def _render_result(quota: Quota, result: Result, arguments: dict[str, Any], *, compact: bool) -> Answer:
    tool = quota.tool
    data = (result.shorten() if compact else result).model_dump(mode="json")
    objects = list_objects(data)
    mark_rows(objects)
    data = add_sandbox_label(data)
    cities = _describe_cities(tool, arguments)
    if len(data["message"]) + len(cities) < MOST_WITH_CITIES:  # a longer one names the airports it uses
        data["message"] += cities
    data["message"] += quota.person.describe()
    citation = cite_checks(objects) if tool.cites else ""
    if citation:
        data["message"] = f"{data['message']} {citation}"
    if citation or tool.states_facts:
        data["report_url"] = build_report_link(tool=tool.name, key=describe_call(arguments))
    if compact:
        data = condense(data, objects[1:])
    return Answer(result.status, False, fit_to_limit(data, reads=tool.reads))


def _describe_cities(tool: Tool, arguments: Mapping[str, Any]) -> str:
    """Says which airports the cities among the arguments mean, which no tool does itself."""
    places = [value for name in tool.arguments.places if isinstance(value := arguments.get(name), str)]
    return describe_airports(reference(), places) if places else ""


def _render_refusal(refusal: Refusal) -> Answer:
    facts = to_jsonable_python(refusal.facts)
    data = {"status": refusal.status, "message": refusal.message, **facts}
    if citation := cite_checks(list_objects(facts)):
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
