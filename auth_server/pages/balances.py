"""Balances pages: the points a person has in each programme are listed, added, changed and deleted."""

from collections.abc import Mapping
from functools import partial
from typing import Any
from urllib.parse import urlencode

from auth_server.pages.member import Member, redirect_back
from auth_server.pages.member_routes import get_for_member, post_for_member
from auth_server.pages.tool_calls import (
    NO_ANSWER,
    Answer,
    prepare_change,
    prepare_look,
    read_faults,
    show_when_answered,
)
from auth_server.web.outcomes import FlowResult, PageResult, show_problem

PATH = "/dashboard/balances"
EDIT, DELETE = f"{PATH}/edit", f"{PATH}/delete"
FIELDS = ("program", "member", "balance", "expires_on", "cents_per_point", "notes")
MESSAGES = {"saved": "The balance is saved.", "deleted": "The balance is deleted."}
_OPTIONAL = ("expires_on", "cents_per_point", "notes")
_AWAY = show_problem("Back in a moment", "Your balances could not be read right now. Please try again.", 503, 5)
_GONE = show_problem(
    "There is no such balance", "It may have been deleted in the meantime; the others are as they were.", 404
)


def _look(member: Member) -> Any:
    return prepare_look(member, "list_points_balances", include_supported=True)


def show(member: Member) -> PageResult:
    return show_when_answered({"balances": _look(member)}, partial(_show, member))


def _show(member: Member, answers: Mapping[str, Answer]) -> FlowResult:
    answer = answers["balances"]
    if not answer.is_good:
        return _AWAY
    rows = [row | {"query": _name_in_query(row)} for row in answer["balances"]]
    return member.show("balances.html", rows=rows, total=answer["total_value"], messages=MESSAGES)


def _name_in_query(row: Mapping[str, Any]) -> str:
    """The query that names a balance: its programme, and the member of the household whose it is."""
    return urlencode({"program": row["program"], "member": row["member"] or ""})


def _find(answer: Answer, program: str, whose: str) -> dict[str, Any] | None:
    rows = answer.get("balances", ())
    return next((row for row in rows if (row["program"], row["member"] or "") == (program, whose)), None)


def show_form(member: Member) -> PageResult:
    """Empty for a new balance; with its values for one that the query names."""
    return show_when_answered({"balances": _look(member)}, partial(_show_form, member))


def _show_form(member: Member, answers: Mapping[str, Answer]) -> FlowResult:
    program, whose = (member.data.query_value(name) or "" for name in ("program", "member"))
    answer = answers["balances"]
    if not answer.is_good:
        return _AWAY
    if not program:
        return _show_fields(member, answer, dict.fromkeys(FIELDS, ""), is_stored=False)
    row = _find(answer, program, whose)
    if row is None:
        return _GONE
    own = row["value"]["cents_per_point"] if row["value"] and row["value"]["basis"] == "own" else None
    values = {name: row.get(name) for name in FIELDS} | {"cents_per_point": own}
    typed = {name: "" if value is None else str(value) for name, value in values.items()}
    return _show_fields(member, answer, typed, is_stored=True)


def _show_fields(
    member: Member,
    answer: Answer,
    typed: Mapping[str, str],
    *,
    is_stored: bool,
    faults: Mapping[str, str] | None = None,
) -> FlowResult:
    """`is_stored`: the balance is stored already, so that its programme and member stay as they are."""
    programs = [("", "Choose one"), *((p["program"], p["name"]) for p in answer.get("supported_programs") or ())]
    name = dict(programs).get(typed["program"], typed["program"])
    if typed["program"] not in dict(programs):  # without an answer there is no list to choose from
        programs.append((typed["program"], name))
    context = {"typed": typed, "faults": faults or {}, "is_stored": is_stored, "programs": programs, "name": name}
    return member.show("balance_form.html", 422 if faults else 200, **context)


def save(member: Member) -> PageResult:
    typed = {name: member.data.form_value(name).strip() for name in FIELDS}
    is_stored = member.data.form_value("is_stored") == "yes"
    arguments: dict[str, Any] = {name: value for name, value in typed.items() if value}
    digits = typed["balance"].replace(",", "").replace(" ", "")
    arguments["balance"] = int(digits) if digits.isdecimal() and len(digits) < 16 else typed["balance"]
    if is_stored:
        arguments["clear"] = [name for name in _OPTIONAL if not typed[name]]
    calls = {"saved": prepare_change(member, "update_points_balance", **arguments), "balances": _look(member)}
    return show_when_answered(calls, partial(_finish_saving, member, typed, is_stored))


def _finish_saving(member: Member, typed: dict[str, str], is_stored: bool, answers: Mapping[str, Answer]) -> FlowResult:
    faults = read_faults(answers["saved"])
    if not faults:
        return redirect_back(PATH, "saved")
    return _show_fields(member, answers["balances"], typed, is_stored=is_stored, faults=faults)


def ask_delete(member: Member) -> PageResult:
    return show_when_answered({"balances": _look(member)}, partial(_ask_delete, member))


def _ask_delete(member: Member, answers: Mapping[str, Answer]) -> FlowResult:
    if not answers["balances"].is_good:
        return _AWAY
    row = _find(answers["balances"], *(member.data.query_value(name) or "" for name in ("program", "member")))
    return member.show("balance_delete.html", row=row) if row else _GONE


def delete(member: Member) -> PageResult:
    whose: dict[str, Any] = {name: value for name in ("program", "member") if (value := member.data.form_value(name))}
    call = prepare_change(member, "delete_points_balance", **whose)
    return show_when_answered({"deleted": call}, _finish_deleting)


def _finish_deleting(answers: Mapping[str, Answer]) -> FlowResult:
    deleted = answers["deleted"]
    if not deleted:
        return show_problem("Back in a moment", NO_ANSWER, 503, 5)
    return redirect_back(PATH, "deleted") if deleted.is_good else _GONE


ROUTES = [
    get_for_member(PATH, show),
    get_for_member(EDIT, show_form),
    post_for_member(EDIT, save),
    get_for_member(DELETE, ask_delete),
    post_for_member(DELETE, delete),
]
