"""Pages of rain alerts."""

from auth_server.pages.forms import Field, ToolForm
from auth_server.pages.member import Member
from auth_server.pages.tool_calls import Answer
from auth_server.pages.watch_lines import Row, WatchLine
from auth_server.pages.watch_pages import Kind, Listing, list_routes, pick_alert
from auth_server.web.outcomes import FlowResult
from shared.domain.watch_kinds import RAIN_ALERT
from shared.outbox.links import find_watch_path


def describe(alert: Row) -> WatchLine:
    return WatchLine(
        title=f"Rain at {alert['airport']}",
        page=find_watch_path(RAIN_ALERT.name, alert["alert_id"]),
        state="On" if alert["active"] else "Paused",
        terms="Every hour",
        find="",
    )


async def _show(kind: Kind, member: Member, answer: Answer) -> FlowResult:
    return member.show("alert.html", kind=kind, line=describe(pick_alert(answer)))


KIND = Kind(
    watch=RAIN_ALERT,
    noun="alert",
    number="alert_id",
    listing=Listing(
        name="rain",
        title="Rain at airports",
        words="Add a rain alert",
        empty="No airport is watched for rain.",
        tool="list_rain_alerts",
        rows="alerts",
    ),
    form=ToolForm((Field("airport"),), add="create_rain_alert", change="update_rain_alert"),
    look="list_rain_alerts",
    end="delete_rain_alert",
    pick=pick_alert,
    show=_show,
    describe=describe,
    verb="Delete",
    end_words="No more mails come.",
)
ROUTES = list_routes(KIND)
