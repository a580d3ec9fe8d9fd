"""Changes of a stored route monitor: whether it may change, pausing and resuming it, and starting it afresh."""

from datetime import timedelta

from sqlalchemy import delete

from mcp_server.toolkit.context import Call
from mcp_server.toolkit.own_rows import check_cap
from mcp_server.views.route_monitors import check_route
from shared.db.monitor_pages import is_active
from shared.db.route_monitors import MonitorKey, RouteMonitor
from shared.db.run_kinds import RunKind
from shared.db.runs import schedule, unschedule
from shared.domain.plurals import pluralize
from shared.errors import Fault, Invalid


def schedule_checks(call: Call, row: RouteMonitor) -> None:
    """The first check is due now, the next ones after the interval of the settings."""
    schedule(call.db, RunKind.ROUTE_MONITOR, row.id, timedelta(seconds=call.settings.route_monitor_interval_seconds))


def describe_interval(call: Call) -> str:
    seconds = call.settings.route_monitor_interval_seconds
    if seconds == 3600:
        return "hour"
    return pluralize(seconds // 3600, "hour") if seconds % 3600 == 0 else pluralize(seconds, "second")


def check_terms(call: Call, row: RouteMonitor) -> None:
    """Raises Invalid."""
    check_route(
        call,
        {"origin": row.origin, "destination": row.destination},
        {"earliest_date": row.earliest_date, "latest_date": row.latest_date},
    )


def check_changeable(row: RouteMonitor, *, has_terms: bool) -> None:
    """`has_terms`: more than pausing and resuming is asked for. Raises Invalid."""
    if row.cancelled_at is not None:
        raise Invalid(Fault("monitor_id", "is cancelled and cannot be changed", "an active monitor, or a new one"))
    if row.booking_id is not None and has_terms:
        raise Invalid(Fault("monitor_id", "takes its terms from a booking", "the booking, or a new monitor"))


def switch_monitor(call: Call, row: RouteMonitor, active: bool | None) -> bool:
    """Pauses or resumes a monitor; whether that changed anything. Raises LimitReached.

    One that a plan paused and its owner pauses too is not resumed by a larger plan.
    """
    is_as_asked = row.paused_at is None if active else row.paused_by_owner
    if active is None or is_as_asked:
        return False
    if active:
        refusal = "active; this one stays paused. Pause or cancel another one, or choose a larger plan."
        check_cap(call, call.db, RouteMonitor, is_active(), refusal)
    row.paused_at, row.paused_by_owner = (None, False) if active else (row.paused_at or call.now, True)
    return True


def start_afresh(call: Call, row: RouteMonitor) -> None:
    """What was seen before is forgotten, so that each match counts as new; a paused monitor is not checked."""
    call.db.execute(delete(MonitorKey).where(MonitorKey.monitor_id == row.id))
    call.db.flush()
    if row.paused_at is None:
        schedule_checks(call, row)
    else:
        unschedule(call.db, RunKind.ROUTE_MONITOR, [row.id])
