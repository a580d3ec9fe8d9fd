"""Pages of one flight: what was booked, its legs and vouchers, its trip, and an alert about delays where it leaves."""

from asyncio import gather

from auth_server.pages.booking_timeline import FLIGHTS, describe_flight
from auth_server.pages.bookings import BOOKINGS, BookingKind, name_trips
from auth_server.pages.flight_drawings import draw_flight
from auth_server.pages.forms import Field, ToolForm
from auth_server.pages.member import Member, get_for_member, post_for_member, redirect_back
from auth_server.pages.tool_calls import change, look
from auth_server.web.outcomes import FlowResult

ONE = f"{FLIGHTS}/{{number}}"
MAX_ALERTS = 100
MESSAGES = {
    "added": "The flight is added.",
    "saved": "The flight is saved.",
    "cancelled": "The flight is cancelled here.",
    "from_mail": "The flight of your mail is filed.",
    "filed": "The flight is filed.",
    "alert_on": "You are told when delays at this airport reach half an hour.",
    "alert_off": "The alert is paused. You can turn it on again here.",
}
PAID_WITH = {"award": "Points", "cash": "Money"}
_THERE, _MORE = "On the clock there.", "Notes and more"
FORM = ToolForm(
    (
        Field("airline", help="Its name or code.", half=True),
        Field("flight_number", half=True),
        Field("origin", "From", "An airport's code, such as LHR.", half=True),
        Field("destination", "To", half=True),
        Field("departure_date", "Day it leaves", half=True),
        Field("departure_time", "Leaves at", _THERE, half=True),
        Field("arrival_date", "Day it lands", "Empty: worked out from the times.", half=True),
        Field("arrival_time", "Lands at", _THERE, half=True),
        Field("cabin_class", "Cabin", half=True),
        Field("kind", "Paid with", words=PAID_WITH, half=True),
        Field("points_spent", "Points for all travellers", half=True),
        Field("program", "Programme of the points", half=True),
        Field("cash_paid", "Money for all travellers", "Where money paid.", half=True),
        Field("taxes_paid", "Taxes for all travellers", half=True),
        Field("taxes_currency", "Currency", "Such as EUR; empty: USD.", half=True),
        Field("passengers", "Travellers", half=True),
        Field("confirmation_number", half=True),
        Field("member", "Whose, if not yours", "A first name, as you call them.", half=True),
        Field("workspace_trip_id", "Trip", only_new=True),
        Field(
            "cash_price",
            "What the seats would have cost in money",
            "For all travellers; tells what your points were worth.",
            section=_MORE,
            folded=True,
        ),
        Field("return_date", "Day of the return, if it is on the same ticket", section=_MORE),
        Field("notes", section=_MORE),
    ),
    add="add_flight_booking",
    change="update_flight_booking",
)
KIND = BookingKind(
    noun="flight",
    path=FLIGHTS,
    look="get_flight_booking",
    delete="delete_flight_booking",
    form=FORM,
    trip="workspace_trip_id",
    ids="flight_booking_ids",
    describe=describe_flight,
    related=frozenset({"origin", "destination", "departure_date", "departure_time", "arrival_time"}),
    times=("departure_time", "arrival_time"),
)


async def show(member: Member) -> FlowResult:
    answer, trips, alerts = await gather(
        KIND.look_at(member), name_trips(member), look(member, "list_delay_alerts", per_page=MAX_ALERTS)
    )
    if not answer.is_good:
        return BOOKINGS.refuse(answer)
    booking = answer["booking"]
    # The alert of the departure airport: one that is on, else a paused one.
    there = [alert for alert in alerts.get("alerts", ()) if alert["airport"] == booking["origin"]]
    return member.show(
        "flight.html",
        booking=booking,
        entry=describe_flight(booking),
        drawn=await draw_flight(member, booking),
        legs=[describe_flight(leg) for leg in answer["legs"] if len(answer["legs"]) > 1],
        vouchers=answer["vouchers"],
        names=answer["names"],
        cancellation=answer["cancellation"],
        trips=trips,
        trip_id=booking["workspace_trip_id"],
        page=f"{FLIGHTS}/{booking['booking_id']}",
        alert=max(there, key=lambda alert: bool(alert["active"]), default=None),
        alerts_answered=alerts.is_good,
        messages=MESSAGES,
    )


async def switch_alert(member: Member) -> FlowResult:
    """`alert` is the existing one; `airport` is for a new one."""
    number, alert = member.data.path_number("number") or 0, member.data.form_value("alert")
    turns_on = member.data.form_value("turn") == "on"
    if alert.isdecimal():
        switched = await change(member, "update_delay_alert", alert_id=int(alert[:18]), active=turns_on)
    else:
        switched = await change(member, "create_delay_alert", airport=member.data.form_value("airport"))
    if not switched.is_good:
        return BOOKINGS.refuse(switched)
    return redirect_back(f"{FLIGHTS}/{number}", "alert_on" if turns_on else "alert_off")


ROUTES = [
    *KIND.list_routes(),
    get_for_member(ONE, show),
    post_for_member(f"{ONE}/alert", switch_alert),
]
