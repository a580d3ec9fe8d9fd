"""Bookings page: flights and stays as one timeline by trip. Forms of both: added, changed, filed and deleted."""

from asyncio import gather
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal

from starlette.routing import Route

from auth_server.pages.booking_timeline import Entry, Row, describe_flight, describe_stay, group_by_trip
from auth_server.pages.flight_drawings import draw_map
from auth_server.pages.forms import Field, Form, ToolForm, mark_values, read_page, show_form
from auth_server.pages.member import Member, get_for_member, post_for_member, redirect_back
from auth_server.pages.tool_calls import Answer, Subject, change, look, read_usual
from auth_server.web.outcomes import FlowResult
from shared import clock
from shared.domain.plans import Tier, is_allowed

PATH = "/dashboard/bookings"
PAST, CANCELLED = f"{PATH}/past", f"{PATH}/cancelled"
MESSAGES = {
    "deleted": "The booking is removed here.",
    "from_mail": "The bookings of your mail are filed.",
}
PER_PAGE, MAX_TRIPS = 12, 100  # of each kind: with their cost and times a page stays below 30 kB
When = Literal["upcoming", "past", "cancelled"]
BOOKINGS = Subject("booking", PATH, "Your bookings")


async def show(member: Member, when: When = "upcoming") -> FlowResult:
    page = read_page(member)
    arguments: dict[str, Any] = {"when": when, "page": page, "per_page": PER_PAGE}
    flights, stays, trips = await gather(
        look(member, "list_flight_bookings", **arguments),
        look(member, "list_hotel_bookings", **arguments),
        name_trips(member),
    )
    if not (flights.is_good or stays.is_good):
        return BOOKINGS.show_away()
    entries: list[Entry] = [
        *map(describe_flight, flights.get("bookings", ())),
        *map(describe_stay, stays.get("bookings", ())),
    ]
    total = max(answer["paging"]["total"] for answer in (flights, stays) if answer.is_good)
    return member.show(
        "bookings.html",
        map=await draw_map(member, flights.get("bookings", ())),
        groups=group_by_trip(entries, newest_first=when != "upcoming"),
        trips=trips,
        silent=[name for name, answer in (("flights", flights), ("stays", stays)) if not answer.is_good],
        when=when,
        views=((PATH, "Upcoming"), (PAST, "Past"), (CANCELLED, "Cancelled")),
        page=page,
        pages=-(-total // PER_PAGE),
        messages=MESSAGES,
    )


async def name_trips(member: Member) -> dict[int, str]:
    """The active trips that bookings can belong to."""
    answer = await look(member, "list_trips", per_page=MAX_TRIPS)
    return {trip["trip_id"]: trip["name"] for trip in answer.get("trips", ())}


_CANCELLED_FIELDS = (
    Field("cancelled_on", "Day you cancelled it", "Empty: it is booked again."),
    Field("points_back", "Points that came back", "For all travellers. Empty: not known yet.", half=True),
    Field("money_back", "Money that came back", "In the currency of the booking.", half=True),
    Field("credit_points_back", "Add these points to my balance"),
)


@dataclass(frozen=True)
class BookingKind:
    """One kind of booking: its name, its pages and its tools."""

    noun: str
    path: str
    look: str
    delete: str
    form: ToolForm
    trip: str  # the field that names its trip
    ids: str  # the argument by which it is filed under a trip
    describe: Callable[[Row], Entry]
    # When one of these changes, the tool forgets `times` that are not sent again.
    related: frozenset[str] = frozenset()
    times: tuple[str, ...] = ()
    named_by: str = ""  # the field with a name that may be unknown or ambiguous

    @property
    def cancelling(self) -> ToolForm:
        return ToolForm(_CANCELLED_FIELDS, add=self.form.change, change=self.form.change)

    async def look_at(self, member: Member) -> Answer:
        """Fetches the booking that the path names."""
        number = member.data.path_number("number")
        return await look(member, self.look, booking_id=number) if number else Answer(status="not_found")

    def list_routes(self) -> list[Route]:
        """The routes of its forms; `new` comes before the page of one booking."""
        one = f"{self.path}/{{number}}"
        return [
            get_for_member(f"{self.path}/new", partial(show_new, self)),
            post_for_member(f"{self.path}/new", partial(save_new, self)),
            get_for_member(f"{one}/edit", partial(show_change, self)),
            post_for_member(f"{one}/edit", partial(save_change, self)),
            get_for_member(f"{one}/cancel", partial(show_cancelling, self)),
            post_for_member(f"{one}/cancel", partial(save_cancelling, self)),
            get_for_member(f"{one}/delete", partial(ask_delete, self)),
            post_for_member(f"{one}/delete", partial(delete, self)),
            post_for_member(f"{one}/trip", partial(file_under_trip, self)),
        ]


async def show_new(kind: BookingKind, member: Member) -> FlowResult:
    form, trips, usual = await gather(kind.form.load(member, is_new=True), name_trips(member), read_usual(member))
    currencies = {name: value for name, value in usual.items() if name.endswith("currency")}  # the rest was booked
    fields = form.begin(**currencies, **{kind.trip: member.data.query_value("trip") or ""})
    return _show(kind, member, form, fields, trips)


def _show(
    kind: BookingKind,
    member: Member,
    form: Form,
    typed: Mapping[str, str],
    trips: Mapping[int, str],
    booking: Row | None = None,
    saved: Answer | None = None,
) -> FlowResult:
    """`booking` is the one to change."""
    if trips:
        form.offer(kind.trip, [("", "No trip"), *((str(id), name) for id, name in trips.items())])
    else:
        form.inputs.pop(kind.trip, None)
    faults = form.read_faults(saved) if saved is not None else {}
    if saved is not None and saved.status in ("not_found", "candidates") and kind.named_by:
        faults[kind.named_by] = faults.pop("")
    back = (
        (PATH, "Bookings") if booking is None else (f"{kind.path}/{booking['booking_id']}", f"Back to the {kind.noun}")
    )
    return show_form(
        member,
        form,
        typed,
        title=f"Add a {kind.noun}" if booking is None else f"Change a {kind.noun}",
        heading="What you booked" if booking is None else kind.describe(booking).title,
        back=back,
        template="booking_form.html",
        answer=saved,
        faults=faults,
        is_allowed=is_allowed(member.plan, Tier.PAID),
    )


async def save_new(kind: BookingKind, member: Member) -> FlowResult:
    form = await kind.form.load(member, is_new=True)
    typed = form.read(member)
    saved = await change(member, kind.form.add, **form.list_filled(typed))
    if saved.is_good:
        return redirect_back(f"{kind.path}/{saved['booking']['booking_id']}", "added")
    return _show(kind, member, form, typed, await name_trips(member), saved=saved)


async def show_change(kind: BookingKind, member: Member) -> FlowResult:
    form, answer = await gather(kind.form.load(member, is_new=False), kind.look_at(member))
    if not answer.is_good:
        return BOOKINGS.refuse(answer)
    return _show(kind, member, form, form.write(answer["booking"]), {}, answer["booking"])


async def save_change(kind: BookingKind, member: Member) -> FlowResult:
    """Sends only what changed: the booking is read first, as its marks would be too many fields."""
    form, answer = await gather(kind.form.load(member, is_new=False), kind.look_at(member))
    if not answer.is_good:
        return BOOKINGS.refuse(answer)
    booking, typed = answer["booking"], form.read(member)
    page = f"{kind.path}/{booking['booking_id']}"
    arguments = list_changes(kind, form, booking, typed)
    if not arguments:
        return redirect_back(page, "saved")
    saved = await change(member, kind.form.change, booking_id=booking["booking_id"], **arguments)
    return redirect_back(page, "saved") if saved.is_good else _show(kind, member, form, typed, {}, booking, saved)


def list_changes(kind: BookingKind, form: Form, booking: Row, typed: Mapping[str, str]) -> dict[str, Any]:
    """The arguments that turn the stored booking into what was typed; empty without a change."""
    arguments = form.list_changes(typed, mark_values(form.write(booking)))
    if not kind.related.isdisjoint({*arguments, *arguments.get("clear", ())}):
        arguments |= {name: typed[name] for name in kind.times if typed.get(name)}
    return arguments


async def show_cancelling(kind: BookingKind, member: Member) -> FlowResult:
    """Shows the form for a cancellation, or for its refund."""
    form, answer = await gather(kind.cancelling.load(member, is_new=True), kind.look_at(member))
    if not answer.is_good:
        return BOOKINGS.refuse(answer)
    typed = form.write(answer["booking"])
    typed["cancelled_on"] = typed["cancelled_on"] or clock.today().isoformat()
    return _show_cancelling(kind, member, form, typed, answer["booking"])


def _show_cancelling(
    kind: BookingKind, member: Member, form: Form, typed: Mapping[str, str], booking: Row, saved: Answer | None = None
) -> FlowResult:
    entry = kind.describe(booking)
    return show_form(
        member,
        form,
        typed,
        title=f"Note a cancelled {kind.noun}",
        heading=entry.title,
        back=(entry.page, f"Back to the {kind.noun}"),
        template="booking_form.html",
        answer=saved,
        note=f"This notes it here. Cancel it with the {'airline' if kind.noun == 'flight' else 'hotel'} first.",
        is_allowed=is_allowed(member.plan, Tier.PAID),
    )


async def save_cancelling(kind: BookingKind, member: Member) -> FlowResult:
    form, answer = await gather(kind.cancelling.load(member, is_new=True), kind.look_at(member))
    if not answer.is_good:
        return BOOKINGS.refuse(answer)
    typed, booking = form.read(member), answer["booking"]
    changes = form.list_changes(typed, mark_values(form.write(booking)))
    saved = await change(member, kind.form.change, booking_id=booking["booking_id"], **changes)
    if saved.is_good:
        done = "saved" if "cancelled_on" in changes.get("clear", ()) else "cancelled"
        return redirect_back(f"{kind.path}/{booking['booking_id']}", done)
    return _show_cancelling(kind, member, form, typed, booking, saved)


async def ask_delete(kind: BookingKind, member: Member) -> FlowResult:
    answer = await kind.look_at(member)
    if not answer.is_good:
        return BOOKINGS.refuse(answer)
    entry = kind.describe(answer["booking"])
    return member.show("booking_delete.html", entry=entry, noun=kind.noun, page=f"{entry.page}/delete")


async def delete(kind: BookingKind, member: Member) -> FlowResult:
    return await BOOKINGS.delete(member, kind.delete, booking_id=member.data.path_number("number") or 0)


async def file_under_trip(kind: BookingKind, member: Member) -> FlowResult:
    """Moves it to the chosen trip, or out of its trip."""
    number, choice = member.data.path_number("number") or 0, member.data.form_value("trip")
    present = member.data.form_value("present")
    tool = "assign_bookings_to_trip" if choice.isdecimal() else "unlink_trip_items"
    trip = next((int(text[:18]) for text in (choice, present) if text.isdecimal()), 0)
    which: dict[str, Any] = {"trip_id": trip, kind.ids: [number]}
    filed = await change(member, tool, **which)
    return redirect_back(f"{kind.path}/{number}", "filed") if filed.is_good else BOOKINGS.refuse(filed)


ROUTES = [
    get_for_member(PATH, show),
    get_for_member(PAST, partial(show, when="past")),
    get_for_member(CANCELLED, partial(show, when="cancelled")),
]
