"""Route monitors: award seats on a route, mailed when they match a person's terms for the first time."""

from datetime import datetime, timedelta
from functools import partial
from typing import Annotated, Literal

from pydantic import Field
from sqlalchemy import ColumnElement, delete, select, true

from mcp_server.toolkit.context import Call
from mcp_server.toolkit.edits import describe_changes, edit
from mcp_server.toolkit.own_rows import Capacity, check_cap, get_own, same_terms
from mcp_server.toolkit.parameters import AirportCapitals, Cabin, Day, Page, Passengers, PerPage, Points, RowId
from mcp_server.toolkit.registry import Effect, Tier, tool
from mcp_server.toolkit.results import Paging, Part, Result
from mcp_server.views.route_monitors import Monitor, check_route, to_award_option, to_monitors
from shared.db.pagination import count, page_of
from shared.db.route_monitors import MonitorCheck, MonitorKey, MonitorMatch, RouteMonitor
from shared.db.run_kinds import RunKind
from shared.db.runs import schedule, unschedule
from shared.domain.plurals import pluralize
from shared.errors import Fault, Invalid
from shared.services.search.award_options import AwardOption

Airlines = Annotated[
    list[str] | None, Field(max_length=30, description="Names or codes; absent means every supported carrier.")
]
MostPoints = Annotated[Points | None, Field(description="Per passenger; fires only at or below.")]
Clearable = Literal["cabin", "airlines", "max_points"]
TERMS = ("origin", "destination", "earliest_date", "latest_date", "cabin", "airlines", "passengers", "max_points")


class OneMonitor(Result):
    monitor: Monitor
    active_count: int
    cap: int


class Monitors(Result):
    monitors: list[Monitor]
    active_count: int
    cap: int
    paging: Paging


class UpdatedMonitor(Result):
    monitor: Monitor
    changed: list[str]
    baseline_reset: bool


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


def _is_active() -> ColumnElement[bool]:
    return RouteMonitor.cancelled_at.is_(None) & RouteMonitor.paused_at.is_(None)


_get_own = partial(get_own, RouteMonitor, "route monitor")


def _check_terms(call: Call, row: RouteMonitor) -> None:
    check_route(
        call,
        {"origin": row.origin, "destination": row.destination},
        {"earliest_date": row.earliest_date, "latest_date": row.latest_date},
    )


def _resolve_airlines(call: Call, airlines: list[str] | None) -> list[str] | None:
    """The code of each airline, once; None stands for all airlines. Raises NotFound or Candidates."""
    return list(dict.fromkeys(call.reference.airline(name).iata for name in airlines or ())) or None


def _check_cap(call: Call, row: RouteMonitor) -> Capacity:
    refusal = "active; nothing was created. Cancel one with cancel_route_monitor or choose a larger plan."
    return check_cap(call, call.db, RouteMonitor, _is_active(), refusal, same_terms(row, *TERMS))


@tool(area="alerts", tier=Tier.FREE, effect=Effect.ADDS)
def create_route_monitor(
    call: Call,
    origin: AirportCapitals,
    destination: AirportCapitals,
    earliest_date: Day,
    latest_date: Day,
    cabin: Cabin | None = None,
    airlines: Airlines = None,
    passengers: Passengers = 1,
    max_points: MostPoints = None,
) -> OneMonitor:
    """Watches a route and date window every 6 hours and emails when fresh matching award seats appear.

    Fresh means: matches now and did not at the check before; at the first check every match is fresh. Free.
    """
    row = RouteMonitor(
        origin=origin,
        destination=destination,
        earliest_date=earliest_date,
        latest_date=latest_date,
        cabin=cabin,
        airlines=_resolve_airlines(call, airlines),
        passengers=passengers,
        max_points=max_points,
    )
    _check_terms(call, row)
    room = _check_cap(call, row)
    call.db.add(row)
    call.db.flush()
    _schedule_checks(call, row)
    return OneMonitor(
        message=f"Monitor {row.id} watches {origin} to {destination}. The first check runs now, then every"
        f" {_describe_interval(call)}. Fresh seats are mailed and appear in list_notifications.{room.same}",
        monitor=to_monitors(call, [row])[0],
        active_count=room.active + 1,
        cap=call.limits.route_monitors,
    )


def _schedule_checks(call: Call, row: RouteMonitor) -> None:
    """The first check is due now, the next ones after the interval of the settings."""
    schedule(call.db, RunKind.ROUTE_MONITOR, row.id, timedelta(seconds=call.settings.route_monitor_interval_seconds))


def _describe_interval(call: Call) -> str:
    seconds = call.settings.route_monitor_interval_seconds
    if seconds == 3600:
        return "hour"
    return pluralize(seconds // 3600, "hour") if seconds % 3600 == 0 else pluralize(seconds, "second")


@tool(area="alerts", tier=Tier.FREE, effect=Effect.READS)
def list_route_monitors(
    call: Call, state: Literal["active", "cancelled", "all"] = "active", page: Page = 1, per_page: PerPage = 20
) -> Monitors:
    """Lists route monitors with last check, next check and last hit. Free."""
    condition = {"active": _is_active(), "cancelled": ~_is_active(), "all": true()}[state]
    newest = RouteMonitor.id.desc()
    rows, total = page_of(call.db, RouteMonitor, [condition], newest, page=page, per_page=per_page)
    active = count(call.db, RouteMonitor, _is_active())
    return Monitors(
        message=f"{pluralize(total, 'route monitor')}; {active} of {call.limits.route_monitors} active.",
        monitors=to_monitors(call, rows),
        active_count=active,
        cap=call.limits.route_monitors,
        paging=Paging.of(page, per_page, total),
    )


@tool(area="alerts", tier=Tier.FREE, effect=Effect.READS)
def get_route_monitor(call: Call, monitor_id: RowId) -> MonitorDetails:
    """Shows one route monitor with its recent checks and the seats it found. Free."""
    row = _get_own(call.db, monitor_id)
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
    total = pluralize(row.matches_total, "match", "matches")
    return MonitorDetails(
        message=f"Monitor {row.id}, {row.origin} to {row.destination}: {total} so far.",
        monitor=to_monitors(call, [row])[0],
        matches=[to_award_option(call, match, row.passengers) for match in matches],
        checks=[Check.model_validate({name: getattr(c, name) for name in Check.model_fields}) for c in checks],
    )


@tool(area="alerts", tier=Tier.FREE, effect=Effect.CHANGES)
def update_route_monitor(
    call: Call,
    monitor_id: RowId,
    origin: AirportCapitals | None = None,
    destination: AirportCapitals | None = None,
    earliest_date: Day | None = None,
    latest_date: Day | None = None,
    cabin: Cabin | None = None,
    airlines: Airlines = None,
    passengers: Passengers | None = None,
    max_points: MostPoints = None,
    clear: Annotated[list[Clearable] | None, Field(description="Names of fields to empty.")] = None,
) -> UpdatedMonitor:
    """Changes the window, cabin, airlines, passengers or cap of an active route monitor.

    Changed terms start afresh: at the next check each match is new. A cancelled monitor cannot be changed. Free.
    """
    row = _get_own(call.db, monitor_id, locked=True)
    if row.cancelled_at is not None:
        raise Invalid(Fault("monitor_id", "is cancelled and cannot be changed", "an active monitor, or a new one"))
    changes = {
        "origin": origin,
        "destination": destination,
        "earliest_date": earliest_date,
        "latest_date": latest_date,
        "cabin": cabin,
        "airlines": None if airlines is None else _resolve_airlines(call, airlines) or "",
        "passengers": passengers,
        "max_points": max_points,
    }
    changed = edit(row, call.now, changes, clear)
    if changed:
        _check_terms(call, row)
        call.db.execute(delete(MonitorKey).where(MonitorKey.monitor_id == row.id))
        call.db.flush()
        if row.paused_at is None:
            _schedule_checks(call, row)
    afresh = " It is checked now, and every match counts as new." if changed else ""
    return UpdatedMonitor(
        message=describe_changes(changed) + afresh,
        monitor=to_monitors(call, [row])[0],
        changed=changed,
        baseline_reset=bool(changed),
    )


@tool(area="alerts", tier=Tier.FREE, effect=Effect.CHANGES)
def cancel_route_monitor(call: Call, monitor_id: RowId) -> OneMonitor:
    """Stops one route monitor and keeps its record.

    It no longer fires and no longer counts against the plan; it cannot be started again. Free.
    """
    row = _get_own(call.db, monitor_id, locked=True)
    if row.cancelled_at is None:
        row.cancelled_at, row.cancel_reason = call.now, "user"
        call.db.flush()
        call.db.execute(delete(MonitorKey).where(MonitorKey.monitor_id == row.id))
        unschedule(call.db, RunKind.ROUTE_MONITOR, [row.id])
    return OneMonitor(
        message=f"Monitor {row.id}, {row.origin} to {row.destination}, is cancelled and kept for the record.",
        monitor=to_monitors(call, [row])[0],
        active_count=count(call.db, RouteMonitor, _is_active()),
        cap=call.limits.route_monitors,
    )
