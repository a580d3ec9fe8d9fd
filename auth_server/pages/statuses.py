"""Statuses pages: elite statuses with the way to the next tier are listed, set, changed and deleted."""

from collections.abc import Mapping
from functools import partial
from typing import Any
from urllib.parse import urlencode

from auth_server.pages.member import Member, redirect_back
from auth_server.pages.member_routes import get_for_member, post_for_member
from auth_server.pages.tool_calls import Answer, prepare_change, prepare_look, show_when_answered
from auth_server.pages.tool_forms import (
    BEFORE,
    delete_by,
    drop_marks,
    mark_values,
    name_faults,
    pick_changes,
    read_typed,
    show_away,
    show_gone,
    write_values,
)
from auth_server.web.outcomes import FlowResult, PageResult
from shared.domain.status_tiers import format_metric

PATH = "/dashboard/statuses"
EDIT, DELETE = f"{PATH}/edit", f"{PATH}/delete"
LABELS = {
    "program": "Programme",
    "member": "Whose, if not yours",
    "tier": "Tier",
    "valid_until": "Last day",
    "target_tier": "Tier you aim for",
    "progress": "Earned this year",
    "progress_as_of": "As of",
    "other_progress": "Other counters",
    "notes": "Notes",
}
KEYS = ("program", "member")
FIELDS = tuple(LABELS)[2:]
CLEARABLE = ("valid_until", "target_tier", "progress", "other_progress", "notes")
MESSAGES = {"saved": "The status is saved.", "deleted": "The status is deleted."}
_AWAY = show_away("Your statuses")
_GONE = show_gone("status", PATH, "Your statuses")


def show(member: Member) -> PageResult:
    calls = {
        "statuses": prepare_look(member, "list_loyalty_statuses"),
        "progress": prepare_look(member, "get_status_progress"),
    }
    return show_when_answered(calls, partial(_show, member))


def _show(member: Member, answers: Mapping[str, Answer]) -> FlowResult:
    answer = answers["statuses"]
    if not answer.is_good:
        return _AWAY
    progress = {(row["program"], row["member"]): row for row in answers["progress"].get("progress", ())}
    rows = [
        row | {"way": progress.get((row["program"], row["member"])), "query": _name_in_query(row)}
        for row in answer.get("statuses", ())
    ]
    return member.show("statuses.html", rows=rows, unit=format_metric, messages=MESSAGES)


def _name_in_query(row: Mapping[str, Any]) -> str:
    return urlencode({"program": row["program"], "member": row["member"] or ""})


def _look(member: Member) -> Any:
    return prepare_look(member, "list_loyalty_statuses")


def _read_keys(member: Member) -> tuple[str, str]:
    """Programme and member that the query names."""
    return member.data.query_value("program") or "", member.data.query_value("member") or ""


def _find(answer: Answer, program: str, whose: str) -> dict[str, Any] | None:
    rows = answer.get("statuses", ())
    return next((row for row in rows if (row["program"], row["member"] or "") == (program, whose)), None)


def _look_for_programs(member: Member) -> dict[str, Any]:
    return {
        kind: prepare_look(member, "list_programs", kind=kind, per_page=100, detail="full")
        for kind in ("airline", "hotel")
    }


def show_form(member: Member) -> PageResult:
    """Empty for a new status; with its values for one that the query names."""
    if not _read_keys(member)[0]:
        typed = dict.fromkeys((*LABELS, "lifetime"), "")
        return show_when_answered(_look_for_programs(member), partial(_show_fields, member, typed, {}, False))
    return show_when_answered({"statuses": _look(member)}, partial(_show_stored, member))


def _show_stored(member: Member, answers: Mapping[str, Answer]) -> FlowResult:
    answer = answers["statuses"]
    row = _find(answer, *_read_keys(member))
    if row is None:
        return _GONE if answer else _AWAY
    counters = ", ".join(f"{name}: {amount:g}" for name, amount in row["other_progress"].items())
    typed = write_values(row, LABELS) | {"other_progress": counters}
    before = mark_values(typed) | {"lifetime": "yes" if row["lifetime"] else ""}
    lifetime = {"lifetime": before["lifetime"]}
    return _show_fields(member, typed | lifetime, before, True, {}, name=row["name"])


def _show_fields(
    member: Member,
    typed: Mapping[str, str],
    before: Mapping[str, str],
    is_stored: bool,
    answers: Mapping[str, Answer],
    *,
    faults: Mapping[str, str] | None = None,
    name: str = "",
) -> FlowResult:
    """`is_stored`: the status is there already, so that its programme and member stay as they are."""
    rows = [row for kind in ("airline", "hotel") for row in answers.get(kind, Answer()).get("programs", ())]
    programs = sorted(((row["program"], row["name"]) for row in rows), key=lambda pair: pair[1].casefold())
    if typed["program"] and typed["program"] not in dict(programs):  # without an answer there is no list
        programs.append((typed["program"], typed["program"]))
    context = {"typed": typed, "before": before, "is_stored": is_stored, "name": name, "labels": LABELS}
    return member.show(
        "status_form.html",
        422 if faults else 200,
        **context,
        programs=[("", "Choose one"), *programs],
        tiers=_list_tiers(answers.get("saved", Answer())),
        faults=faults or {},
    )


def _list_tiers(answer: Answer) -> list[str]:
    """The tiers that the tool asks to choose from."""
    candidates = answer.get("candidates", ()) if answer.status == "candidates" else ()
    return [row["tier"] for row in candidates if "tier" in row]


def _read_counters(text: str) -> dict[str, str]:
    """`pqf: 42, segments: 10` by name; what has no colon is the tool's to refuse."""
    pairs = (part.partition(":") for part in text.replace("\n", ",").split(",") if part.strip())
    return {name.strip(): drop_marks(amount) or "?" for name, _, amount in pairs}


def save(member: Member) -> PageResult:
    is_stored = member.data.form_value("is_stored") == "yes"
    lifetime = {"lifetime": "yes" if member.data.form_value("lifetime") == "yes" else ""}
    typed = read_typed(member, LABELS) | lifetime
    before = read_typed(member, (*LABELS, "lifetime"), BEFORE)
    changes = pick_changes({name: typed[name] for name in FIELDS}, before, ("progress",), CLEARABLE)
    if changes.get("progress_as_of") == "":
        del changes["progress_as_of"]  # it goes with the progress
    if changes.get("other_progress"):
        changes["other_progress"] = _read_counters(typed["other_progress"])
    if typed["lifetime"] != before["lifetime"]:
        changes["lifetime"] = bool(typed["lifetime"])
    changes |= {name: typed[name] for name in KEYS if typed[name]} | {"tier": typed["tier"]}
    call = prepare_change(member, "set_loyalty_status", **changes)
    calls = {"saved": call} | ({} if is_stored else _look_for_programs(member))
    return show_when_answered(calls, partial(_finish_saving, member, typed, before, is_stored))


def _finish_saving(
    member: Member,
    typed: Mapping[str, str],
    before: Mapping[str, str],
    is_stored: bool,
    answers: Mapping[str, Answer],
) -> FlowResult:
    saved = answers["saved"]
    faults = name_faults(saved, LABELS)
    if not faults:
        return redirect_back(PATH, "saved")
    if saved.status == "candidates":
        at = str(saved.get("parameter") or _find_faulty_tier(saved, typed))
        faults = {at: "This is no tier of the programme, or can be several. Choose one of these."}
    name = member.data.form_value("name")[:120]
    return _show_fields(member, typed, before, is_stored, answers, faults=faults, name=name)


def _find_faulty_tier(answer: Answer, typed: Mapping[str, str]) -> str:
    """The field whose text the tool quotes."""
    return "target_tier" if typed["target_tier"] and typed["target_tier"] in str(answer.get("message")) else "tier"


def ask_delete(member: Member) -> PageResult:
    return show_when_answered({"statuses": _look(member)}, partial(_ask_delete, member))


def _ask_delete(member: Member, answers: Mapping[str, Answer]) -> FlowResult:
    answer = answers["statuses"]
    row = _find(answer, *_read_keys(member))
    if row is None:
        return _GONE if answer else _AWAY
    return member.show("status_delete.html", row=row)


def delete(member: Member) -> PageResult:
    which: dict[str, Any] = {name: value for name in KEYS if (value := member.data.form_value(name))}
    return delete_by(member, "delete_loyalty_status", PATH, _GONE, **which)


ROUTES = [
    get_for_member(PATH, show),
    get_for_member(EDIT, show_form),
    post_for_member(EDIT, save),
    get_for_member(DELETE, ask_delete),
    post_for_member(DELETE, delete),
]
