"""Items of a trip's plan entered by hand, such as a dinner, a tour or a train."""

from asyncio import gather
from collections.abc import Mapping
from typing import Any

from auth_server.pages import trips
from auth_server.pages.booking_timeline import Row
from auth_server.pages.forms import Field, Form, ToolForm, mark_values, show_form
from auth_server.pages.member import Member, get_for_member, post_for_member, redirect_back
from auth_server.pages.tool_calls import Answer, change
from auth_server.web.outcomes import FlowResult, show_problem

NEW, ONE = f"{trips.ONE}/items/new", f"{trips.ONE}/items/{{item}}"
KINDS = {
    "activity": "Something to do",
    "meal": "A meal",
    "transfer": "A train, bus or pick-up",
    "note": "A note",
    "flight": "A flight not booked yet",
    "hotel": "A stay not booked yet",
}
FORM = ToolForm(
    (
        Field("title", "What"),
        Field("kind", words=KINDS),
        Field("day"),
        Field("start_time", "From", "On the clock there.", half=True),
        Field("end_time", "To", half=True),
        Field("location", "Where"),
        Field("notes"),
    ),
    add="save_itinerary_item",
    change="save_itinerary_item",
)
_FIXED = ("title", "day", "start_time", "end_time")  # the tool can change these but not clear them
_STAYS = "This cannot be emptied. Remove it from the plan and add it again without it."
GONE = show_problem(
    "It is not in the plan any longer",
    "It may have been removed in the meantime.",
    404,
    links=((trips.TRIPS.path, trips.TRIPS.words),),
)


async def show_new(member: Member) -> FlowResult:
    form, answer = await gather(FORM.load(member, is_new=True), trips.look_at(member))
    if not answer.is_good:
        return trips.TRIPS.refuse(answer)
    trip = answer["trip"]
    return _show(member, form, trip, form.begin(kind="activity", day=trip["start_date"] or ""), {})


def _show(
    member: Member,
    form: Form,
    trip: Row,
    typed: Mapping[str, str],
    before: Mapping[str, str],
    *,
    item: Row | None = None,
    saved: Answer | None = None,
    faults: Mapping[str, str] | None = None,
) -> FlowResult:
    return show_form(
        member,
        form,
        typed,
        before,
        title="Change a plan" if item else "Add a plan",
        heading=item["title"] if item else "What you plan",
        back=(f"{trips.PATH}/{trip['trip_id']}", trip["name"]),
        template="itinerary_form.html",
        answer=saved,
        faults=faults,
    )


async def add(member: Member) -> FlowResult:
    form, answer = await gather(FORM.load(member, is_new=True), trips.look_at(member))
    if not answer.is_good:
        return trips.TRIPS.refuse(answer)
    trip, typed = answer["trip"], form.read(member)
    saved = await change(member, "save_itinerary_item", trip_id=trip["trip_id"], **form.list_filled(typed))
    if saved.is_good:
        return redirect_back(f"{trips.PATH}/{trip['trip_id']}", "item_saved")
    return _show(member, form, trip, typed, {}, saved=saved)


async def _find_item(member: Member) -> tuple[Answer, dict[str, Any] | None]:
    """Fetches the trip of the path, and its item if the plan has it."""
    answer, number = await trips.look_at(member), member.data.path_number("item")
    return answer, next((item for item in answer.get("itinerary", ()) if item["item_id"] == number), None)


async def _load_form(member: Member, item: Row) -> Form:
    form = await FORM.load(member, is_new=False)
    if item["kind"] == "points_transfer":  # which is no choice of a kind
        form.inputs.pop("kind")
    return form


async def show_change(member: Member) -> FlowResult:
    answer, item = await _find_item(member)
    if item is None:
        return GONE if answer.is_good else trips.TRIPS.refuse(answer)
    form = await _load_form(member, item)
    typed = form.write(item)
    return _show(member, form, answer["trip"], typed, mark_values(typed), item=item)


async def save_change(member: Member) -> FlowResult:
    answer, item = await _find_item(member)
    if item is None:
        return GONE if answer.is_good else trips.TRIPS.refuse(answer)
    form, trip = await _load_form(member, item), answer["trip"]
    typed, before = form.read(member), form.read_before(member)
    changed = form.list_changes(typed, before)
    if faults := {name: _STAYS for name in _FIXED if changed.get(name) == ""}:
        return _show(member, form, trip, typed, before, item=item, faults=faults)
    ids = {"trip_id": trip["trip_id"], "item_id": item["item_id"]}
    saved = await change(member, "save_itinerary_item", **ids, **changed)
    if saved.is_good:
        return redirect_back(f"{trips.PATH}/{trip['trip_id']}", "item_saved")
    return _show(member, form, trip, typed, before, item=item, saved=saved)


async def ask_remove(member: Member) -> FlowResult:
    answer, item = await _find_item(member)
    if item is None:
        return GONE if answer.is_good else trips.TRIPS.refuse(answer)
    page = f"{trips.PATH}/{answer['trip']['trip_id']}"
    return member.show("itinerary_remove.html", item=item, page=page)


async def remove(member: Member) -> FlowResult:
    number, item = (member.data.path_number(name) or 0 for name in ("number", "item"))
    removed = await change(member, "remove_itinerary_item", item_id=item)
    if removed.is_good:
        return redirect_back(f"{trips.PATH}/{number}", "item_removed")
    return GONE if removed.status == "not_found" else trips.TRIPS.refuse(removed)


ROUTES = [
    get_for_member(NEW, show_new),
    post_for_member(NEW, add),
    get_for_member(ONE, show_change),
    post_for_member(ONE, save_change),
    get_for_member(f"{ONE}/remove", ask_remove),
    post_for_member(f"{ONE}/remove", remove),
]
