"""Vouchers pages: companion tickets, free nights and upgrades are listed, added, changed, applied and deleted."""

from collections.abc import Mapping
from functools import partial
from typing import Any

from auth_server.pages.member import Member, redirect_back
from auth_server.pages.member_routes import get_for_member, post_for_member
from auth_server.pages.tool_calls import Answer, prepare_change, prepare_look, show_when_answered
from auth_server.pages.tool_forms import (
    BEFORE,
    delete_by,
    mark_values,
    name_faults,
    pick_changes,
    read_number,
    read_page,
    read_typed,
    show_away,
    show_gone,
    write_values,
)
from auth_server.web.outcomes import FlowResult, PageResult
from shared.domain.dates import format_iso_weekday

PATH = "/dashboard/vouchers"
EDIT, APPLY, DELETE = f"{PATH}/edit", f"{PATH}/apply", f"{PATH}/delete"
FIELDS = ("voucher_slug", "expires_on", "reference", "notes")
LABELS = {"voucher_slug": "Kind", "expires_on": "Last day", "booking_type": "Booking", "booking_id": "Booking"}
MESSAGES = {
    "saved": "The voucher is saved.",
    "applied": "The voucher is on the booking.",
    "detached": "The voucher is on no booking and can be used again.",
    "deleted": "The voucher is deleted.",
}
MAX_BOOKINGS = 50  # to choose from, of flights and of stays
_AWAY = show_away("Your vouchers")
_GONE = show_gone("voucher", PATH, "Your vouchers")


def show(member: Member) -> PageResult:
    call = prepare_look(member, "list_my_vouchers", page=read_page(member))
    return show_when_answered({"vouchers": call}, partial(_show, member))


def _show(member: Member, answers: Mapping[str, Answer]) -> FlowResult:
    answer = answers["vouchers"]
    if not answer.is_good:
        return _AWAY
    rows, paging = answer.get("vouchers", ()), answer.get("paging")
    return member.show("vouchers.html", rows=rows, paging=paging, messages=MESSAGES)


def _look_for(member: Member, number: int) -> dict[str, Any]:
    return {"vouchers": prepare_look(member, "list_my_vouchers", voucher_id=number)}


def _find(answer: Answer) -> dict[str, Any] | None:
    return next(iter(answer.get("vouchers", ())), None)


def _look_for_kinds(member: Member) -> Any:
    return prepare_look(member, "list_voucher_types", per_page=100)


def show_form(member: Member) -> PageResult:
    """Empty for a new voucher; with its values for one that the query names."""
    number = read_number(member.data.query_value("voucher"))
    if number is None:
        calls = {"kinds": _look_for_kinds(member)}
        typed = dict.fromkeys(FIELDS, "") | {"voucher_slug": member.data.query_value("kind") or ""}
        return show_when_answered(calls, partial(_show_fields, member, typed, {}, None))
    return show_when_answered(_look_for(member, number), partial(_show_stored, member))


def _show_stored(member: Member, answers: Mapping[str, Answer]) -> FlowResult:
    row = _find(answers["vouchers"])
    if row is None:
        return _GONE if answers["vouchers"] else _AWAY
    typed = write_values(row, FIELDS)
    return _show_fields(member, typed, mark_values(typed), row["voucher_id"], answers, name=row["name"])


def _show_fields(
    member: Member,
    typed: Mapping[str, str],
    before: Mapping[str, str],
    number: int | None,
    answers: Mapping[str, Answer],
    *,
    faults: Mapping[str, str] | None = None,
    name: str = "",
) -> FlowResult:
    """`number`: of the voucher that is changed; None for one that is added."""
    kinds = [(kind["voucher_slug"], kind["name"]) for kind in answers.get("kinds", Answer()).get("voucher_types", ())]
    if typed["voucher_slug"] and typed["voucher_slug"] not in dict(kinds):  # without an answer there is no list
        kinds.append((typed["voucher_slug"], typed["voucher_slug"]))
    context = {"typed": typed, "before": before, "number": number, "kinds": [("", "Choose one"), *kinds], "name": name}
    saved = answers.get("saved", Answer())
    return member.show(
        "voucher_form.html",
        422 if faults else 200,
        **context,
        faults=faults or {},
        needs_plan=saved.status == "paywall",
    )


def save(member: Member) -> PageResult:
    typed, before = read_typed(member, FIELDS), read_typed(member, FIELDS, BEFORE)
    number = read_number(member.data.form_value("voucher_id"))
    if number is None:
        values: dict[str, Any] = {name: value for name, value in typed.items() if value}
        calls = {"saved": prepare_change(member, "add_voucher", **values), "kinds": _look_for_kinds(member)}
    else:
        changes = pick_changes(typed, before, clearable=("expires_on", "reference", "notes"))
        changes.pop("voucher_slug", None)  # its kind stays as it is
        calls = {"saved": prepare_change(member, "update_voucher", voucher_id=number, **changes)}
    return show_when_answered(calls, partial(_finish_saving, member, typed, before, number))


def _finish_saving(
    member: Member,
    typed: Mapping[str, str],
    before: Mapping[str, str],
    number: int | None,
    answers: Mapping[str, Answer],
) -> FlowResult:
    if answers["saved"].status == "not_found" and number is not None:
        return _GONE
    faults = name_faults(answers["saved"], LABELS)
    if not faults:
        return redirect_back(PATH, "saved")
    name = member.data.form_value("name")[:120]
    return _show_fields(member, typed, before, number, answers, faults=faults, name=name)


def show_bookings(member: Member) -> PageResult:
    """The flights and stays to come, to choose the one that the voucher is used for."""
    number = read_number(member.data.query_value("voucher"))
    if number is None:
        return _GONE
    return show_when_answered(_look_for(member, number) | _look_for_bookings(member), partial(_show_bookings, member))


def _look_for_bookings(member: Member) -> dict[str, Any]:
    upcoming = {"when": "upcoming", "per_page": MAX_BOOKINGS}
    return {
        "flights": prepare_look(member, "list_flight_bookings", **upcoming),
        "stays": prepare_look(member, "list_hotel_bookings", **upcoming),
    }


def _show_bookings(
    member: Member, answers: Mapping[str, Answer], choice: str = "", faults: Mapping[str, str] | None = None
) -> FlowResult:
    row = _find(answers["vouchers"])
    if row is None:
        return _GONE if answers["vouchers"] else _AWAY
    bookings = _list_bookings(answers)
    use = row["applied_to"]
    on = f"{use['booking_type']}:{use['booking_id']}" if use else ""
    name = dict(bookings).get(on, "a booking of the past") if on else ""
    options = [option for option in bookings if option[0] != on]
    fault = " ".join((faults or {}).values())
    status = 422 if faults else 200
    needs_plan = answers.get("applied", Answer()).status == "paywall"
    return member.show(
        "voucher_apply.html",
        status,
        row=row,
        options=options,
        on=name,
        selected=choice,
        fault=fault,
        needs_plan=needs_plan,
    )


def _list_bookings(answers: Mapping[str, Answer]) -> list[tuple[str, str]]:
    """Pairs of a booking and its words, in the order of their days."""
    flights = [
        (row["departure_date"], f"flight:{row['booking_id']}", f"{row['origin']} to {row['destination']}")
        for row in answers["flights"].get("bookings", ())
    ]
    stays = [
        (row["check_in_date"], f"hotel:{row['booking_id']}", row["hotel"]["name"])
        for row in answers["stays"].get("bookings", ())
    ]
    return [(which, f"{format_iso_weekday(day)}: {words}") for day, which, words in sorted(flights + stays)]


def apply(member: Member) -> PageResult:
    number = read_number(member.data.form_value("voucher_id"))
    choice = member.data.form_value("booking")
    kind, _, text = choice.partition(":")
    booking = read_number(text)
    if number is None:
        return _GONE
    which: dict[str, Any] = {} if booking is None else {"booking_type": kind, "booking_id": booking}
    call = prepare_change(member, "apply_voucher_to_booking", voucher_id=number, **which)
    return show_when_answered({"applied": call}, partial(_finish_applying, member, number, choice))


def _finish_applying(member: Member, number: int, choice: str, answers: Mapping[str, Answer]) -> PageResult:
    applied = answers["applied"]
    if applied.is_good:
        return redirect_back(PATH, "applied" if applied["applied"] else "detached")
    faults = name_faults(applied, LABELS)
    calls = _look_for(member, number) | _look_for_bookings(member)
    return show_when_answered(calls, lambda looks: _show_bookings(member, {**looks, **answers}, choice, faults))


def ask_delete(member: Member) -> PageResult:
    number = read_number(member.data.query_value("voucher"))
    if number is None:
        return _GONE
    return show_when_answered(_look_for(member, number), partial(_ask_delete, member))


def _ask_delete(member: Member, answers: Mapping[str, Answer]) -> FlowResult:
    row = _find(answers["vouchers"])
    if row is None:
        return _GONE if answers["vouchers"] else _AWAY
    return member.show("voucher_delete.html", row=row)


def delete(member: Member) -> PageResult:
    number = read_number(member.data.form_value("voucher_id"))
    return _GONE if number is None else delete_by(member, "delete_voucher", PATH, _GONE, voucher_id=number)


ROUTES = [
    get_for_member(PATH, show),
    get_for_member(EDIT, show_form),
    post_for_member(EDIT, save),
    get_for_member(APPLY, show_bookings),
    post_for_member(APPLY, apply),
    get_for_member(DELETE, ask_delete),
    post_for_member(DELETE, delete),
]
