"""Pages of hotel alerts: stays that are watched before they are booked."""

from typing import Any

from auth_server.pages.forms import Field, ToolForm
from auth_server.pages.hotel_bookings import draw_prices
from auth_server.pages.member import Member
from auth_server.pages.tool_calls import Answer, look
from auth_server.pages.watch_lines import describe_hotel_alert
from auth_server.pages.watch_pages import Kind, Listing, list_routes
from auth_server.web.outcomes import FlowResult
from shared.domain.watch_kinds import HOTEL_ALERT

FORM = ToolForm(
    (
        Field("hotel_id", "Hotel", "By its name."),
        Field("check_in_date", "Check-in", half=True),
        Field("check_out_date", "Check-out", half=True),
        Field("max_points_per_night", "Most points a night", "Empty: award nights at any price.", half=True),
        Field("max_cash_per_night", "Or most money a night", half=True),
        Field("cash_rate_currency", "Currency", "Such as EUR; empty: USD.", half=True),
        Field("notes"),
    ),
    add="add_hotel_booking",
    change="update_hotel_booking",
)


def _pick(answer: Answer) -> dict[str, Any]:
    booking: dict[str, Any] = answer["booking"]
    return booking


async def _show(kind: Kind, member: Member, answer: Answer) -> FlowResult:
    stay = _pick(answer)
    prices = await look(member, "get_hotel_price_history", booking_id=stay["booking_id"])
    picture = draw_prices(stay, prices.get("snapshots", ()))
    return member.show(
        "alert.html", kind=kind, line=describe_hotel_alert(stay), found_heading="Last price", picture=picture
    )


KIND = Kind(
    watch=HOTEL_ALERT,
    noun="alert",
    number="booking_id",
    listing=Listing(
        name="hotels",
        drawing="bed",
        title="Hotels not booked yet",
        words="Watch a hotel",
        empty="No hotel is watched before it is booked.",
        tool="list_hotel_bookings",
        rows="bookings",
        arguments={"booked": False},
    ),
    form=FORM,
    added={"booked": False},
    look="get_hotel_booking",
    end="delete_hotel_booking",
    pick=_pick,
    show=_show,
    describe=describe_hotel_alert,
    verb="Delete",
    end_words="Nothing more is told of this stay. To have quiet for a while, pause it.",
)
ROUTES = list_routes(KIND)
