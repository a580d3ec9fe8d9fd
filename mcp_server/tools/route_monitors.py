"""Route monitors: a route, a window and terms go in, a watch that mails fresh award seats comes out."""

from datetime import date, datetime, timedelta
from typing import Annotated, Literal

from pydantic import Field
from sqlalchemy import ColumnElement, func, select

from mcp_server.call import Call
from mcp_server.fields import AirportCapitals, Cabin, Day, Page, Passengers, PerPage, Points, RowId
from mcp_server.monitor_parts import KIND, Monitor, option, shown_monitors
from mcp_server.results import AwardOption, Paging, Part, Result
from mcp_server.toolbox import Effect, Tier, tool
from shared.db.accounts import lock
from shared.db.runs import schedule, unschedule
from shared.db.watches import MonitorCheck, MonitorMatch, RouteMonitor
from shared.errors import Fault, Invalid, LimitReached, NotFound


class OneMonitor(Result):
    monitor: Monitor
    active_count: int
    cap: int


class Monitors(Result):
    monitors: list[Monitor]
    active_count: int
    cap: int
    paging: Paging


class Check(Part):
    checked_at: datetime
    outcome: str
    options_seen: int
    new_matches: int
    failed_sources: list[str]


class MonitorDetails(Result):
    monitor: Monitor
    matches: list[AwardOption]
    checks: list[Check]


def _active() -> ColumnElement[bool]:
    return RouteMonitor.cancelled_at.is_(None) & RouteMonitor.paused_at.is_(None)


def _count(call: Call, condition: ColumnElement[bool] | None = None) -> int:
    wanted = select(func.count()).select_from(RouteMonitor)
    return call.db.scalar(wanted if condition is None else wanted.where(condition)) or 0


def _own(call: Call, monitor_id: int, *, locked: bool = False) -> RouteMonitor:
    row = call.db.get(RouteMonitor, monitor_id, with_for_update=locked or None)
    if row is None:
        raise NotFound("route monitor", monitor_id)
    return row


def _airport_expected(call: Call, code: str) -> str:
    members = [member for member in call.reference.metros.get(code, ()) if member in call.reference.airports]
    return f"one airport of that city: {', '.join(members)}" if members else "an airport's code, such as LHR"


def _check_terms(call: Call, origin: str, destination: str, earliest: date, latest: date) -> None:
    faults = [
        Fault(name, "is not an airport this service knows", _airport_expected(call, code))
        for name, code in (("origin", origin), ("destination", destination))
        if code not in call.reference.airports
    ]
    if origin == destination:
        faults.append(Fault("destination", "is the origin too", "another airport"))
    if latest < earliest:
        faults.append(Fault("latest_date", "is before earliest_date", f"{earliest} or later"))
    elif latest < call.today:
        faults.append(Fault("latest_date", "is in the past", f"{call.today} or later"))
    if faults:
        raise Invalid(*faults)


def _check_cap(call: Call) -> int:
    """How many are active. Two creations at once wait for each other, so the last free place goes to one of them."""
    lock(call.db, call.account_id)
    active, cap = _count(call, _active()), call.limits.route_monitors
    if active >= cap:
        raise LimitReached(
            f"{active} of {cap} route monitors of this plan are active; nothing was created."
            " Cancel one with cancel_route_monitor or choose a larger plan.",
            limit="route_monitors",
            current=active,
            cap=cap,
            upgrade_url=call.upgrade_url,
            active_count=active,
        )
    return active


@tool(area="alerts", tier=Tier.FREE, effect=Effect.ADDS)
def create_route_monitor(
    call: Call,
    origin: AirportCapitals,
    destination: AirportCapitals,
    earliest_date: Day,
    latest_date: Day,
    cabin: Cabin | None = None,
    airlines: Annotated[
        list[str] | None, Field(max_length=30, description="Names or codes; absent means every supported carrier.")
    ] = None,
    passengers: Passengers = 1,
    max_points: Annotated[Points | None, Field(description="Per passenger; fires only at or below.")] = None,
) -> OneMonitor:
    """Watches a route and date window every 6 hours and emails when fresh matching award seats appear.

    Fresh means: matches now and did not at the check before; at the first check every match is fresh. Free.
    """
    _check_terms(call, origin, destination, earliest_date, latest_date)
    codes = [call.reference.airline(name).iata for name in airlines or ()]
    active = _check_cap(call)
    row = RouteMonitor(
        origin=origin,
        destination=destination,
        earliest_date=earliest_date,
        latest_date=latest_date,
        cabin=cabin,
        airlines=list(dict.fromkeys(codes)) or None,
        passengers=passengers,
        max_points=max_points,
    )
    call.db.add(row)
    call.db.flush()
    schedule(call.db, KIND, row.id, timedelta(seconds=call.settings.route_monitor_interval_seconds))
    return OneMonitor(
        message=f"Monitor {row.id} watches {origin} to {destination}. The first check runs now, then every"
        f" {_pace(call)}; fresh seats are mailed and appear in list_notifications.",
        monitor=shown_monitors(call, [row])[0],
        active_count=active + 1,
        cap=call.limits.route_monitors,
    )


def _pace(call: Call) -> str:
    seconds = call.settings.route_monitor_interval_seconds
    return f"{seconds // 3600} hours" if seconds % 3600 == 0 else f"{seconds} seconds"


@tool(area="alerts", tier=Tier.FREE, effect=Effect.READS)
def list_route_monitors(
    call: Call, state: Literal["active", "cancelled", "all"] = "active", page: Page = 1, per_page: PerPage = 20
) -> Monitors:
    """Lists route monitors with last check, next check and last hit. Free."""
    condition = {"active": _active(), "cancelled": ~_active(), "all": None}[state]
    wanted = select(RouteMonitor).order_by(RouteMonitor.id.desc())
    if condition is not None:
        wanted = wanted.where(condition)
    rows = call.db.scalars(wanted.limit(per_page).offset((page - 1) * per_page)).all()
    total, active = _count(call, condition), _count(call, _active())
    return Monitors(
        message=f"{total} route monitor{'' if total == 1 else 's'}; {active} of {call.limits.route_monitors} active.",
        monitors=shown_monitors(call, rows),
        active_count=active,
        cap=call.limits.route_monitors,
        paging=Paging.of(page, per_page, total),
    )


@tool(area="alerts", tier=Tier.FREE, effect=Effect.READS)
def get_route_monitor(call: Call, monitor_id: RowId) -> MonitorDetails:
    """Shows one route monitor with its recent checks and the seats it found. Free."""
    row = _own(call, monitor_id)
    matches = call.db.scalars(
        select(MonitorMatch)
        .where(MonitorMatch.monitor_id == row.id)
        .order_by(MonitorMatch.found_at.desc(), MonitorMatch.points)
        .limit(20)
    ).all()
    checks = call.db.scalars(
        select(MonitorCheck)
        .where(MonitorCheck.monitor_id == row.id)
        .order_by(MonitorCheck.checked_at.desc(), MonitorCheck.id.desc())
        .limit(10)
    ).all()
    return MonitorDetails(
        message=f"Monitor {row.id}, {row.origin} to {row.destination}: {row.matches_total} matches so far.",
        monitor=shown_monitors(call, [row])[0],
        matches=[option(call, match) for match in matches],
        checks=[Check.model_validate({name: getattr(c, name) for name in Check.model_fields}) for c in checks],
    )


@tool(area="alerts", tier=Tier.FREE, effect=Effect.CHANGES)
def cancel_route_monitor(call: Call, monitor_id: RowId) -> OneMonitor:
    """Stops one route monitor and keeps its record.

    It no longer fires and no longer counts against the plan; it cannot be started again. Free.
    """
    row = _own(call, monitor_id, locked=True)
    if row.cancelled_at is None:
        row.cancelled_at, row.cancel_reason = call.now, "user"
        call.db.flush()
        unschedule(call.db, KIND, [row.id])
    return OneMonitor(
        message=f"Monitor {row.id}, {row.origin} to {row.destination}, is cancelled and kept for the record.",
        monitor=shown_monitors(call, [row])[0],
        active_count=_count(call, _active()),
        cap=call.limits.route_monitors,
    )
