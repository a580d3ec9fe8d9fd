"""Route monitors: award seats on a route, mailed when they match a person's terms for the first time."""

from datetime import date, datetime, timedelta
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
from mcp_server.toolkit.wording import airline_name, program_name
from mcp_server.views.booked_awards import BookedAwardId, RebookingFee, describe_award, read_booked_award, to_fee
from mcp_server.views.route_monitors import Monitor, check_route, to_award_option, to_monitors
from mcp_server.views.seat_filters import (
    COLUMNS,
    MaxTaxes,
    Weekdays,
    build_filters,
    describe_filters,
    list_cleared,
)
from mcp_server.views.watch_outlook import (
    Release,
    describe_airports,
    describe_opening,
    describe_routes,
    find_opening,
    find_release,
    to_release,
)
from shared.db.pagination import count, page_of
from shared.db.route_monitors import MonitorCheck, MonitorKey, RouteMonitor, list_matches
from shared.db.run_kinds import RunKind
from shared.db.runs import schedule, unschedule
from shared.domain.dates import format_weekday
from shared.domain.party_prices import PartyPrice, describe_price
from shared.domain.plurals import pluralize
from shared.errors import Fault, Invalid
from shared.reference.rows.award_charts import ReleaseWindow
from shared.services.search.award_options import AwardOption

Airlines = Annotated[
    list[str] | None, Field(max_length=30, description="Names or codes; absent means every supported carrier.")
]
MostPoints = Annotated[Points | None, Field(description="Per passenger; fires only at or below.")]
Clearable = Literal["cabin", "airlines", "max_points", "weekdays", "max_taxes"]
WINDOW = ("origin", "destination", "earliest_date", "latest_date")
TERMS = (*WINDOW, "booking_id", "cabin", "airlines", "passengers", "max_points", *COLUMNS)
MAX_MATCHES, MAX_CHECKS = 20, 10


class OneMonitor(Result):
    monitor: Monitor
    active_count: int
    cap: int


class CreatedMonitor(OneMonitor):
    opens_on: date | None
    release: Release | None
    fee: RebookingFee | None


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
    nonstop_only: bool = False,
    weekdays: Weekdays = None,
    max_taxes: MaxTaxes = None,
    booking_id: BookedAwardId = None,
) -> CreatedMonitor:
    """Watches a route and date window every 6 hours and emails when fresh matching award seats appear.

    Any airline, or several; a city code such as LON or TYO watches its airports. Fresh means: matches now and did not
    at the check before; at the first check every match is fresh. Free.
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
    edit(row, call.now, build_filters(call, nonstop_only, weekdays, max_taxes))
    award = read_booked_award(call, row, booking_id)
    _check_terms(call, row)
    room = _check_cap(call, row)
    call.db.add(row)
    call.db.flush()
    _schedule_checks(call, row)
    release = find_release(call, row.airlines or ())
    return CreatedMonitor(
        message=f"Monitor {row.id} watches {row.origin} to {row.destination}{describe_award(award, row)}."
        f" The first check runs now, then every {_describe_interval(call)}."
        f" Fresh seats are mailed and appear in list_notifications.{_describe_outlook(call, row, release)}{room.same}",
        monitor=to_monitors(call, [row])[0],
        active_count=room.active + 1,
        cap=call.limits.route_monitors,
        opens_on=find_opening(call, release, earliest_date),
        release=to_release(call, release, row.latest_date),
        fee=to_fee(call, award),
    )


def _describe_outlook(call: Call, row: RouteMonitor, release: ReleaseWindow | None) -> str:
    """What the watch leaves out, and what is known of the route and of when its days go on sale."""
    return (
        describe_airports(call, row.origin, row.destination)
        + describe_filters(row)
        + describe_routes(call, row.airlines or (), row.origin, row.destination)
        + describe_opening(call, release, row.earliest_date, row.latest_date)
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
    matches = list_matches(call.db, row.id, MAX_MATCHES)
    checks = call.db.scalars(
        select(MonitorCheck)
        .where(MonitorCheck.monitor_id == row.id)
        .order_by(MonitorCheck.checked_at.desc(), MonitorCheck.id.desc())
        .limit(MAX_CHECKS)
    ).all()
    monitor = to_monitors(call, [row])[0]
    return MonitorDetails(
        message=f"Monitor {row.id}, {row.origin} to {row.destination}:"
        f" {pluralize(row.matches_total, 'match', 'matches')} so far.{_describe_best(call, monitor)}",
        monitor=monitor,
        matches=[to_award_option(call, match, row.passengers) for match in matches],
        checks=[Check.model_validate({name: getattr(c, name) for name in Check.model_fields}) for c in checks],
    )


def _describe_best(call: Call, monitor: Monitor) -> str:
    """The best value that was open at the last check."""
    best = monitor.best_match
    if best is None:
        return ""
    price = PartyPrice(best.points, best.taxes, best.taxes_currency, monitor.passengers)
    return (
        f" The best that was open at the last check: {format_weekday(best.date)},"
        f" {airline_name(call.reference, best.airline)} {best.cabin.replace('_', ' ')},"
        f" {describe_price(price)} with {program_name(call.reference, best.program)}."
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
    nonstop_only: bool | None = None,
    weekdays: Weekdays = None,
    max_taxes: MaxTaxes = None,
    clear: Annotated[list[Clearable] | None, Field(description="Names of fields to empty.")] = None,
) -> UpdatedMonitor:
    """Changes the window, cabin, airlines, passengers, cap or filters of an active route monitor.

    Changed terms start afresh: at the next check each match is new. A cancelled monitor cannot be changed. Free.
    """
    row = _get_own(call.db, monitor_id, locked=True)
    if row.cancelled_at is not None:
        raise Invalid(Fault("monitor_id", "is cancelled and cannot be changed", "an active monitor, or a new one"))
    if row.booking_id is not None:
        raise Invalid(Fault("monitor_id", "takes its terms from a booking", "the booking, or a new monitor"))
    changes = {
        "origin": origin,
        "destination": destination,
        "earliest_date": earliest_date,
        "latest_date": latest_date,
        "cabin": cabin,
        "airlines": None if airlines is None else _resolve_airlines(call, airlines) or "",
        "passengers": passengers,
        "max_points": max_points,
    } | build_filters(call, nonstop_only, weekdays, max_taxes)
    changed = edit(row, call.now, changes, list_cleared(clear))
    if changed:
        _check_terms(call, row)
        call.db.execute(delete(MonitorKey).where(MonitorKey.monitor_id == row.id))
        call.db.flush()
        if row.paused_at is None:
            _schedule_checks(call, row)
    afresh = " It is checked now, and every match counts as new." if changed else ""
    outlook = _describe_outlook(call, row, find_release(call, row.airlines or ())) if changed else ""
    return UpdatedMonitor(
        message=describe_changes(changed) + afresh + outlook,
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
