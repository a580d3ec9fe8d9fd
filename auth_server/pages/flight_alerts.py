"""Pages of flight alerts: award seats of one airline on a route."""

from auth_server.pages.flight_drawings import draw_ways
from auth_server.pages.forms import Field, ToolForm
from auth_server.pages.member import Member
from auth_server.pages.route_monitors import ANY_CABIN, DAYS_FIELDS, TAXES_FIELD
from auth_server.pages.tool_calls import Answer
from auth_server.pages.watch_lines import describe_flight_alert
from auth_server.pages.watch_pages import Kind, Listing, list_routes, pick_alert
from auth_server.web.outcomes import FlowResult
from shared.domain.watch_kinds import FLIGHT_ALERT

AIRLINES = {
    "JL": "Japan Airlines",
    "BA": "British Airways",
    "CX": "Cathay Pacific",
    "EY": "Etihad",
    "HA": "Hawaiian Airlines",
    "IB": "Iberia",
    "FI": "Icelandair",
    "B6": "JetBlue",
    "QR": "Qatar Airways",
    "TP": "TAP Air Portugal",
    "UA": "United Airlines",
    "VS": "Virgin Atlantic",
}  # a tool only names them by their codes
_CODE_HELP = "An airport by its three letters, such as LHR."
FORM = ToolForm(
    (
        Field("airline", words=AIRLINES, none="Choose one"),
        Field("departure", "From", _CODE_HELP, half=True),
        Field("destination", "To", _CODE_HELP, half=True),
        Field("date_range_start", "First day", half=True),
        Field("date_range_end", "Last day", half=True),
        Field("cabin_class", "Cabin", none=ANY_CABIN, half=True),
        Field("passengers", "Travellers", half=True),
        TAXES_FIELD,
        *DAYS_FIELDS,
    ),
    add="create_flight_alert",
    change="update_flight_alert",
)


async def _show(kind: Kind, member: Member, answer: Answer) -> FlowResult:
    alert = pick_alert(answer)
    drawing = await draw_ways(member, [(alert["departure"], alert["destination"])])
    return member.show("alert.html", kind=kind, line=describe_flight_alert(alert), map=drawing)


KIND = Kind(
    watch=FLIGHT_ALERT,
    noun="alert",
    number="alert_id",
    listing=Listing(
        name="flights",
        title="Seats of one airline",
        words="Add an alert",
        empty="No airline is watched.",
        tool="list_flight_alerts",
        rows="alerts",
    ),
    form=FORM,
    look="list_flight_alerts",
    end="delete_flight_alert",
    pick=pick_alert,
    show=_show,
    describe=describe_flight_alert,
    verb="Delete",
    end_words="It is not checked any longer and cannot be restored; you can make another. To stop its mails for a"
    " while, pause it.",
)
ROUTES = list_routes(KIND)
