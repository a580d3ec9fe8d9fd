"""Vouchers pages: companion tickets, free nights and upgrades are listed, added, changed, applied and deleted."""

from asyncio import gather
from collections.abc import Mapping
from datetime import date
from typing import Any

from auth_server.pages.forms import Field, Form, ToolForm, mark_values, read_number, read_page, show_form
from auth_server.pages.member import Member, get_for_member, post_for_member, redirect_back
from auth_server.pages.tool_calls import Answer, Subject, change, look, read_faults
from auth_server.web.outcomes import FlowResult
from auth_server.web.year_of_dots import Ending, draw_year
from shared import clock
from shared.domain.dates import format_iso_weekday

PATH = "/dashboard/vouchers"
EDIT, APPLY, DELETE = f"{PATH}/edit", f"{PATH}/apply", f"{PATH}/delete"
FORM = ToolForm(
    (
        Field("voucher_slug", "Kind"),
        Field("expires_on", "Last day", "You are told 90, 30 and 7 days before."),
        Field("reference", "Code or number"),
        Field("notes"),
    ),
    add="add_voucher",
    change="update_voucher",
)
MESSAGES = {
    "saved": "The voucher is saved.",
    "applied": "The voucher is on the booking.",
    "detached": "The voucher is on no booking and can be used again.",
    "deleted": "The voucher is deleted.",
}
ALIKE = 600.0  # of each dot: what a voucher is worth shows only once it is used
MAX_BOOKINGS = 50  # to choose from, of flights and of stays
VOUCHERS = Subject("voucher", PATH, "Your vouchers")


async def show(member: Member) -> FlowResult:
    answer = await look(member, "list_my_vouchers", page=read_page(member))
    if not answer.is_good:
        return VOUCHERS.show_away()
    rows, paging = answer.get("vouchers", ()), answer.get("paging")
    open_days = [(row["expires_on"], row["name"]) for row in rows if row["expires_on"] and row["state"] != "applied"]
    year = draw_year([Ending(date.fromisoformat(day), ALIKE, name) for day, name in open_days], clock.today())
    return member.show("vouchers.html", rows=rows, paging=paging, year=year, messages=MESSAGES)


async def _find(member: Member, number: int | None) -> tuple[dict[str, Any] | None, Answer]:
    """The voucher of this number, or None, and the tool's answer."""
    if number is None:
        return None, Answer(status="not_found")
    answer = await look(member, "list_my_vouchers", voucher_id=number)
    return next(iter(answer.get("vouchers", ())), None), answer


async def _list_kinds(member: Member) -> list[tuple[str, str]]:
    answer = await look(member, "list_voucher_types", per_page=100)
    return [("", "Choose one"), *((kind["voucher_slug"], kind["name"]) for kind in answer.get("voucher_types", ()))]


async def show_new_or_stored(member: Member) -> FlowResult:
    """Shows an empty form for a new voucher, or a stored one that the query names."""
    number = read_number(member.data.query_value("voucher"))
    form = await FORM.load(member, is_new=number is None)
    if number is None:
        typed = form.begin(voucher_slug=member.data.query_value("kind") or "")
        form.offer("voucher_slug", await _list_kinds(member), typed["voucher_slug"])
        return _show(member, form, typed, {}, {})
    row, answer = await _find(member, number)
    if row is None:
        return VOUCHERS.show_missing(answer)
    typed = form.write(row)
    return _show(member, form, typed, mark_values(typed), {"voucher_id": row["voucher_id"], "name": row["name"]})


def _show(
    member: Member,
    form: Form,
    typed: Mapping[str, str],
    before: Mapping[str, str],
    hidden: Mapping[str, Any],
    saved: Answer | None = None,
) -> FlowResult:
    """`hidden` names the voucher to change."""
    title = "Add a voucher" if form.is_new else "Change a voucher"
    heading, back = hidden.get("name") or "Voucher", (PATH, "Vouchers")
    return show_form(
        member,
        form,
        typed,
        before,
        title=title,
        heading=heading,
        back=back,
        answer=saved,
        hidden=hidden,
        delete=f"{DELETE}?voucher={hidden['voucher_id']}" if hidden else "",
    )


async def save(member: Member) -> FlowResult:
    number = read_number(member.data.form_value("voucher_id"))
    form = await FORM.load(member, is_new=number is None)
    typed, before = form.read(member), form.read_before(member)
    hidden: dict[str, Any] = {}
    if number is None:
        saved, kinds = await gather(change(member, "add_voucher", **form.list_filled(typed)), _list_kinds(member))
        form.offer("voucher_slug", kinds, typed["voucher_slug"])
    else:
        saved = await change(member, "update_voucher", voucher_id=number, **form.list_changes(typed, before))
        if saved.status == "not_found":
            return VOUCHERS.show_gone()
        hidden = {"voucher_id": number, "name": member.data.form_value("name")[:120]}
    return redirect_back(PATH, "saved") if saved.is_good else _show(member, form, typed, before, hidden, saved)


async def show_bookings(member: Member) -> FlowResult:
    """Shows future flights and stays, to choose the one the voucher is used for."""
    return await _show_bookings(member, read_number(member.data.query_value("voucher")))


async def _show_bookings(
    member: Member, number: int | None, choice: str = "", applied: Answer | None = None
) -> FlowResult:
    upcoming: dict[str, Any] = {"when": "upcoming", "per_page": MAX_BOOKINGS}
    (row, answer), flights, stays = await gather(
        _find(member, number),
        look(member, "list_flight_bookings", **upcoming),
        look(member, "list_hotel_bookings", **upcoming),
    )
    if row is None:
        return VOUCHERS.show_missing(answer)
    bookings = _list_bookings(flights, stays)
    use = row["applied_to"]
    on = f"{use['booking_type']}:{use['booking_id']}" if use else ""
    return member.show(
        "voucher_apply.html",
        200 if applied is None else 422,
        row=row,
        options=[option for option in bookings if option[0] != on],
        on=dict(bookings).get(on, "a booking of the past") if on else "",
        selected=choice,
        fault=" ".join(read_faults(applied).values()) if applied is not None else "",
        needs_plan=applied is not None and applied.status == "paywall",
    )


def _list_bookings(flights: Answer, stays: Answer) -> list[tuple[str, str]]:
    """Pairs of a booking and its words, in the order of their days."""
    flown = [
        (row["departure_date"], f"flight:{row['booking_id']}", f"{row['origin']} to {row['destination']}")
        for row in flights.get("bookings", ())
    ]
    stayed = [
        (row["check_in_date"], f"hotel:{row['booking_id']}", row["hotel"]["name"]) for row in stays.get("bookings", ())
    ]
    return [(which, f"{format_iso_weekday(day)}: {words}") for day, which, words in sorted(flown + stayed)]


async def apply(member: Member) -> FlowResult:
    number = read_number(member.data.form_value("voucher_id"))
    choice = member.data.form_value("booking")
    kind, _, text = choice.partition(":")
    booking = read_number(text)
    if number is None:
        return VOUCHERS.show_gone()
    which: dict[str, Any] = {} if booking is None else {"booking_type": kind, "booking_id": booking}
    applied = await change(member, "apply_voucher_to_booking", voucher_id=number, **which)
    if applied.is_good:
        return redirect_back(PATH, "applied" if applied["applied"] else "detached")
    return await _show_bookings(member, number, choice, applied)


async def ask_delete(member: Member) -> FlowResult:
    row, answer = await _find(member, read_number(member.data.query_value("voucher")))
    return member.show("voucher_delete.html", row=row) if row else VOUCHERS.show_missing(answer)


async def delete(member: Member) -> FlowResult:
    number = read_number(member.data.form_value("voucher_id"))
    if number is None:
        return VOUCHERS.show_gone()
    return await VOUCHERS.delete(member, "delete_voucher", voucher_id=number)


ROUTES = [
    get_for_member(PATH, show),
    get_for_member(EDIT, show_new_or_stored),
    post_for_member(EDIT, save),
    get_for_member(APPLY, show_bookings),
    post_for_member(APPLY, apply),
    get_for_member(DELETE, ask_delete),
    post_for_member(DELETE, delete),
]
