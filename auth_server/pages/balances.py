"""Balances pages: the points a person has in each programme are listed, added, changed and deleted."""

from asyncio import gather
from collections.abc import Mapping
from dataclasses import replace
from typing import Any
from urllib.parse import urlencode

from auth_server.pages.forms import Field, Form, ToolForm, show_form
from auth_server.pages.member import Member, get_for_member, post_for_member, redirect_back
from auth_server.pages.tool_calls import Answer, Subject, change, look
from auth_server.web.outcomes import FlowResult

PATH = "/dashboard/balances"
EDIT, DELETE = f"{PATH}/edit", f"{PATH}/delete"
KEYS = ("program", "member")
FORM = ToolForm(
    (
        Field("program", "Programme", none="Choose one", only_new=True),
        Field("other_name", "Or another one", "Its name, if the list above does not have it.", only_new=True),
        Field("member", "Whose, if not yours", "A first name, as you call them.", only_new=True),
        Field("balance", "Points or miles now"),
        Field("expires_on", "Last day, if they end", "You are told 90, 30 and 7 days before."),
        Field("cents_per_point", "Worth of a point to you, in cents", "Empty: the published value.", half=True),
        Field("value_currency", "Cents of which currency", "Such as EUR or INR; empty: USD.", half=True),
        Field("transfers", "Where its points can go", "Of another one: Flying Blue 3:2, Aeroplan 1:1."),
        Field("notes"),
    ),
    add="update_points_balance",
    change="update_points_balance",
)
MESSAGES = {"saved": "The balance is saved.", "deleted": "The balance is deleted."}
BALANCES = Subject("balance", PATH, "Your balances")


async def _look(member: Member) -> Answer:
    return await look(member, "list_points_balances", include_supported=True)


async def show(member: Member) -> FlowResult:
    answer = await _look(member)
    if not answer.is_good:
        return BALANCES.show_away()
    rows = [row | {"query": urlencode(name_owner(row))} for row in answer["balances"]]
    rows.sort(key=lambda row: -float(row["value"]["amount"]) if row["value"] else 0.0)
    return member.show("balances.html", rows=rows, total=answer["total_value"], messages=MESSAGES)


def name_owner(row: Mapping[str, Any]) -> dict[str, str]:
    """Identifies a balance or a status: its programme and the member of the household."""
    return {"program": row["program"], "member": row["member"] or ""}


def read_owner(member: Member) -> dict[str, str]:
    """The programme and member of the household that the query names."""
    return {name: member.data.query_value(name) or "" for name in KEYS}


def find_owned(rows: list[dict[str, Any]], owner: Mapping[str, str]) -> dict[str, Any] | None:
    return next((row for row in rows if name_owner(row) == owner), None)


async def show_new_or_stored(member: Member) -> FlowResult:
    """Shows an empty form for a new balance, or a stored one that the query names."""
    is_new = not member.data.query_value("program")
    form, answer = await gather(FORM.load(member, is_new=is_new), _look(member))
    if not answer.is_good:
        return BALANCES.show_away()
    if is_new:
        return _show(member, form, form.begin(), answer)
    row = find_owned(answer["balances"], read_owner(member))
    if row is None:
        return BALANCES.show_gone()
    value, own = row["value"] or {}, row["own"]
    own_values = {"cents_per_point": value["cents_per_point"]} if value.get("basis") == "own" else {}
    if own:
        own_values = {"cents_per_point": own["cents_per_point"], "value_currency": own["currency"], **own}
    return _show(member, form, form.write(row | {"cents_per_point": None} | own_values), answer, name_owner(row))


def _show(
    member: Member,
    form: Form,
    typed: dict[str, str],
    answer: Answer,
    owner: Mapping[str, str] | None = None,
    saved: Answer | None = None,
) -> FlowResult:
    """`owner` names the stored balance."""
    programs = [("", "Choose one"), *((p["program"], p["name"]) for p in answer.get("supported_programs") or ())]
    form.offer("program", programs, typed.get("program", ""))
    if input := form.inputs.get("program"):  # the other field may name it
        form.inputs["program"] = replace(input, is_required=False)
    heading, is_own = "Points or miles", False
    if owner:
        row = find_owned(answer["balances"], owner) or {"name": owner["program"], "own": None}
        name, is_own = row["name"], row["own"] is not None
        if not is_own:
            del form.inputs["transfers"]
        heading = f"{name} of {owner['member']}" if owner["member"] else name
    return show_form(
        member,
        form,
        typed,
        title="Change a balance" if owner else "Add a balance",
        heading=heading,
        back=(PATH, "Balances"),
        answer=saved,
        hidden={**owner, "is_stored": "yes", "is_own": "yes" if is_own else ""} if owner else None,
        delete=f"{DELETE}?{urlencode(owner)}" if owner else "",
    )


async def save(member: Member) -> FlowResult:
    is_stored, is_own = (member.data.form_value(name) == "yes" for name in ("is_stored", "is_own"))
    form = await FORM.load(member, is_new=not is_stored)
    typed = form.read(member)
    first_arguments = {name: typed[name] for name in ("program", "balance") if name in typed}
    arguments: dict[str, Any] = first_arguments | form.list_filled(typed)
    owner = {name: member.data.form_value(name).strip() for name in KEYS} if is_stored else None
    if owner is not None:
        arguments |= {name: text for name, text in owner.items() if text}
        arguments["clear"] = [input.name for input in form if input.is_clearable and not typed[input.name]]
        arguments |= {"transfers": form.inputs["transfers"].to_argument(typed["transfers"])} if is_own else {}
    saved, answer = await gather(change(member, "update_points_balance", **arguments), _look(member))
    return redirect_back(PATH, "saved") if saved.is_good else _show(member, form, typed, answer, owner, saved)


async def ask_delete(member: Member) -> FlowResult:
    answer = await _look(member)
    if not answer.is_good:
        return BALANCES.show_away()
    row = find_owned(answer["balances"], read_owner(member))
    return member.show("balance_delete.html", row=row) if row else BALANCES.show_gone()


async def delete(member: Member) -> FlowResult:
    owner = {name: value for name in KEYS if (value := member.data.form_value(name))}
    return await BALANCES.delete(member, "delete_points_balance", **owner)


ROUTES = [
    get_for_member(PATH, show),
    get_for_member(EDIT, show_new_or_stored),
    post_for_member(EDIT, save),
    get_for_member(DELETE, ask_delete),
    post_for_member(DELETE, delete),
]
