"""Statuses pages: elite statuses with the way to the next tier are listed, set, changed and deleted."""

import re
from asyncio import gather
from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import urlencode

from auth_server.pages.balances import KEYS, find_owned, name_owner, read_owner
from auth_server.pages.forms import Choices, Field, Form, ToolForm, mark_values, show_form, write_value
from auth_server.pages.member import Member, get_for_member, post_for_member, redirect_back
from auth_server.pages.tool_calls import Answer, Subject, change, look
from auth_server.web.outcomes import FlowResult
from shared.domain.status_tiers import format_metric

PATH = "/dashboard/statuses"
EDIT, DELETE = f"{PATH}/edit", f"{PATH}/delete"
FORM = ToolForm(
    (
        Field("program", "Programme", only_new=True),
        Field("member", "Whose, if not yours", "A first name, as you call them.", only_new=True),
        Field("tier", help="Such as Gold."),
        Field("lifetime", "For life"),
        Field("valid_until", "Last day", "You are told 90, 30 and 7 days before."),
        Field("target_tier", "Tier you aim for", "Empty: the next one up."),
        Field("progress", "Earned this year", "Nights, tier points or whatever counts there.", half=True),
        Field("progress_as_of", "As of", "Empty: today.", half=True),
        Field("other_progress", "Other counters", "What counts next to it, as name: number, such as pqf: 42."),
        Field("notes"),
    ),
    add="set_loyalty_status",
    change="set_loyalty_status",
)
MESSAGES = {"saved": "The status is saved.", "deleted": "The status is deleted."}
_BEFORE_NAME = re.compile(r"[,;\n](?=[^,;\n]*:)")  # not the comma in "pqf: 42,000"
STATUSES = Subject("status", PATH, "Your statuses")


async def show(member: Member) -> FlowResult:
    answer, ways = await gather(look(member, "list_loyalty_statuses"), look(member, "get_status_progress"))
    if not answer.is_good:
        return STATUSES.show_away()
    progress = {(row["program"], row["member"]): row for row in ways.get("progress", ())}
    rows = [_describe(row, progress.get((row["program"], row["member"]))) for row in answer.get("statuses", ())]
    return member.show("statuses.html", rows=rows, unit=format_metric, messages=MESSAGES)


def _describe(row: Mapping[str, Any], way: Mapping[str, Any] | None) -> dict[str, Any]:
    """A status with the way to its next tier, and the ring of the nearest way: as full as its lowest counter."""
    ring = None
    if way and way["ways"] and not (row["lifetime"] and way["goal_tier"] == row["tier"]):
        shares = [_measure(ways["counters"]) for ways in way["ways"]]
        share = max((share for share in shares if share is not None), default=None)
        how_far = "not counted yet" if share is None else f"{share:.0f} percent of the way"
        ring = {"share": share, "words": f"To {way['goal_tier']}: {how_far}"}
    return dict(row) | {"way": way, "ring": ring, "query": urlencode(name_owner(row))}


def _measure(counters: Sequence[Mapping[str, Any]]) -> float | None:
    """The progress of one way, in percent; None where a counter has no figure."""
    if any(counter["reported"] is None for counter in counters):
        return None
    return min((100 * c["reported"] / c["required"] if c["required"] else 100.0 for c in counters), default=None)


async def _list_programs(member: Member) -> Choices:
    """Programmes with tiers; without an answer there is none to choose from."""
    answers = await gather(
        *(look(member, "list_programs", kind=kind, per_page=100, detail="full") for kind in ("airline", "hotel"))
    )
    programs = [(row["program"], row["name"]) for answer in answers for row in answer.get("programs", ())]
    return [("", "Choose one"), *sorted(programs, key=lambda pair: pair[1].casefold())]


async def show_new_or_stored(member: Member) -> FlowResult:
    """Shows an empty form for a new status, or a stored one that the query names."""
    if not member.data.query_value("program"):
        form, programs = await gather(FORM.load(member, is_new=True), _list_programs(member))
        form.offer("program", programs)
        return _show(member, form, form.begin(), {})
    form, answer = await gather(FORM.load(member, is_new=False), look(member, "list_loyalty_statuses"))
    row = find_owned(answer.get("statuses", []), read_owner(member))
    if row is None:
        return STATUSES.show_missing(answer)
    counters = ", ".join(f"{name}: {write_value(amount)}" for name, amount in row["other_progress"].items())
    typed = form.write(row | {"other_progress": counters})
    hidden = {**name_owner(row), "is_stored": "yes", "name": row["name"]}
    return _show(member, form, typed, mark_values(typed), hidden)


def _show(
    member: Member,
    form: Form,
    typed: Mapping[str, str],
    before: Mapping[str, str],
    hidden: Mapping[str, str] | None = None,
    saved: Answer | None = None,
    faults: Mapping[str, str] | None = None,
) -> FlowResult:
    """`hidden` names the stored status."""
    heading = "Elite status"
    if hidden:
        heading = f"{hidden['name']} of {hidden['member']}" if hidden["member"] else hidden["name"]
    return show_form(
        member,
        form,
        typed,
        before,
        title="Change a status" if hidden else "Add a status",
        heading=heading,
        back=(PATH, "Statuses"),
        answer=saved,
        faults=faults,
        hidden=hidden,
        delete=f"{DELETE}?{urlencode({key: hidden[key] for key in KEYS})}" if hidden else "",
    )


def _read_counters(text: str) -> dict[str, str]:
    """`pqf: 42, segments: 10` by name; the tool refuses parts without a colon."""
    pairs = (part.partition(":") for part in _BEFORE_NAME.split(text) if part.strip())
    return {name.strip(): amount.strip() or "?" for name, _, amount in pairs}


async def save(member: Member) -> FlowResult:
    is_stored = member.data.form_value("is_stored") == "yes"
    form = await FORM.load(member, is_new=not is_stored)
    typed, before = form.read(member), form.read_before(member)
    changes = form.list_changes(typed, before) | {"tier": typed["tier"]}
    if changes.get("progress_as_of") == "":
        del changes["progress_as_of"]  # it goes with the progress
    if changes.get("other_progress"):
        changes["other_progress"] = _read_counters(typed["other_progress"])
    owner = {name: member.data.form_value(name).strip() for name in KEYS}
    changes |= {name: text for name, text in owner.items() if text}
    if is_stored:
        saved = await change(member, "set_loyalty_status", **changes)
    else:
        saved, programs = await gather(change(member, "set_loyalty_status", **changes), _list_programs(member))
        form.offer("program", programs, typed["program"])
    if saved.is_good:
        return redirect_back(PATH, "saved")
    faults = {}
    if saved.status == "candidates":  # the tiers of the programme, as the text matched none
        at = str(saved.get("parameter") or _find_faulty_tier(saved, typed))
        faults = {at: "This is no tier of the programme, or can be several. Choose one of these."}
        tiers = [row["tier"] for row in saved.get("candidates", ()) if "tier" in row]
        form.offer(at, [("", "Choose one"), *((tier, tier) for tier in tiers)])
    hidden = {**owner, "is_stored": "yes", "name": member.data.form_value("name")[:120]} if is_stored else None
    return _show(member, form, typed, before, hidden, saved, faults)


def _find_faulty_tier(answer: Answer, typed: Mapping[str, str]) -> str:
    """The field whose text the tool quotes."""
    return "target_tier" if typed["target_tier"] and typed["target_tier"] in str(answer.get("message")) else "tier"


async def ask_delete(member: Member) -> FlowResult:
    answer = await look(member, "list_loyalty_statuses")
    row = find_owned(answer.get("statuses", []), read_owner(member))
    if row is None:
        return STATUSES.show_missing(answer)
    return member.show("status_delete.html", row=row)


async def delete(member: Member) -> FlowResult:
    owner = {name: value for name in KEYS if (value := member.data.form_value(name))}
    return await STATUSES.delete(member, "delete_loyalty_status", **owner)


ROUTES = [
    get_for_member(PATH, show),
    get_for_member(EDIT, show_new_or_stored),
    post_for_member(EDIT, save),
    get_for_member(DELETE, ask_delete),
    post_for_member(DELETE, delete),
]
