"""Trips pages: the days of a trip with bookings, plans and gaps; made, changed, archived and deleted by the tools."""

from asyncio import gather
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from functools import partial
from typing import Any
from urllib.parse import urlencode

from auth_server.pages.booking_timeline import Entry, Row, describe_flight, describe_item, describe_stay, group_by_day
from auth_server.pages.flight_drawings import MAX_DRAWN, draw_map
from auth_server.pages.forms import Field, Form, ToolForm, mark_values, read_page, show_form
from auth_server.pages.member import Member, get_for_member, post_for_member, redirect_back
from auth_server.pages.tool_calls import Answer, Subject, change, look
from auth_server.web.nights import draw_nights
from auth_server.web.outcomes import FlowResult
from shared import clock
from shared.domain.dates import format_weekdays
from shared.domain.party_prices import format_money


@dataclass(frozen=True)
class Costs:
    """Costs of all travellers: points by programme (slug and name), and money by currency."""

    points: tuple[tuple[str, str, int], ...]
    money: tuple[str, ...]


def sum_costs(flights: Iterable[Row], stays: Iterable[Row], names: Mapping[str, str]) -> Costs | None:
    """Sums the costs; cancelled ones do not count, None if nothing was paid. Points of two programmes stay apart."""
    points, money = Counter[tuple[str, str]](), Counter[str]()
    for flight in (row for row in flights if row["state"] != "cancelled"):
        slug = flight["program"] or ""
        points[slug, names.get(slug, "points")] += flight["points_spent"] or 0
        paid = (flight["cash_paid"], flight["taxes_paid"])
        money[flight["taxes_currency"]] += sum(Decimal(str(amount)) for amount in paid if amount)  # type: ignore[assignment]
    for stay in (row for row in stays if row["state"] != "cancelled"):
        chain = stay["hotel"]["chain"] or ""
        name = chain.upper() if len(chain) < 4 else chain.replace("-", " ").title()
        points[chain, name or "points"] += (stay["original_points"] or 0) if stay["kind"] == "award" else 0
        if stay["kind"] == "cash" and stay["original_pay_rate_usd"]:
            money[stay["cash_rate_currency"]] += Decimal(str(stay["original_pay_rate_usd"]))  # type: ignore[assignment]
    sums = tuple(format_money(Decimal(amount), currency) for currency, amount in sorted(money.items()) if amount)
    spent = tuple((slug, name, amount) for (slug, name), amount in points.items() if amount)
    return Costs(spent, sums) if spent or sums else None


PATH = "/dashboard/trips"
ARCHIVED, NEW, ONE = f"{PATH}/archived", f"{PATH}/new", f"{PATH}/{{number}}"
FORM = ToolForm(
    (
        Field("name"),
        Field("destination", "Where to", "A city or an airport."),
        Field("start_date", "First day", half=True),
        Field("end_date", "Last day", half=True),
    ),
    add="create_trip",
    change="update_trip",
)
PER_PAGE, ENTRIES_PER_PAGE = 20, 24  # with their buttons a page of entries stays below 30 kB
MAX_CHOICES = 50  # bookings of each kind on offer
# What an archived trip releases: the lists of get_trip, their ids, and the arguments that file them again.
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
TRIPS = Subject("trip", PATH, "Your trips")


async def show_list(member: Member, state: str = "active") -> FlowResult:
    page = read_page(member)
    answer, flights = await gather(
        look(member, "list_trips", state=state, page=page, per_page=PER_PAGE),
        look(member, "list_flight_bookings", when="upcoming", per_page=MAX_DRAWN),
    )
    if not answer.is_good:
        return TRIPS.refuse(answer)
    flown = [row for row in flights.get("bookings", ()) if row["workspace_trip_id"]] if state == "active" else []
    rows = [
        trip | {"first": first, "last": last, "days": format_weekdays(first, last or first) if first else ""}
        for trip in answer["trips"]
        for first, last in [(read_day(trip["start_date"]), read_day(trip["end_date"]))]
    ]
    # The next one first, what is over last.
    rows.sort(key=lambda row: (not row["last"] or row["last"] < clock.today(), row["first"] or date.max))
    pages = -(-answer["paging"]["total"] // PER_PAGE)
    views = ((PATH, "Open"), (ARCHIVED, "Archived"))
    ahead = [row for row in rows if (row["first"] or date.min) >= clock.today()]
    next_trip = min(ahead, key=lambda row: str(row["start_date"]), default=None)
    days = (next_trip["first"] - clock.today()).days if next_trip and state == "active" else None
    drawing = {"map": await draw_map(member, flown), "flights": len(flown), "next": next_trip, "days": days}
    context = drawing | {"rows": rows, "state": state, "page": page, "pages": pages, "views": views}
    return member.show("trips.html", messages=MESSAGES, **context)


def read_day(text: str | None) -> date | None:
    return date.fromisoformat(text) if text else None


async def look_at(member: Member) -> Answer:
    """Fetches the trip of the path."""
    number = member.data.path_number("number")
    return await look(member, "get_trip", trip_id=number, detail="full") if number else Answer(status="not_found")


async def show(member: Member) -> FlowResult:
    upcoming: dict[str, Any] = {"when": "upcoming", "per_page": MAX_CHOICES}
    answer, flights, stays = await gather(
        look_at(member),
        look(member, "list_flight_bookings", **upcoming),
        look(member, "list_hotel_bookings", **upcoming),
    )
    if not answer.is_good:
        return TRIPS.refuse(answer)
    trip, page = answer["trip"], read_page(member)
    first, last = read_day(trip["start_date"]), read_day(trip["end_date"])
    days = group_by_day(_list_entries(answer))
    rows = [entry for day in days for entry in day.entries]
    start = (page - 1) * ENTRIES_PER_PAGE
    return member.show(
        "trip.html",
        trip=trip,
        first=first,
        last=last,
        days=group_by_day(rows[start : start + ENTRIES_PER_PAGE]),
        gaps=len(answer["gaps"]),
        costs=sum_costs(answer["flight_bookings"], answer["hotel_bookings"], answer["names"]),
        nights=draw_nights(first, last, answer["flight_bookings"], answer["hotel_bookings"]),
        map=await draw_map(member, answer["flight_bookings"]),
        flights=sum(row["state"] != "cancelled" for row in answer["flight_bookings"]),
        days_away=(first - clock.today()).days if first else None,
        watches=answer["monitors"],
        share_url=answer["share_url"],
        choices=_list_choices(flights, stays),
        page=f"{PATH}/{trip['trip_id']}",
        part=page,
        parts=-(-len(rows) // ENTRIES_PER_PAGE),
        undo={name: text for _, _, name in FILED if (text := member.data.query_value(name))},
        messages=MESSAGES,
    )


def _list_entries(answer: Answer) -> list[Entry]:
    """Bookings, plans that are not bookings, and gaps."""
    plans = [item for item in answer["itinerary"] if not (item["flight_booking_id"] or item["hotel_booking_id"])]
    return [
        *map(describe_flight, answer["flight_bookings"]),
        *map(describe_stay, answer["hotel_bookings"]),
        *map(describe_item, plans),
        *map(_describe_gap, answer["gaps"]),
    ]


GAP_TITLES = {
    "night": "No bed",
    "flight": "A flight is missing",
    "connection": "A short connection",
    "airport": "Another airport",
    "double_night": "Two beds",
}


def _describe_gap(gap: Row) -> Entry:
    return Entry("gap", date.fromisoformat(gap["from_date"]), GAP_TITLES[gap["kind"]], about=gap["text"])


def _list_choices(flights: Answer, stays: Answer) -> list[tuple[str, str]]:
    """Upcoming bookings that belong to no trip, as values and words of a choice."""
    entries = [
        *map(describe_flight, flights.get("bookings", ())),
        *map(describe_stay, stays.get("bookings", ())),
    ]
    free = sorted((e for e in entries if e.trip_id is None), key=lambda entry: entry.day or date.max)
    return [(f"{e.kind}-{e.number}", f"{e.day:%a} {e.day.day} {e.day:%b %Y}: {e.title}") for e in free if e.day]


async def _change_trip(member: Member, tool: str, done: str, /, **arguments: Any) -> FlowResult:
    """Changes it and returns to the trip's page, which says what was done."""
    number = member.data.path_number("number") or 0
    changed = await change(member, tool, trip_id=number, **arguments)
    return redirect_back(f"{PATH}/{number}", done) if changed.is_good else TRIPS.refuse(changed)


async def move_booking(member: Member) -> FlowResult:
    """Files a booking under the trip, or takes it out: `booking` names its kind and number."""
    kind, _, number = member.data.form_value("booking").partition("-")
    ids = {"flight": "flight_booking_ids", "hotel": "hotel_booking_ids"}.get(kind, "flight_booking_ids")
    tool, done = (
        ("unlink_trip_items", "taken") if member.data.form_value("out") else ("assign_bookings_to_trip", "filed")
    )
    return await _change_trip(member, tool, done, **{ids: [int(number[:18])] if number.isdecimal() else []})


async def show_new(member: Member) -> FlowResult:
    form = await FORM.load(member, is_new=True)
    return _show_form(member, form, form.begin(), {})


def _show_form(
    member: Member,
    form: Form,
    typed: Mapping[str, str],
    before: Mapping[str, str],
    saved: Answer | None = None,
    name: str = "",
) -> FlowResult:
    return show_form(
        member,
        form,
        typed,
        before,
        title="New trip" if form.is_new else "Change a trip",
        heading="Where and when" if form.is_new else name,
        back=(member.data.path.rpartition("/")[0], "Trips" if form.is_new else "Back to the trip"),
        answer=saved,
    )


async def make(member: Member) -> FlowResult:
    form = await FORM.load(member, is_new=True)
    typed = form.read(member)
    saved = await change(member, "create_trip", **form.list_filled(typed))
    if saved.is_good:
        return redirect_back(f"{PATH}/{saved['trip']['trip_id']}", "made")
    return TRIPS.refuse(saved) if saved.status == "paywall" else _show_form(member, form, typed, {}, saved)


async def show_change(member: Member) -> FlowResult:
    form, answer = await gather(FORM.load(member, is_new=False), look_at(member))
    if not answer.is_good:
        return TRIPS.refuse(answer)
    typed = form.write(answer["trip"])
    return _show_form(member, form, typed, mark_values(typed), name=answer["trip"]["name"])


async def save_change(member: Member) -> FlowResult:
    number = member.data.path_number("number") or 0
    form = await FORM.load(member, is_new=False)
    typed, before = form.read(member), form.read_before(member)
    saved = await change(member, "update_trip", trip_id=number, **form.list_changes(typed, before))
    if saved.is_good:
        return redirect_back(f"{PATH}/{number}", "saved")
    if saved.status == "not_found":
        return TRIPS.show_gone()
    return _show_form(member, form, typed, before, saved, typed["name"] or "Trip")


async def archive(member: Member) -> FlowResult:
    """Archives a trip, which releases what was filed under it; passes the ids on, so that undo files them again."""
    answer = await look_at(member)
    if not answer.is_good:
        return TRIPS.refuse(answer)
    filed = {name: ".".join(str(row[id]) for row in answer[kind]) for kind, id, name in FILED}
    query = urlencode({name: text for name, text in filed.items() if text})
    return await _change_trip(member, "update_trip", f"archived&{query}" if query else "archived", state="archived")


async def bring_back(member: Member) -> FlowResult:
    number = member.data.path_number("number") or 0
    back = await change(member, "update_trip", trip_id=number, state="active")
    if not back.is_good:
        return TRIPS.refuse(back)
    ids = {name: _split_ids(member.data.form_value(name)) for _, _, name in FILED}
    booked: dict[str, Any] = {name: ids[name] for name in ("flight_booking_ids", "hotel_booking_ids") if ids[name]}
    others: dict[str, Any] = {name: ids[name] for name in ids if ids[name] and name not in booked}
    filings = (("assign_bookings_to_trip", booked), ("link_trip_items", others))
    answers = await gather(*(change(member, tool, trip_id=number, **which) for tool, which in filings if which))
    refused = next((answer for answer in answers if not answer.is_good), None)
    return redirect_back(f"{PATH}/{number}", "back") if refused is None else TRIPS.refuse(refused)


def _split_ids(text: str) -> list[int]:
    return [int(id) for id in text.split(".") if id.isascii() and id.isdecimal() and len(id) <= 18]


async def share(member: Member) -> FlowResult:
    """Makes the link with which others see the trip."""
    return await _change_trip(member, "update_trip", "shared", share=True)


async def end_share(member: Member) -> FlowResult:
    return await _change_trip(member, "update_trip", "unshared", share=False)


async def ask_delete(member: Member) -> FlowResult:
    answer = await look_at(member)
    if not answer.is_good:
        return TRIPS.refuse(answer)
    trip = answer["trip"]
    return member.show("trip_delete.html", trip=trip, page=f"{PATH}/{trip['trip_id']}")


async def delete(member: Member) -> FlowResult:
    number = member.data.path_number("number") or 0
    return await TRIPS.delete(member, "delete_trip", trip_id=number, permanently=True)


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
    post_for_member(f"{ONE}/share", share),
    post_for_member(f"{ONE}/unshare", end_share),
    get_for_member(f"{ONE}/delete", ask_delete),
    post_for_member(f"{ONE}/delete", delete),
]
