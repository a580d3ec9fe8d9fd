"""Page of all watches by kind: route watches, alerts of one airline, delays at airports, and standing orders."""

from asyncio import gather
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from auth_server.pages import delay_alerts, flight_alerts, route_monitors, standing_orders
from auth_server.pages.member import Member
from auth_server.pages.member_routes import get_for_member
from auth_server.pages.tool_calls import Answer, look
from auth_server.pages.watch_lines import (
    Row,
    WatchLine,
    describe_delay_alert,
    describe_flight_alert,
    describe_route_monitor,
    describe_standing_order,
)
from auth_server.pages.watch_pages import LIST
from auth_server.web.outcomes import FlowResult

PER_PAGE = 8  # of each kind: four full lists stay far below 30 kB
MAX_PAGE = 100_000
MESSAGES = {"deleted": "The alert is deleted."}


@dataclass(frozen=True)
class Listing:
    """One kind on the page: its words, the tool that lists it, and where its rows stand in the answer."""

    title: str
    new: str
    words: str  # of the link to the form for a new one
    empty: str
    tool: str
    rows: str
    describe: Callable[[Row], WatchLine]
    arguments: Mapping[str, Any]


LISTINGS = {
    "routes": Listing(
        "Routes",
        f"{route_monitors.KIND.path}/new",
        "Watch a route",
        "No route is watched. A watch looks every few hours and mails award seats when they open.",
        "list_route_monitors",
        "monitors",
        describe_route_monitor,
        {"state": "all"},
    ),
    "flights": Listing(
        "Seats of one airline",
        f"{flight_alerts.KIND.path}/new",
        "Add an alert",
        "No airline is watched.",
        "list_flight_alerts",
        "alerts",
        describe_flight_alert,
        {},
    ),
    "delays": Listing(
        "Delays at airports",
        f"{delay_alerts.KIND.path}/new",
        "Add a delay alert",
        "No airport is watched for delays.",
        "list_delay_alerts",
        "alerts",
        describe_delay_alert,
        {},
    ),
    "orders": Listing(
        "Standing orders",
        f"{standing_orders.KIND.path}/new",
        "Add a standing order",
        "Nothing runs by itself. A standing order asks the tools each day or week and mails the result.",
        "list_standing_orders",
        "standing_orders",
        describe_standing_order,
        {"state": "all"},
    ),
}


def _read_page(member: Member, name: str) -> int:
    text = member.data.query_value(name) or ""
    return min(int(text), MAX_PAGE) if text.isascii() and text.isdecimal() and 0 < len(text) < 9 and int(text) else 1


async def show(member: Member) -> FlowResult:
    """Each kind turns its own pages: `?routes=2`."""
    answers = await gather(
        *(
            look(member, listing.tool, page=_read_page(member, name), per_page=PER_PAGE, **listing.arguments)
            for name, listing in LISTINGS.items()
        )
    )
    lists = [
        (name, listing, *_read_lines(answer, listing))
        for (name, listing), answer in zip(LISTINGS.items(), answers, strict=True)
    ]
    return member.show("watch_list.html", lists=lists, path=LIST, messages=MESSAGES)


def _read_lines(answer: Answer, listing: Listing) -> tuple[list[WatchLine] | None, Mapping[str, Any]]:
    """The lines and the paging; None without an answer."""
    if not answer.is_good:
        return None, {}
    return [listing.describe(row) for row in answer[listing.rows]], answer["paging"]


ROUTES = [
    get_for_member(LIST, show),
    *route_monitors.ROUTES,
    *flight_alerts.ROUTES,
    *delay_alerts.ROUTES,
    *standing_orders.ROUTES,
]
