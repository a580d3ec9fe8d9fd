"""Pages of delay alerts: messages when an airport has delays or a ground stop."""

from auth_server.pages.booking_timeline import describe_flight
from auth_server.pages.flight_drawings import MAX_DRAWN, draw_map
from auth_server.pages.forms import Field, ToolForm
from auth_server.pages.member import Member
from auth_server.pages.tool_calls import Answer, look
from auth_server.pages.watch_lines import CHANNEL_NAMES, describe_delay_alert
from auth_server.pages.watch_pages import Kind, Listing, list_routes, pick_alert
from auth_server.web.outcomes import FlowResult
from shared.domain.watch_kinds import DELAY_ALERT
from shared.outbox import phone_codes

FORM = ToolForm(
    (
        Field("airport", help="By its three letters, such as JFK.", half=True),
        Field("min_delay_minutes", "From this many minutes on", half=True),
        Field("channels", "Tell me by", words={"email": "Mail", "sms": "Text message", "whatsapp": "WhatsApp"}),
        Field(
            "phone_number",
            help="For text messages and WhatsApp, with the country: +14155550100. Empty: the one there is.",
            type="tel",
            secret=True,
        ),
        Field("label", "Your name for it"),
    ),
    add="create_delay_alert",
    change="update_delay_alert",
)


async def _show(kind: Kind, member: Member, answer: Answer) -> FlowResult:
    """With the person's own flights from there and to there, which are what a delay would touch."""
    alert = pick_alert(answer)
    booked = await look(member, "list_flight_bookings", when="upcoming", per_page=MAX_DRAWN)
    touched = [row for row in booked.get("bookings", ()) if alert["airport"] in (row["origin"], row["destination"])]
    return member.show(
        "alert.html",
        kind=kind,
        line=describe_delay_alert(alert),
        unproved=" and ".join(CHANNEL_NAMES[channel] for channel in alert["unproved_channels"]),
        ending=alert["phone_number"],
        phones=phone_codes.PAGE,
        map=await draw_map(member, touched),
        flights=[describe_flight(row) for row in touched],
    )


KIND = Kind(
    watch=DELAY_ALERT,
    noun="alert",
    number="alert_id",
    listing=Listing(
        name="delays",
        drawing="clock",
        title="Delays at airports",
        words="Add a delay alert",
        empty="No airport is watched for delays.",
        tool="list_delay_alerts",
        rows="alerts",
    ),
    form=FORM,
    look="list_delay_alerts",
    end="delete_delay_alert",
    pick=pick_alert,
    show=_show,
    describe=describe_delay_alert,
    verb="Delete",
    end_words="No more warnings come, and it cannot be restored; you can make another. To have quiet for a while,"
    " pause it.",
)
ROUTES = list_routes(KIND)
