"""Trips pages: the days of a trip with bookings, plans and gaps; made, changed, archived and deleted by the tools."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from functools import partial
from typing import Any
from urllib.parse import urlencode

from auth_server.pages import bookings
from auth_server.pages.booking_forms import read_typed, write_value
from auth_server.pages.booking_timeline import Entry, Row, describe_flight, describe_item, describe_stay, group_by_day
from auth_server.pages.member import Member, redirect_back
from auth_server.pages.member_routes import get_for_member, post_for_member
from auth_server.pages.tool_calls import (
    NO_ANSWER,
    Answer,
    ToolCall,
    prepare_change,
    prepare_look,
    read_faults,
    show_when_answered,
)
from auth_server.web.outcomes import FlowResult, Page, PageResult, show_problem
from shared.domain.party_prices import format_amount

# What the bookings of a trip cost in all, by points and by currency.


@dataclass(frozen=True)
class Costs:
    """Of everybody who travels: points, and money in words, one of each currency."""

    points: int
    money: tuple[str, ...]


def sum_costs(flights: Iterable[Row], stays: Iterable[Row]) -> Costs | None:
    """What is cancelled does not count; None where nothing was paid."""
    points, money = 0, Counter[str]()
    for flight in (row for row in flights if row["state"] != "cancelled"):
        points += flight["points_spent"] or 0
        paid = (flight["cash_paid"], flight["taxes_paid"])
        money[flight["taxes_currency"]] += sum(Decimal(str(amount)) for amount in paid if amount)  # type: ignore[assignment]
    for stay in (row for row in stays if row["state"] != "cancelled"):
        points += (stay["original_points"] or 0) if stay["kind"] == "award" else 0
        if stay["kind"] == "cash" and stay["original_pay_rate_usd"]:
            money[stay["cash_rate_currency"]] += Decimal(str(stay["original_pay_rate_usd"]))  # type: ignore[assignment]
    sums = tuple(format_amount(Decimal(amount), currency) for currency, amount in sorted(money.items()) if amount)
    return Costs(points, sums) if points or sums else None


PATH = "/dashboard/trips"
ARCHIVED, NEW, ONE = f"{PATH}/archived", f"{PATH}/new", f"{PATH}/{{number}}"
FIELDS = ("name", "destination", "start_date", "end_date")
PER_PAGE, ENTRIES_PER_PAGE = 20, 24  # with their buttons a page of entries stays below 30 kB
MAX_CHOICES = 50  # bookings of each kind that can be added
# What an archived trip lets go: the lists of get_trip, the ids in them, and the arguments that file them again.
FILED = (
    ("flight_bookings", "booking_id", "flight_booking_ids"),
    ("hotel_bookings", "booking_id", "hotel_booking_ids"),
    ("monitors", "monitor_id", "monitor_ids"),
    ("standing_orders", "standing_order_id", "standing_order_ids"),
    ("searches", "search_id", "search_ids"),
    ("chats", "chat_id", "chat_ids"),
)
MESSAGES = {
    "made": "The trip is open.",
    "saved": "The trip is saved.",
    "archived": "The trip is archived, and what was filed under it was let go.",
    "back": "The trip is open again, with what was filed under it.",
    "filed": "The booking is filed under this trip.",
    "taken": "It is taken out of this trip, and kept among your bookings.",
    "item_saved": "The plan is saved.",
    "item_removed": "It is removed from the plan.",
    "shared": "The trip has a link now. Copy it below and send it to whom you like.",
    "unshared": "The link is ended: it shows nothing to anybody any longer.",
    "deleted": "The trip is deleted. What was filed under it is kept.",
}
BACK = (PATH, "To your trips")
GONE = show_problem("There is no such trip", "It may have been deleted in the meantime.", 404, links=(BACK,))


def refuse(answer: Answer) -> Page:
    """The page that says why it did not work."""
    if not answer:
        return show_problem("Back in a moment", NO_ANSWER, 503, 5, links=(BACK,))
    if answer.status == "not_found":
        return GONE
    if answer.status == "paywall":
        words = " ".join(filter(None, (answer["message"], answer.get("free_alternative"))))
        return show_problem("A higher plan is needed", words, 403, links=(("/plans", "See the plans"), BACK))
    return show_problem("That did not work", " ".join(read_faults(answer).values()), 422, links=(BACK,))


def show_list(member: Member, state: str = "active") -> PageResult:
    page = bookings.read_page(member)
    call = prepare_look(member, "list_trips", state=state, page=page, per_page=PER_PAGE)
    return show_when_answered({"trips": call}, partial(_show_list, member, state, page))


def _show_list(member: Member, state: str, page: int, answers: Mapping[str, Answer]) -> FlowResult:
    answer = answers["trips"]
    if not answer.is_good:
        return refuse(answer)
    rows = [
        trip | {"first": read_day(trip["start_date"]), "last": read_day(trip["end_date"])} for trip in answer["trips"]
    ]
    pages = -(-answer["paging"]["total"] // PER_PAGE)
    views = ((PATH, "Open"), (ARCHIVED, "Archived"))
    context = {"rows": rows, "state": state, "page": page, "pages": pages, "views": views}
    return member.show("trips.html", messages=MESSAGES, **context)


def read_day(text: str | None) -> date | None:
    return date.fromisoformat(text) if text else None


def look_at(member: Member) -> dict[str, ToolCall] | None:
    """The call that reads the trip of the path; None for a path that names none."""
    number = member.data.path_number("number")
    return {"trip": prepare_look(member, "get_trip", trip_id=number, detail="full")} if number else None


def show(member: Member) -> PageResult:
    calls = look_at(member)
    if not calls:
        return GONE
    upcoming = {"when": "upcoming", "per_page": MAX_CHOICES}
    calls |= {
        "flights": prepare_look(member, "list_flight_bookings", **upcoming),
        "stays": prepare_look(member, "list_hotel_bookings", **upcoming),
    }
    return show_when_answered(calls, partial(_show, member, bookings.read_page(member)))


def _show(member: Member, page: int, answers: Mapping[str, Answer]) -> FlowResult:
    answer = answers["trip"]
    if not answer.is_good:
        return refuse(answer)
    trip = answer["trip"]
    days = group_by_day(_list_entries(answer))
    rows = [entry for day in days for entry in day.entries]
    start = (page - 1) * ENTRIES_PER_PAGE
    return member.show(
        "trip.html",
        trip=trip,
        first=read_day(trip["start_date"]),
        last=read_day(trip["end_date"]),
        days=group_by_day(rows[start : start + ENTRIES_PER_PAGE]),
        gaps=len(answer["gaps"]),
        costs=sum_costs(answer["flight_bookings"], answer["hotel_bookings"]),
        watches=answer["monitors"],
        share_url=answer["share_url"],
        choices=_list_choices(answers["flights"], answers["stays"]),
        page=f"{PATH}/{trip['trip_id']}",
        part=page,
        parts=-(-len(rows) // ENTRIES_PER_PAGE),
        undo={name: text for _, _, name in FILED if (text := member.data.query_value(name))},
        messages=MESSAGES,
    )


def _list_entries(answer: Answer) -> list[Entry]:
    """Bookings, plans that stand for no booking, and gaps."""
    plans = [item for item in answer["itinerary"] if not (item["flight_booking_id"] or item["hotel_booking_id"])]
    return [
        *map(describe_flight, answer["flight_bookings"]),
        *map(describe_stay, answer["hotel_bookings"]),
        *map(describe_item, plans),
        *map(_describe_gap, answer["gaps"]),
    ]


def _describe_gap(gap: Row) -> Entry:
    title = "No bed" if gap["kind"] == "night" else "A flight is missing"
    return Entry("gap", date.fromisoformat(gap["from_date"]), title, about=gap["text"])


def _list_choices(flights: Answer, stays: Answer) -> list[tuple[str, str]]:
    """Upcoming bookings that belong to no trip, as values and words of a choice."""
    entries = [
        *map(describe_flight, flights.get("bookings", ())),
        *map(describe_stay, stays.get("bookings", ())),
    ]
    free = sorted((e for e in entries if e.trip_id is None), key=lambda entry: entry.day or date.max)
    return [(f"{e.kind}-{e.number}", f"{e.day:%a} {e.day.day} {e.day:%b %Y}: {e.title}") for e in free if e.day]


def move_booking(member: Member) -> PageResult:
    """Files a booking under the trip, or takes it out: `booking` names its kind and number."""
    trip = member.data.path_number("number") or 0
    kind, _, number = member.data.form_value("booking").partition("-")
    ids = {"flight": "flight_booking_ids", "hotel": "hotel_booking_ids"}.get(kind, "flight_booking_ids")
    tool, done = (
        ("unlink_trip_items", "taken") if member.data.form_value("out") else ("assign_bookings_to_trip", "filed")
    )
    moved: dict[str, Any] = {"trip_id": trip, ids: [int(number[:18])] if number.isdecimal() else []}
    call = prepare_change(member, tool, **moved)
    return show_when_answered({"moved": call}, partial(_finish, f"{PATH}/{trip}", done, "moved"))


def _finish(page: str, done: str, name: str, answers: Mapping[str, Answer]) -> FlowResult:
    return redirect_back(page, done) if answers[name].is_good else refuse(answers[name])


def show_new(member: Member) -> PageResult:
    return show_fields(member, dict.fromkeys(FIELDS, ""), {})


def show_fields(member: Member, typed: Mapping[str, str], faults: Mapping[str, str], name: str = "") -> FlowResult:
    """The form of a new trip, or of the one called `name`."""
    page = member.data.path
    context = {"typed": typed, "faults": faults, "name": name, "page": page, "back": page.rpartition("/")[0]}
    return member.show("trip_form.html", 422 if faults else 200, **context)


def make(member: Member) -> PageResult:
    typed = read_typed(member, FIELDS)
    call = prepare_change(member, "create_trip", **{name: text for name, text in typed.items() if text})  # type: ignore[arg-type]
    return show_when_answered({"made": call}, partial(_finish_making, member, typed))


def _finish_making(member: Member, typed: Mapping[str, str], answers: Mapping[str, Answer]) -> FlowResult:
    answer = answers["made"]
    if answer.is_good:
        return redirect_back(f"{PATH}/{answer['trip']['trip_id']}", "made")
    if answer.status == "paywall":
        return refuse(answer)
    return show_fields(member, typed, read_faults(answer))


def show_change(member: Member) -> PageResult:
    calls = look_at(member)
    return show_when_answered(calls, partial(_show_change, member)) if calls else GONE


def _show_change(member: Member, answers: Mapping[str, Answer]) -> FlowResult:
    if not answers["trip"].is_good:
        return refuse(answers["trip"])
    trip = answers["trip"]["trip"]
    return show_fields(member, {name: write_value(trip[name]) for name in FIELDS}, {}, trip["name"])


def save_change(member: Member) -> PageResult:
    number, typed = member.data.path_number("number") or 0, read_typed(member, FIELDS)
    fields: dict[str, Any] = {name: text for name, text in typed.items() if text or name == "name"}
    emptied = [name for name in FIELDS if name not in fields]
    call = prepare_change(member, "update_trip", trip_id=number, clear=emptied, **fields)
    return show_when_answered({"saved": call}, partial(_finish_changing, member, f"{PATH}/{number}", typed))


def _finish_changing(member: Member, page: str, typed: Mapping[str, str], answers: Mapping[str, Answer]) -> FlowResult:
    saved = answers["saved"]
    if saved.is_good:
        return redirect_back(page, "saved")
    return (
        GONE if saved.status == "not_found" else show_fields(member, typed, read_faults(saved), typed["name"] or "Trip")
    )


def archive(member: Member) -> PageResult:
    """An archived trip lets go what was filed under it: its ids go along, so that the undo files it again."""
    calls = look_at(member)
    return show_when_answered(calls, partial(_archive, member)) if calls else GONE


def _archive(member: Member, answers: Mapping[str, Answer]) -> PageResult:
    answer = answers["trip"]
    if not answer.is_good:
        return refuse(answer)
    number = answer["trip"]["trip_id"]
    call = prepare_change(member, "update_trip", trip_id=number, state="archived")
    filed = {name: _join_ids(answer[kind], id) for kind, id, name in FILED}
    query = urlencode({name: text for name, text in filed.items() if text})
    done = f"archived&{query}" if query else "archived"
    return show_when_answered({"archived": call}, partial(_finish, f"{PATH}/{number}", done, "archived"))


def _join_ids(rows: Sequence[Row], id: str) -> str:
    return ".".join(str(row[id]) for row in rows)


def bring_back(member: Member) -> PageResult:
    number = member.data.path_number("number") or 0
    call = prepare_change(member, "update_trip", trip_id=number, state="active")
    return show_when_answered({"back": call}, partial(_file_again, member, number))


def _file_again(member: Member, number: int, answers: Mapping[str, Answer]) -> PageResult:
    if not answers["back"].is_good:
        return refuse(answers["back"])
    ids = {name: _split_ids(member.data.form_value(name)) for _, _, name in FILED}
    booked: dict[str, Any] = {name: ids[name] for name in ("flight_booking_ids", "hotel_booking_ids") if ids[name]}
    others: dict[str, Any] = {name: ids[name] for name in ids if ids[name] and name not in booked}
    calls = {"bookings": prepare_change(member, "assign_bookings_to_trip", trip_id=number, **booked)} if booked else {}
    calls |= {"others": prepare_change(member, "link_trip_items", trip_id=number, **others)} if others else {}
    return show_when_answered(calls, partial(_finish_bringing_back, f"{PATH}/{number}"))


def _split_ids(text: str) -> list[int]:
    return [int(id) for id in text.split(".") if id.isascii() and id.isdecimal() and len(id) <= 18]


def _finish_bringing_back(page: str, answers: Mapping[str, Answer]) -> FlowResult:
    refused = next((answer for answer in answers.values() if not answer.is_good), None)
    return redirect_back(page, "back") if refused is None else refuse(refused)


def switch_share(member: Member, *, on: bool) -> PageResult:
    """Makes the link under which others see the trip, or ends it."""
    number = member.data.path_number("number") or 0
    call = prepare_change(member, "update_trip", trip_id=number, share=on)
    done = "shared" if on else "unshared"
    return show_when_answered({"share": call}, partial(_finish, f"{PATH}/{number}", done, "share"))


def ask_delete(member: Member) -> PageResult:
    calls = look_at(member)
    return show_when_answered(calls, partial(_ask_delete, member)) if calls else GONE


def _ask_delete(member: Member, answers: Mapping[str, Answer]) -> FlowResult:
    if not answers["trip"].is_good:
        return refuse(answers["trip"])
    trip = answers["trip"]["trip"]
    return member.show("trip_delete.html", trip=trip, page=f"{PATH}/{trip['trip_id']}")


def delete(member: Member) -> PageResult:
    number = member.data.path_number("number") or 0
    call = prepare_change(member, "delete_trip", trip_id=number, permanently=True)
    return show_when_answered({"deleted": call}, partial(_finish, PATH, "deleted", "deleted"))


ROUTES = [
    get_for_member(PATH, show_list),
    get_for_member(ARCHIVED, partial(show_list, state="archived")),
    get_for_member(NEW, show_new),
    post_for_member(NEW, make),
    get_for_member(ONE, show),
    get_for_member(f"{ONE}/edit", show_change),
    post_for_member(f"{ONE}/edit", save_change),
    post_for_member(f"{ONE}/bookings", move_booking),
    post_for_member(f"{ONE}/archive", archive),
    post_for_member(f"{ONE}/back", bring_back),
    post_for_member(f"{ONE}/share", partial(switch_share, on=True)),
    post_for_member(f"{ONE}/unshare", partial(switch_share, on=False)),
    get_for_member(f"{ONE}/delete", ask_delete),
    post_for_member(f"{ONE}/delete", delete),
]
