"""Route monitors as results show them, and the checks of the route and days that watches share."""

from collections.abc import Mapping, Sequence
from datetime import date, datetime
from typing import Literal

from sqlalchemy import select
from sqlalchemy.dialects.postgresql import distinct_on

from mcp_server.toolkit.context import Call, CallBase
from mcp_server.toolkit.parameters import Cabin
from mcp_server.toolkit.results import Part
from shared.db.route_monitors import MonitorMatch, RouteMonitor
from shared.db.run_kinds import RunKind
from shared.db.runs import next_due
from shared.errors import Fault, Invalid
from shared.services.search.award_options import AwardOption, build_option

State = Literal["active", "cancelled"]


class Monitor(Part):
    """A monitor paused by a plan change shows as cancelled for that reason, and as active once it goes on."""

    monitor_id: int
    state: State
    origin: str
    destination: str
    earliest_date: date
    latest_date: date
    cabin: Cabin | None
    airlines: list[str] | None
    passengers: int
    max_points: int | None
    trip_id: int | None
    last_checked_at: datetime | None
    next_check_at: datetime | None
    last_match: AwardOption | None
    matches_total: int
    created_at: datetime
    cancelled_at: datetime | None
    cancel_reason: Literal["user", "window_passed", "plan_change"] | None


def to_award_option(call: Call, match: MonitorMatch, passengers: int) -> AwardOption:
    """A stored match: what was live when it was seen is cached now, with its age."""
    return build_option(
        match,
        trip_id=match.option_id,
        source=match.source,
        mode="sandbox" if match.mode == "sandbox" else "cached",
        checked_at=match.provider_checked_at,
        seen_at=match.found_at,
        now=call.now,
        passengers=passengers,
    )


def _find_last_matches(call: Call, monitor_ids: Sequence[int]) -> dict[int, MonitorMatch]:
    newest = (
        select(MonitorMatch)
        .where(MonitorMatch.monitor_id.in_(monitor_ids))
        .ext(distinct_on(MonitorMatch.monitor_id))
        .order_by(MonitorMatch.monitor_id, MonitorMatch.found_at.desc(), MonitorMatch.points)
    )
    return {match.monitor_id: match for match in call.db.scalars(newest)}


def to_monitors(call: Call, rows: Sequence[RouteMonitor]) -> list[Monitor]:
    running = [row.id for row in rows if not (row.cancelled_at or row.paused_at)]
    due = next_due(call.db, RunKind.ROUTE_MONITOR, running) if running else {}
    matches = _find_last_matches(call, [row.id for row in rows])
    return [_to_monitor(call, row, due.get(row.id), matches.get(row.id)) for row in rows]


def _to_monitor(call: Call, row: RouteMonitor, due: datetime | None, match: MonitorMatch | None) -> Monitor:
    ended = row.cancelled_at or row.paused_at
    return Monitor.model_validate(
        {name: getattr(row, name) for name in Monitor.model_fields if hasattr(row, name)}
        | {
            "monitor_id": row.id,
            "state": "cancelled" if ended else "active",
            "next_check_at": None if ended else due,
            "last_match": to_award_option(call, match, row.passengers) if match else None,
            "cancelled_at": ended,
            "cancel_reason": row.cancel_reason or ("plan_change" if row.paused_at else None),
        }
    )


def _describe_airport_fault(call: CallBase, name: str, code: str) -> Fault:
    members = [member for member in call.reference.metros.get(code, ()) if member in call.reference.airports]
    if members:
        return Fault(name, "is a city with several airports", f"one of them: {', '.join(members)}")
    return Fault(name, "is not an airport this service knows", "an airport's code, such as LHR")


def find_airport_faults(call: CallBase, airports: Mapping[str, str]) -> list[Fault]:
    """One fault for each parameter that does not name an airport."""
    return [
        _describe_airport_fault(call, name, code)
        for name, code in airports.items()
        if code not in call.reference.airports
    ]


def check_route(call: CallBase, airports: Mapping[str, str], window: Mapping[str, date]) -> None:
    """Both mappings are by parameter name, origin and first day first. Raises Invalid."""
    faults = find_airport_faults(call, airports)
    (origin, destination), (first, last) = airports, window
    if airports[origin] == airports[destination]:
        faults.append(Fault(destination, f"is the {origin} too", "another airport"))
    if window[last] < window[first]:
        faults.append(Fault(last, f"is before {first}", f"{window[first]} or later"))
    elif window[last] < call.today:
        faults.append(Fault(last, "is in the past", f"{call.today} or later"))
    if faults:
        raise Invalid(*faults)
