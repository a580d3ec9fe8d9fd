"""Bookings page: flights and stays as one timeline by trip, with pages of those that are past and cancelled."""

from collections.abc import Mapping
from functools import partial
from typing import Any, Literal

from auth_server.pages.booking_timeline import Entry, describe_flight, describe_stay, group_by_trip
from auth_server.pages.member import Member
from auth_server.pages.member_routes import get_for_member
from auth_server.pages.tool_calls import Answer, ToolCall, prepare_look, show_when_answered
from auth_server.web.outcomes import FlowResult, PageResult, show_problem

PATH = "/dashboard/bookings"
PAST, CANCELLED = f"{PATH}/past", f"{PATH}/cancelled"
MESSAGES = {
    "deleted": "The booking is removed here. The booking with the airline or hotel still stands.",
    "from_mail": "The bookings of your mail are filed.",
}
PER_PAGE, MAX_TRIPS = 12, 100  # of each kind: with their cost and times a page stays below 30 kB
When = Literal["upcoming", "past", "cancelled"]
_AWAY = show_problem("Back in a moment", "Your bookings could not be read right now. Please try again.", 503, 5)


def show(member: Member, when: When = "upcoming") -> PageResult:
    page = read_page(member)
    arguments: dict[str, Any] = {"when": when, "page": page, "per_page": PER_PAGE}
    calls = {
        "flights": prepare_look(member, "list_flight_bookings", **arguments),
        "stays": prepare_look(member, "list_hotel_bookings", **arguments),
        "trips": look_at_trips(member),
    }
    return show_when_answered(calls, partial(_show, member, when, page))


def read_page(member: Member) -> int:
    """The page of a list that the query names, else the first."""
    text = member.data.query_value("page") or ""
    return max(1, int(text)) if text.isascii() and text.isdecimal() and len(text) < 7 else 1


def look_at_trips(member: Member) -> ToolCall:
    """The active trips, under which bookings can stand."""
    return prepare_look(member, "list_trips", per_page=MAX_TRIPS)


def name_trips(answer: Answer) -> dict[int, str]:
    return {trip["trip_id"]: trip["name"] for trip in answer.get("trips", ())}


def _show(member: Member, when: When, page: int, answers: Mapping[str, Answer]) -> FlowResult:
    flights, stays = answers["flights"], answers["stays"]
    if not (flights.is_good or stays.is_good):
        return _AWAY
    entries: list[Entry] = [
        *map(describe_flight, flights.get("bookings", ())),
        *map(describe_stay, stays.get("bookings", ())),
    ]
    total = max(answer["paging"]["total"] for answer in (flights, stays) if answer.is_good)
    return member.show(
        "bookings.html",
        groups=group_by_trip(entries, newest_first=when != "upcoming"),
        trips=name_trips(answers["trips"]),
        silent=[name for name in ("flights", "stays") if not answers[name].is_good],
        when=when,
        views=((PATH, "Upcoming"), (PAST, "Past"), (CANCELLED, "Cancelled")),
        page=page,
        pages=-(-total // PER_PAGE),
        messages=MESSAGES,
    )


ROUTES = [
    get_for_member(PATH, show),
    get_for_member(PAST, partial(show, when="past")),
    get_for_member(CANCELLED, partial(show, when="cancelled")),
]
