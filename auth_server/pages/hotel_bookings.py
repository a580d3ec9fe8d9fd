"""Pages of one stay: what was booked, its trip, and its price as it was seen since, looked at now and over time."""

from asyncio import gather
from collections.abc import Sequence
from datetime import date, datetime

from auth_server.pages.booking_timeline import STAYS, Row, describe_stay
from auth_server.pages.bookings import BOOKINGS, BookingKind, name_trips
from auth_server.pages.flight_bookings import PAID_WITH
from auth_server.pages.forms import Field, ToolForm
from auth_server.pages.member import Member, get_for_member, post_for_member, redirect_back
from auth_server.pages.tool_calls import change, look
from auth_server.web.charts import Chart, draw_line
from auth_server.web.outcomes import FlowResult, show_problem

ONE = f"{STAYS}/{{number}}"
CHECK_SECONDS = 20.0  # a live look at several sources
MESSAGES = {
    "added": "The stay is added.",
    "saved": "The stay is saved.",
    "cancelled": "The stay is cancelled here.",
    "from_mail": "The stay of your mail is filed.",
    "filed": "The stay is filed.",
    "checked": "The price was looked at right now.",
}
FORM = ToolForm(
    (
        Field("hotel_id", "Hotel", "Its name. The price of a hotel known here is checked every day."),
        Field("city", help="Of a hotel unknown here.", half=True),
        Field("country", help="Two letters, such as PT.", half=True),
        Field("check_in_date", "Check-in", half=True),
        Field("check_out_date", "Check-out", half=True),
        Field("kind", "Paid with", words=PAID_WITH, half=True),
        Field("original_points", "Points for the whole stay", half=True),
        Field("original_pay_rate_usd", "Money for the whole stay", "Needed where money paid.", half=True),
        Field("cash_rate_currency", "Currency", "Such as EUR; empty: USD.", half=True),
        Field("room_type", "Room", half=True),
        Field("rate_plan", "Rate", "Such as breakfast, or prepaid.", half=True),
        Field("confirmation_number", half=True),
        Field("member", "Whose, if not yours", "A first name, as you call them.", half=True),
        Field("trip_id", "Trip", only_new=True),
        Field("notes"),
    ),
    add="add_hotel_booking",
    change="update_hotel_booking",
)
KIND = BookingKind(
    noun="stay",
    path=STAYS,
    look="get_hotel_booking",
    delete="delete_hotel_booking",
    form=FORM,
    trip="trip_id",
    ids="hotel_booking_ids",
    describe=describe_stay,
    named_by="hotel_id",
)


async def show(member: Member) -> FlowResult:
    answer, trips, prices = await gather(
        KIND.look_at(member),
        name_trips(member),
        look(member, "get_hotel_price_history", booking_id=member.data.path_number("number") or 0),
    )
    if not answer.is_good:
        return BOOKINGS.refuse(answer)
    booking = answer["booking"]
    return member.show(
        "stay.html",
        booking=booking,
        entry=describe_stay(booking),
        leaves=date.fromisoformat(booking["check_out_date"]),
        free_until=_read_day(booking["free_cancellation_until"]),
        checked=_read_moment(booking["monitoring"]["last_checked_at"]),
        vouchers=answer["vouchers"],
        trips=trips,
        trip_id=booking["trip_id"],
        page=f"{STAYS}/{booking['booking_id']}",
        picture=draw_prices(booking, prices.get("snapshots", ())),
        messages=MESSAGES,
    )


def _read_day(text: str | None) -> date | None:
    return date.fromisoformat(text) if text else None


def _read_moment(text: str | None) -> datetime | None:
    return datetime.fromisoformat(text) if text else None


def draw_prices(booking: Row, snapshots: Sequence[Row]) -> Chart | None:
    """Draws the price over time next to what was paid, or to the limit of a stay that is not booked yet.

    It is in points for an award, else in money in the booking's currency. The answer lists the newest price first. A
    look without such a price is a gap.
    """
    if booking["kind"] == "award":
        unit, paid = "points", booking["original_points"]
        prices = [row["points"] for row in snapshots]
    else:
        unit, paid = booking["cash_rate_currency"], booking["original_pay_rate_usd"]
        prices = [row["cash"] if row["currency"] == unit else None for row in snapshots]
    looks = [(datetime.fromisoformat(row["captured_at"]), price) for row, price in zip(snapshots, prices, strict=True)]
    want_name = "you paid"
    if not booking["booked"]:
        days = [date.fromisoformat(booking[name]) for name in ("check_in_date", "check_out_date")]
        most = booking["max_points_per_night" if booking["kind"] == "award" else "max_cash_per_night"]
        paid, want_name = most and most * (days[1] - days[0]).days, "limit for all nights"
    gap = _describe_gap(unit, [row for row, price in zip(snapshots, prices, strict=True) if price is None])
    return draw_line(looks[::-1], f"{unit[0].upper()}{unit[1:]} for the stay", want=paid, want_name=want_name, gap=gap)


def _describe_gap(unit: str, rows: Sequence[Row]) -> str:
    """Why looks found no price: a look with the hotel but neither points nor money means it was sold out."""
    is_sold_out = all(row["points"] is None and row["cash"] is None for row in rows)
    return "sold out" if is_sold_out else f"no price in {unit}"


async def check_price(member: Member) -> FlowResult:
    number = member.data.path_number("number") or 0
    page = f"{STAYS}/{number}"
    checked = await change(member, "check_hotel_booking_price", CHECK_SECONDS, booking_id=number)
    if checked.status in ("ok", "partial"):
        return redirect_back(page, "checked")
    if checked and checked.status not in ("no_data", "backend_unavailable"):
        return BOOKINGS.refuse(checked)
    words = checked.get("message") or "No source answered in time. Please try again later."
    status = 200 if checked.status == "no_data" else 503
    links = ((page, "Back to the stay"), (BOOKINGS.path, BOOKINGS.words))
    return show_problem("No price was seen", str(words), status, links=links)


ROUTES = [
    *KIND.list_routes(),
    get_for_member(ONE, show),
    post_for_member(f"{ONE}/check", check_price),
]
