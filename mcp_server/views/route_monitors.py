"""Route monitors for results, and the checks of route and days that all watches share."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from typing import Literal

from mcp_server.toolkit.context import Call, CallBase
from mcp_server.toolkit.parameters import Cabin
from mcp_server.views.seat_filters import Filters
from shared.db.route_monitors import MonitorFinds, MonitorMatch, RouteMonitor, find_matches
from shared.db.runs import next_due
from shared.domain.watch_kinds import ROUTE_MONITOR
from shared.errors import Fault, Invalid
from shared.outbox.wording import award_seats
from shared.reference.city_airports import list_airports
from shared.services.search.award_options import AwardOption, build_option
from shared.services.watches.award_seats import WatchQuery
from shared.services.watches.route_monitors import terms_of
from shared.services.watches.seat_funding import describe_funding

State = Literal["active", "cancelled"]


class Monitor(Filters):
    """A monitor paused by its owner or a plan change shows as cancelled, and as active once resumed.

    `best_match` is the best value of what was open at the last check, `last_match` that of the newest finds.
    """

    monitor_id: int
    state: State
    origin: str
    destination: str
    origin_airports: list[str]
    destination_airports: list[str]
    earliest_date: date
    latest_date: date
    cabin: Cabin | None
    airlines: list[str] | None
    passengers: int
    max_points: int | None
    booking_id: int | None
    program: str | None
    trip_id: int | None
    last_checked_at: datetime | None
    next_check_at: datetime | None
    last_match: AwardOption | None
    best_match: AwardOption | None
    matches_total: int
    created_at: datetime
    paused_at: datetime | None
    cancelled_at: datetime | None
    cancel_reason: Literal["user", "window_passed", "plan_change"] | None


@dataclass(frozen=True)
class FoundSeat(AwardOption):
    """`is_open`: whether it was still open when the watch last had an answer about it."""

    found_at: datetime
    is_open: bool


def to_found_seat(call: Call, match: MonitorMatch, passengers: int, is_open: bool) -> FoundSeat:
    return FoundSeat(**vars(to_award_option(call, match, passengers)), found_at=match.found_at, is_open=is_open)


def to_award_option(call: Call, match: MonitorMatch, passengers: int) -> AwardOption:
    """Converts a stored match: live data then is cached data now, with its age."""
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


def describe_payment(call: Call, row: RouteMonitor, seats: Sequence[FoundSeat]) -> list[str]:
    """Sentences on how saved balances pay for the best open seats for all travellers; empty without balances."""
    query = WatchQuery(row.id, row.account_id, row.origin, row.destination, terms_of(row))
    funding = describe_funding(call.db, query, [seat for seat in seats if seat.is_open])
    return award_seats.describe_funding({"funding": funding})


def to_monitors(call: Call, rows: Sequence[RouteMonitor]) -> list[Monitor]:
    running = [row.id for row in rows if not (row.cancelled_at or row.paused_at)]
    due = next_due(call.db, ROUTE_MONITOR.run, running) if running else {}
    return show_monitors(call, rows, due, find_matches(call.db, [row.id for row in rows]))


def to_new_monitor(call: Call, row: RouteMonitor) -> Monitor:
    """A new watch, without finds."""
    return show_monitors(call, [row], next_due(call.db, ROUTE_MONITOR.run, [row.id]), {})[0]


def show_monitors(
    call: Call, rows: Sequence[RouteMonitor], due: Mapping[int, datetime], finds: Mapping[int, MonitorFinds]
) -> list[Monitor]:
    """`due` and `finds` are by monitor; those without an entry have none."""
    return [_to_monitor(call, row, due.get(row.id), finds.get(row.id, MonitorFinds(None, None))) for row in rows]


def _to_monitor(call: Call, row: RouteMonitor, due: datetime | None, finds: MonitorFinds) -> Monitor:
    last, best = finds
    ended = row.cancelled_at or row.paused_at
    return Monitor.model_validate(
        {name: getattr(row, name) for name in Monitor.model_fields if hasattr(row, name)}
        | {
            "monitor_id": row.id,
            "state": "cancelled" if ended else "active",
            "next_check_at": None if ended else due,
            "origin_airports": list_airports(call.reference, row.origin),
            "destination_airports": list_airports(call.reference, row.destination),
            "last_match": to_award_option(call, last, row.passengers) if last else None,
            "best_match": to_award_option(call, best, row.passengers) if best else None,
            "cancelled_at": ended,
            "cancel_reason": row.cancel_reason or _find_reason(row),
        }
    )


def _find_reason(row: RouteMonitor) -> str | None:
    """Why an uncancelled monitor does not run."""
    if row.paused_at is None:
        return None
    return "user" if row.paused_by_owner else "plan_change"


def find_airport_faults(call: CallBase, airports: Mapping[str, str]) -> list[Fault]:
    """One fault for each parameter that does not name an airport."""
    return [
        _describe_airport_fault(call, name, code)
        for name, code in airports.items()
        if code not in call.reference.airports
    ]


def _describe_airport_fault(call: CallBase, name: str, code: str) -> Fault:
    if members := list_airports(call.reference, code):
        return Fault(name, "is a city with several airports", f"one of them: {', '.join(members)}")
    return Fault(name, "is not an airport this service knows", "an airport's code, such as LHR")


def check_route(call: CallBase, ends: Mapping[str, str], window: Mapping[str, date]) -> None:
    """Both mappings are by parameter name, origin and first day first. Ends are airports or cities. Raises Invalid."""
    airports = {name: list_airports(call.reference, code) for name, code in ends.items()}
    unknown = "is no airport or city this service knows"
    faults = [Fault(name, unknown, "a code such as LHR or LON") for name, codes in airports.items() if not codes]
    (origin, destination), (first, last) = ends, window
    if not faults and set(airports[origin]) & set(airports[destination]):
        faults.append(Fault(destination, f"is the {origin} too", "another airport"))
    if window[last] < window[first]:
        faults.append(Fault(last, f"is before {first}", f"{window[first]} or later"))
    elif window[last] < call.today:
        faults.append(Fault(last, "is in the past", f"{call.today} or later"))
    if faults:
        raise Invalid(*faults)
