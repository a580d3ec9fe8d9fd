"""Pages of delay alerts: messages when an airport has delays or a ground stop."""

from functools import partial

from auth_server.pages import watch_forms
from auth_server.pages.member import Member
from auth_server.pages.member_routes import get_for_member
from auth_server.pages.tool_calls import Answer
from auth_server.pages.watch_forms import Field, Kind
from auth_server.pages.watch_lines import CHANNEL_NAMES, describe_delay_alert
from auth_server.web.outcomes import FlowResult
from shared.outbox import phone_codes

PATH = "/dashboard/watches/delay"
_CHANNELS = (("email", "Mail"), ("sms", "Text message"), ("whatsapp", "WhatsApp"))
KIND = Kind(
    noun="alert",
    path=PATH,
    number="alert_id",
    tools={
        "create": "create_delay_alert",
        "look": "list_delay_alerts",
        "change": "update_delay_alert",
        "end": "delete_delay_alert",
    },
    pick=lambda answer: answer["alerts"][0],
    pick_new=lambda answer: answer["alert"],
    fields=(
        Field(
            "airport",
            "Airport",
            "code",
            "By its three letters, such as JFK.",
            required=True,
            fixed=True,
            half=True,
            length=3,
        ),
        Field("min_delay_minutes", "From this many minutes on", "number", required=True, half=True, length=3),
        Field("channels", "Tell me by", "several", options=_CHANNELS, required=True),
        Field(
            "phone_number",
            "Phone number",
            help="For text messages and WhatsApp, with the country: +14155550100. Empty: the one there is.",
            hidden=True,
            length=16,
        ),
        Field("label", "Your name for it", clearable=True, length=80),
    ),
    defaults={"min_delay_minutes": "30", "channels": "email"},
    describe=describe_delay_alert,
    verb="Delete",
    end_words="No more warnings come, and it cannot be restored; you can make another. To have quiet for a while,"
    " pause it.",
)


def _show(member: Member, answer: Answer) -> FlowResult:
    alert = KIND.pick(answer)
    return member.show(
        "alert.html",
        kind=KIND,
        line=describe_delay_alert(alert),
        unproved=" and ".join(CHANNEL_NAMES[channel] for channel in alert["unproved_channels"]),
        ending=alert["phone_number"],
        phones=phone_codes.PAGE,
    )


ROUTES = [
    *watch_forms.build_routes(KIND),
    get_for_member(f"{PATH}/{{number}}", partial(watch_forms.show_one, KIND, _show)),
]
