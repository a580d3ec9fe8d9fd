"""Rain alerts: mails when it rains at an airport."""

from functools import partial
from typing import Annotated

from pydantic import Field
from shared.db.rain_alerts import RainAlert as Row

from mcp_server.toolkit.context import Call
from mcp_server.toolkit.own_rows import check_cap, get_own
from mcp_server.toolkit.parameters import Airport, Page, PerPage, RowId
from mcp_server.toolkit.registry import Effect, Tier, tool
from mcp_server.toolkit.results import Paging, Part, Result
from shared.db.accounts import lock
from shared.db.pagination import page_of
from shared.db.runs import delete_schedules, schedule, unschedule
from shared.domain.watch_kinds import RAIN_ALERT

AlertId = Annotated[RowId, Field(description="From list_rain_alerts.")]
_get_own = partial(get_own, Row, RAIN_ALERT.noun)


class RainAlert(Part):
    alert_id: int
    airport: str
    active: bool


class OneRainAlert(Result):
    alert: RainAlert


class RainAlerts(Result):
    alerts: list[RainAlert]
    paging: Paging


def _to_alert(row: Row) -> RainAlert:
    return RainAlert(alert_id=row.id, airport=row.airport, active=row.is_on)


@tool("alerts", Tier.FREE, Effect.ADDS, "Watch an airport for rain")
def create_rain_alert(call: Call, airport: Airport) -> OneRainAlert:
    """Mails the user when it rains at an airport. Free."""
    check_cap(call, call.db, Row, "active; nothing was created.")
    row = Row(airport=airport, active=True)
    call.db.add(row)
    call.db.flush()
    schedule(call.db, RAIN_ALERT.run, row.id, row.interval)
    return OneRainAlert(message=f"Alert {row.id} watches {airport}.", alert=_to_alert(row))


@tool("alerts", Tier.FREE, Effect.READS, "List rain alerts")
def list_rain_alerts(call: Call, page: Page = 1, per_page: PerPage = 20) -> RainAlerts:
    """Shows the rain alerts of the user. Free."""
    rows, total = page_of(call.db, Row, [], Row.id.desc(), page=page, per_page=per_page)
    paging = Paging.of(page, per_page, total)
    return RainAlerts(message=f"{total} rain alerts.", alerts=[_to_alert(row) for row in rows], paging=paging)


@tool("alerts", Tier.FREE, Effect.CHANGES, "Pause or resume a rain alert")
def update_rain_alert(call: Call, alert_id: AlertId, active: bool) -> OneRainAlert:
    """Pauses a rain alert or resumes it. Free."""
    lock(call.db, call.account_id)
    row = _get_own(call.db, alert_id, locked=True)
    row.switch(on=active)
    call.db.flush()
    if active:
        schedule(call.db, RAIN_ALERT.run, row.id, row.interval)
    else:
        unschedule(call.db, RAIN_ALERT.run, [row.id])
    return OneRainAlert(message=f"Alert {row.id} is {'on' if active else 'paused'}.", alert=_to_alert(row))


@tool("alerts", Tier.FREE, Effect.CHANGES, "Delete a rain alert")
def delete_rain_alert(call: Call, alert_id: AlertId) -> OneRainAlert:
    """Removes a rain alert for good. Free."""
    row = _get_own(call.db, alert_id, locked=True)
    alert = _to_alert(row)
    delete_schedules(call.db, RAIN_ALERT.run, [row.id])
    call.db.delete(row)
    return OneRainAlert(message=f"Alert {alert.alert_id} is deleted.", alert=alert)
