"""Items of a trip's plan by hand: a dinner, a tour, a train is added, changed and removed."""

from collections.abc import Mapping
from functools import partial
from typing import Any

from auth_server.pages import trips
from auth_server.pages.booking_forms import read_typed, write_value
from auth_server.pages.booking_timeline import Row
from auth_server.pages.member import Member, redirect_back
from auth_server.pages.member_routes import get_for_member, post_for_member
from auth_server.pages.tool_calls import Answer, prepare_change, read_faults, show_when_answered
from auth_server.web.outcomes import FlowResult, PageResult, show_problem

NEW, ONE = f"{trips.ONE}/items/new", f"{trips.ONE}/items/{{item}}"
FIELDS = ("title", "kind", "day", "start_time", "end_time", "location", "notes")
KINDS = (
    ("activity", "Something to do"),
    ("meal", "A meal"),
    ("transfer", "A train, bus or pick-up"),
    ("note", "A note"),
    ("flight", "A flight not booked yet"),
    ("hotel", "A stay not booked yet"),
)
_FIXED = ("title", "day", "start_time", "end_time")  # the tool can change these and not empty them
_STAYS = "This cannot be emptied. Remove it from the plan and add it again without it."
GONE = show_problem(
    "It is not in the plan any longer", "It may have been removed in the meantime.", 404, links=(trips.BACK,)
)


def show_new(member: Member) -> PageResult:
    calls = trips.look_at(member)
    return show_when_answered(calls, partial(_show_new, member)) if calls else trips.GONE


def _show_new(member: Member, answers: Mapping[str, Answer]) -> FlowResult:
    if not answers["trip"].is_good:
        return trips.refuse(answers["trip"])
    typed = dict.fromkeys(FIELDS, "") | {"kind": "activity", "day": answers["trip"]["trip"]["start_date"] or ""}
    return _show_fields(member, answers["trip"]["trip"], typed, {})


def _show_fields(
    member: Member, trip: Row, typed: Mapping[str, str], faults: Mapping[str, str], item: Row | None = None
) -> FlowResult:
    context = {"trip": trip, "typed": typed, "faults": faults, "item": item, "kinds": KINDS, "page": member.data.path}
    return member.show("itinerary_form.html", 422 if faults else 200, **context)


def add(member: Member) -> PageResult:
    calls = trips.look_at(member)
    return show_when_answered(calls, partial(_add, member)) if calls else trips.GONE


def _add(member: Member, answers: Mapping[str, Answer]) -> PageResult:
    if not answers["trip"].is_good:
        return trips.refuse(answers["trip"])
    trip, typed = answers["trip"]["trip"], read_typed(member, FIELDS)
    fields: dict[str, Any] = {name: text for name, text in typed.items() if text}
    call = prepare_change(member, "save_itinerary_item", trip_id=trip["trip_id"], **fields)
    return show_when_answered({"saved": call}, partial(_finish, member, trip, typed, None))


def _finish(
    member: Member, trip: Row, typed: Mapping[str, str], item: Row | None, answers: Mapping[str, Answer]
) -> FlowResult:
    if answers["saved"].is_good:
        return redirect_back(f"{trips.PATH}/{trip['trip_id']}", "item_saved")
    return _show_fields(member, trip, typed, read_faults(answers["saved"]), item)


def _find_item(member: Member, answer: Answer) -> dict[str, Any] | None:
    number = member.data.path_number("item")
    return next((item for item in answer.get("itinerary", ()) if item["item_id"] == number), None)


def show_change(member: Member) -> PageResult:
    calls = trips.look_at(member)
    return show_when_answered(calls, partial(_show_change, member)) if calls else trips.GONE


def _show_change(member: Member, answers: Mapping[str, Answer]) -> FlowResult:
    answer = answers["trip"]
    if not answer.is_good:
        return trips.refuse(answer)
    item = _find_item(member, answer)
    if item is None:
        return GONE
    return _show_fields(member, answer["trip"], {name: write_value(item[name]) for name in FIELDS}, {}, item)


def save_change(member: Member) -> PageResult:
    calls = trips.look_at(member)
    return show_when_answered(calls, partial(_save_change, member)) if calls else trips.GONE


def _save_change(member: Member, answers: Mapping[str, Answer]) -> PageResult:
    answer = answers["trip"]
    if not answer.is_good:
        return trips.refuse(answer)
    item, typed = _find_item(member, answer), read_typed(member, FIELDS)
    if item is None:
        return GONE
    names = [name for name in FIELDS if typed[name] or name != "kind"]  # a transfer of points has no choice of kind
    changed: dict[str, Any] = {name: typed[name] for name in names if typed[name] != write_value(item[name])}
    if emptied := {name: _STAYS for name in _FIXED if changed.get(name) == ""}:
        return _show_fields(member, answer["trip"], typed, emptied, item)
    ids = {"trip_id": answer["trip"]["trip_id"], "item_id": item["item_id"]}
    call = prepare_change(member, "save_itinerary_item", **ids, **changed)
    return show_when_answered({"saved": call}, partial(_finish, member, answer["trip"], typed, item))


def ask_remove(member: Member) -> PageResult:
    calls = trips.look_at(member)
    return show_when_answered(calls, partial(_ask_remove, member)) if calls else trips.GONE


def _ask_remove(member: Member, answers: Mapping[str, Answer]) -> FlowResult:
    answer = answers["trip"]
    if not answer.is_good:
        return trips.refuse(answer)
    item = _find_item(member, answer)
    page = f"{trips.PATH}/{answer['trip']['trip_id']}"
    return member.show("itinerary_remove.html", item=item, page=page) if item else GONE


def remove(member: Member) -> PageResult:
    number, item = (member.data.path_number(name) or 0 for name in ("number", "item"))
    call = prepare_change(member, "remove_itinerary_item", item_id=item)
    return show_when_answered({"removed": call}, partial(_finish_removing, f"{trips.PATH}/{number}"))


def _finish_removing(page: str, answers: Mapping[str, Answer]) -> FlowResult:
    removed = answers["removed"]
    if removed.is_good:
        return redirect_back(page, "item_removed")
    return GONE if removed.status == "not_found" else trips.refuse(removed)


ROUTES = [
    get_for_member(NEW, show_new),
    post_for_member(NEW, add),
    get_for_member(ONE, show_change),
    post_for_member(ONE, save_change),
    get_for_member(f"{ONE}/remove", ask_remove),
    post_for_member(f"{ONE}/remove", remove),
]
