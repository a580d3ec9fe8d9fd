"""Route monitors: a route, a window and terms go in, a watch that mails fresh award seats comes out."""

from collections.abc import Sequence
from datetime import date, datetime, timedelta
from typing import Annotated, Literal

from pydantic import Field
from sqlalchemy import ColumnElement, func, select
from sqlalchemy.dialects.postgresql import distinct_on

from mcp_server.call import Call
from mcp_server.fields import AirportCapitals, Cabin, Day, Page, Passengers, PerPage, Points, RowId
from mcp_server.results import AwardOption, Paging, Part, Result
from mcp_server.toolbox import Effect, Tier, tool
from shared.db.accounts import lock
from shared.db.runs import next_due, schedule, unschedule
from shared.db.watches import MonitorCheck, MonitorMatch, RouteMonitor
from shared.errors import Fault, Invalid, LimitReached, NotFound

KIND = "route_monitor"
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


def _option(call: Call, found: MonitorMatch) -> AwardOption:
    """A match as it was seen: what was live then is stored now, and its age says how old."""
    seen = found.provider_checked_at or found.found_at
    return AwardOption(
        trip_id=found.option_id,
        airline=found.airline,
        program=found.program,
        origin=found.origin,
        destination=found.destination,
        date=found.date,
        cabin=found.cabin,
        points=found.points,
        taxes=found.taxes,
        taxes_currency=found.taxes_currency,
        seats=found.seats,
        stops=found.stops,
        flight_numbers=found.flight_numbers,
        departs_at=found.departs_at,
        arrives_at=found.arrives_at,
        bookable_with=[found.program],
        source=found.source,
        mode="sandbox" if found.mode == "sandbox" else "cached",
        provider_checked_at=found.provider_checked_at,
        age_seconds=max(0, int((call.now - seen).total_seconds())),
        generated_at=found.found_at if found.mode == "sandbox" else None,
    )


def _last_matches(call: Call, monitor_ids: Sequence[int]) -> dict[int, MonitorMatch]:
    newest = (
        select(MonitorMatch)
        .where(MonitorMatch.monitor_id.in_(monitor_ids))
        .ext(distinct_on(MonitorMatch.monitor_id))
        .order_by(MonitorMatch.monitor_id, MonitorMatch.found_at.desc(), MonitorMatch.points)
    )
    return {match.monitor_id: match for match in call.db.scalars(newest)}


def _shown(call: Call, rows: Sequence[RouteMonitor]) -> list[Monitor]:
    ids = [row.id for row in rows]
    due, matches = next_due(call.db, KIND, ids), _last_matches(call, ids)
    return [_monitor(call, row, due.get(row.id), matches.get(row.id)) for row in rows]


def _monitor(call: Call, row: RouteMonitor, due: datetime | None, match: MonitorMatch | None) -> Monitor:
    ended = row.cancelled_at or row.paused_at
    return Monitor.model_validate(
        {name: getattr(row, name) for name in Monitor.model_fields if hasattr(row, name)}
        | {
            "monitor_id": row.id,
            "state": "cancelled" if ended else "active",
            "next_check_at": None if ended else due,
            "last_match": _option(call, match) if match else None,
            "cancelled_at": ended,
            "cancel_reason": row.cancel_reason or ("plan_change" if row.paused_at else None),
        }
    )


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
        monitor=_shown(call, [row])[0],
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
        monitors=_shown(call, rows),
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
        monitor=_shown(call, [row])[0],
        matches=[_option(call, match) for match in matches],
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
        monitor=_shown(call, [row])[0],
        active_count=_count(call, _active()),
        cap=call.limits.route_monitors,
    )
