"""Pages of flight alerts: award seats of one airline on a route."""

from functools import partial

from auth_server.pages import watch_forms
from auth_server.pages.member import Member
from auth_server.pages.member_routes import get_for_member
from auth_server.pages.route_monitors import CABINS, DAYS
from auth_server.pages.tool_calls import Answer
from auth_server.pages.watch_forms import Field, Kind
from auth_server.pages.watch_lines import describe_flight_alert
from auth_server.web.outcomes import FlowResult

PATH = "/dashboard/watches/flight"
AIRLINES = (
    ("", "Choose one"),
    ("JL", "Japan Airlines"),
    ("BA", "British Airways"),
    ("CX", "Cathay Pacific"),
    ("EY", "Etihad"),
    ("HA", "Hawaiian Airlines"),
    ("IB", "Iberia"),
    ("FI", "Icelandair"),
    ("B6", "JetBlue"),
    ("QR", "Qatar Airways"),
    ("TP", "TAP Air Portugal"),
    ("UA", "United Airlines"),
    ("VS", "Virgin Atlantic"),
)
_CODE_HELP = "An airport by its three letters, such as LHR."
KIND = Kind(
    noun="alert",
    path=PATH,
    number="alert_id",
    tools={
        "create": "create_flight_alert",
        "look": "list_flight_alerts",
        "change": "update_flight_alert",
        "end": "delete_flight_alert",
    },
    pick=lambda answer: answer["alerts"][0],
    pick_new=lambda answer: answer["alert"],
    fields=(
        Field("airline", "Airline", "choice", options=AIRLINES, required=True),
        Field("departure", "From", "code", _CODE_HELP, required=True, half=True, length=3),
        Field("destination", "To", "code", _CODE_HELP, required=True, half=True, length=3),
        Field("date_range_start", "First day", "date", required=True, half=True, length=10),
        Field("date_range_end", "Last day", "date", required=True, half=True, length=10),
        Field("cabin_class", "Cabin", "choice", options=CABINS, clearable=True, half=True),
        Field("passengers", "Travellers", "number", required=True, half=True, length=1),
        Field(
            "max_taxes",
            "Taxes per person, at most",
            "number",
            "In the currency of your profile. Empty: any.",
            clearable=True,
            length=10,
        ),
        Field("nonstop_only", "Non-stop flights only", "flag"),
        Field("weekdays", "Only on these days", "several", "None ticked: on all.", options=DAYS, clearable=True),
    ),
    defaults={"passengers": "1"},
    describe=describe_flight_alert,
    verb="Delete",
    end_words="It is not checked any longer and cannot be restored; you can make another. To stop its mails for a"
    " while, pause it.",
)


def _show(member: Member, answer: Answer) -> FlowResult:
    return member.show("alert.html", kind=KIND, line=describe_flight_alert(KIND.pick(answer)))


ROUTES = [
    *watch_forms.build_routes(KIND),
    get_for_member(f"{PATH}/{{number}}", partial(watch_forms.show_one, KIND, _show)),
]
