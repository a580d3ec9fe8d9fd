"""Forms of bookings: a flight or a stay is added, changed, filed under a trip and deleted, each through its tools."""

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

from auth_server.pages import bookings
from auth_server.pages.booking_timeline import FLIGHTS, STAYS, Row, describe_flight, describe_stay
from auth_server.pages.member import Member, redirect_back
from auth_server.pages.tool_calls import (
    NO_ANSWER,
    Answer,
    prepare_change,
    prepare_look,
    read_faults,
    show_when_answered,
)
from auth_server.web.outcomes import FlowResult, Page, PageResult, show_problem
from shared.domain.plans import Tier, is_allowed

BACK = (bookings.PATH, "To your bookings")
GONE = show_problem(
    "There is no such booking",
    "It may have been deleted in the meantime; the others are as they were.",
    404,
    links=(BACK,),
)
AMOUNTS = frozenset({"cash_paid", "taxes_paid", "cash_price", "original_pay_rate_usd", "cash_total"})  # of money
_GROUPED = re.compile(r"\d{1,3}([, ]\d{3})+(\.\d+)?")  # 62,340 or 1 250.50


@dataclass(frozen=True)
class BookingForm:
    """One kind of booking: its tools, and its fields by what they hold."""

    noun: str
    template: str
    path: str
    tools: tuple[str, str, str, str]  # that add, read, change and delete one
    ids: str  # the argument by which it is filed under a trip
    trip: str  # the field that names its trip
    fields: tuple[str, ...]
    only_new: tuple[str, ...]  # fields that cannot be changed later
    counts: frozenset[str]
    codes: frozenset[str]  # typed in either case
    clearable: frozenset[str]
    related: frozenset[str]  # when one of these changes, the tool forgets `times` that are not sent again
    times: tuple[str, ...]
    describe: Callable[[Row], Any]


_TEXTS = ("confirmation_number", "member", "notes")
FLIGHT = BookingForm(
    "flight",
    "flight_form.html",
    FLIGHTS,
    ("add_flight_booking", "get_flight_booking", "update_flight_booking", "delete_flight_booking"),
    "flight_booking_ids",
    "workspace_trip_id",
    (
        *("airline", "flight_number", "origin", "destination", "departure_date", "departure_time", "arrival_time"),
        *("arrival_date", "cabin_class", "kind", "points_spent", "program", "cash_paid", "taxes_paid"),
        *("taxes_currency", "cash_price", "passengers", "return_date", *_TEXTS),
    ),
    (),
    frozenset({"points_spent", "passengers"}),
    frozenset({"origin", "destination", "taxes_currency"}),
    frozenset(
        {"points_spent", "program", "cash_paid", "flight_number", "return_date", "taxes_paid", "cash_price"}
        | {"passengers", "confirmation_number", "notes", "departure_time", "arrival_time", "arrival_date"}
    ),
    frozenset({"origin", "destination", "departure_date", "departure_time", "arrival_time"}),
    ("departure_time", "arrival_time"),
    describe_flight,
)
STAY = BookingForm(
    "stay",
    "stay_form.html",
    STAYS,
    ("add_hotel_booking", "get_hotel_booking", "update_hotel_booking", "delete_hotel_booking"),
    "hotel_booking_ids",
    "trip_id",
    (
        *("hotel_id", "city", "country", "check_in_date", "check_out_date", "kind", "original_points"),
        *("original_pay_rate_usd", "cash_rate_currency", "room_type", "rate_plan", *_TEXTS),
    ),
    ("hotel_id", "city", "country"),
    frozenset({"original_points"}),
    frozenset({"country", "cash_rate_currency"}),
    frozenset({"original_points", "original_pay_rate_usd", "room_type", "rate_plan", "confirmation_number", "notes"}),
    frozenset(),
    (),
    describe_stay,
)


def read_typed(member: Member, names: Iterable[str]) -> dict[str, str]:
    return {name: member.data.form_value(name).strip() for name in names}


def read_argument(form: BookingForm, name: str, text: str) -> str | int:
    """What was typed as the tool takes it."""
    if name in form.codes:
        return text.upper()
    return read_number(text, whole=name in form.counts) if name in form.counts or name in AMOUNTS else text


def read_number(text: str, *, whole: bool) -> str | int:
    """A number without its thousands marks; what is none goes as it is, and the tool says what is wrong."""
    plain = re.sub("[, ]", "", text) if _GROUPED.fullmatch(text) else text
    return int(plain) if whole and plain.isascii() and plain.isdecimal() and len(plain) < 16 else plain


def write_value(value: Any) -> str:
    """A stored value as it stands in a field."""
    if value is None:
        return ""
    if isinstance(value, float):
        return f"{value:.2f}".removesuffix(".00")
    return str(value)


def show_new(form: BookingForm, member: Member) -> PageResult:
    typed = dict.fromkeys(form.fields, "") | {"kind": "award", "cabin_class": "economy"}
    typed |= {form.trip: member.data.query_value("trip") or ""}
    return show_when_answered({"trips": bookings.look_at_trips(member)}, partial(_show_new, form, member, typed, {}))


def _show_new(
    form: BookingForm,
    member: Member,
    typed: Mapping[str, str],
    faults: Mapping[str, str],
    answers: Mapping[str, Answer],
) -> FlowResult:
    trips = [("", "No trip"), *((str(id), name) for id, name in bookings.name_trips(answers["trips"]).items())]
    return _show_fields(form, member, typed, faults, title=f"Add a {form.noun}", trips=trips)


def _show_fields(
    form: BookingForm, member: Member, typed: Mapping[str, str], faults: Mapping[str, str], **context: Any
) -> FlowResult:
    context = {"page": member.data.path, "trips": None, "name": "", "back": bookings.PATH} | context
    allowed = is_allowed(member.plan, Tier.PAID)
    return member.show(form.template, 422 if faults else 200, typed=typed, faults=faults, allowed=allowed, **context)


def save_new(form: BookingForm, member: Member) -> PageResult:
    typed = read_typed(member, (*form.fields, form.trip))
    arguments: dict[str, Any] = {name: read_argument(form, name, text) for name, text in typed.items() if text}
    if typed[form.trip].isdecimal():
        arguments[form.trip] = int(typed[form.trip][:18])
    calls = {"saved": prepare_change(member, form.tools[0], **arguments), "trips": bookings.look_at_trips(member)}
    return show_when_answered(calls, partial(_finish_adding, form, member, typed))


def _finish_adding(
    form: BookingForm, member: Member, typed: dict[str, str], answers: Mapping[str, Answer]
) -> FlowResult:
    saved = answers["saved"]
    if saved.is_good:
        return redirect_back(f"{form.path}/{saved['booking']['booking_id']}", "added")
    return _show_new(form, member, typed, _read_faults(form, saved), answers)


def _read_faults(form: BookingForm, answer: Answer) -> dict[str, str]:
    """A name that means nothing, or several things, is a fault of the field it was typed into."""
    faults = read_faults(answer)
    if answer.status in ("not_found", "candidates") and form is STAY:
        faults["hotel_id"] = faults.pop("")
    return faults


def look_at(form: BookingForm, member: Member) -> dict[str, Any] | None:
    """The call that reads the booking of the path; None for a path that names none."""
    number = member.data.path_number("number")
    return {"booking": prepare_look(member, form.tools[1], booking_id=number)} if number else None


def show_change(form: BookingForm, member: Member) -> PageResult:
    calls = look_at(form, member)
    return show_when_answered(calls, partial(_show_change, form, member)) if calls else GONE


def _show_change(form: BookingForm, member: Member, answers: Mapping[str, Answer]) -> FlowResult:
    if not answers["booking"].is_good:
        return refuse(answers["booking"])
    booking = answers["booking"]["booking"]
    typed = {name: write_value(booking.get(name)) for name in form.fields}
    return _show_stored(form, member, booking, typed, {})


def _show_stored(
    form: BookingForm, member: Member, booking: Row, typed: Mapping[str, str], faults: Mapping[str, str]
) -> FlowResult:
    context = {"title": f"Change a {form.noun}", "name": form.describe(booking).title}
    return _show_fields(form, member, typed, faults, back=f"{form.path}/{booking['booking_id']}", **context)


def save_change(form: BookingForm, member: Member) -> PageResult:
    """What was changed is sent, and nothing else: the booking is read first."""
    calls = look_at(form, member)
    return show_when_answered(calls, partial(_save_change, form, member)) if calls else GONE


def _save_change(form: BookingForm, member: Member, answers: Mapping[str, Answer]) -> PageResult:
    if not answers["booking"].is_good:
        return refuse(answers["booking"])
    booking = answers["booking"]["booking"]
    typed = read_typed(member, form.fields)
    arguments = list_changes(form, booking, typed)
    if not arguments:
        return redirect_back(f"{form.path}/{booking['booking_id']}", "saved")
    call = prepare_change(member, form.tools[2], booking_id=booking["booking_id"], **arguments)
    return show_when_answered({"saved": call}, partial(_finish_changing, form, member, booking, typed))


def list_changes(form: BookingForm, booking: Row, typed: Mapping[str, str]) -> dict[str, Any]:
    """The arguments that make the stored booking what was typed; empty when it is that already."""
    stored = {name: write_value(booking.get(name)) for name in form.fields if name not in form.only_new}
    changed = [name for name, value in stored.items() if typed[name] != value]
    if not form.related.isdisjoint(changed):
        changed += [name for name in form.times if typed[name] and name not in changed]
    emptied = [name for name in changed if not typed[name] and name in form.clearable]
    fields = {name: read_argument(form, name, typed[name]) for name in changed if name not in emptied}
    return fields | ({"clear": emptied} if emptied else {})


def _finish_changing(
    form: BookingForm, member: Member, booking: Row, typed: dict[str, str], answers: Mapping[str, Answer]
) -> FlowResult:
    if answers["saved"].is_good:
        return redirect_back(f"{form.path}/{booking['booking_id']}", "saved")
    return _show_stored(form, member, booking, typed, _read_faults(form, answers["saved"]))


def ask_delete(form: BookingForm, member: Member) -> PageResult:
    calls = look_at(form, member)
    return show_when_answered(calls, partial(_ask_delete, form, member)) if calls else GONE


def _ask_delete(form: BookingForm, member: Member, answers: Mapping[str, Answer]) -> FlowResult:
    if not answers["booking"].is_good:
        return refuse(answers["booking"])
    entry = form.describe(answers["booking"]["booking"])
    return member.show("booking_delete.html", entry=entry, noun=form.noun, page=f"{entry.page}/delete")


def delete(form: BookingForm, member: Member) -> PageResult:
    call = prepare_change(member, form.tools[3], booking_id=member.data.path_number("number") or 0)
    return show_when_answered({"deleted": call}, _finish_deleting)


def _finish_deleting(answers: Mapping[str, Answer]) -> FlowResult:
    deleted = answers["deleted"]
    return redirect_back(bookings.PATH, "deleted") if deleted.is_good else refuse(deleted)


def file_under_trip(form: BookingForm, member: Member) -> PageResult:
    """Under the trip that was chosen, or out of the one it is in."""
    number, choice = member.data.path_number("number") or 0, member.data.form_value("trip")
    present = member.data.form_value("present")
    tool = "assign_bookings_to_trip" if choice.isdecimal() else "unlink_trip_items"
    trip = next((int(text[:18]) for text in (choice, present) if text.isdecimal()), 0)
    filed: dict[str, Any] = {"trip_id": trip, form.ids: [number]}
    call = prepare_change(member, tool, **filed)
    return show_when_answered({"filed": call}, partial(_finish_filing, f"{form.path}/{number}"))


def _finish_filing(page: str, answers: Mapping[str, Answer]) -> FlowResult:
    return redirect_back(page, "filed") if answers["filed"].is_good else refuse(answers["filed"])


def refuse(answer: Answer) -> Page:
    """The page that says why it did not work."""
    if not answer:
        return show_problem("Back in a moment", NO_ANSWER, 503, 5, links=(BACK,))
    if answer.status == "not_found":
        return GONE
    if answer.status == "paywall":
        return show_problem(
            "A higher plan is needed", answer["message"], 403, links=(("/plans", "See the plans"), BACK)
        )
    return show_problem("That did not work", " ".join(read_faults(answer).values()), 422, links=(BACK,))
