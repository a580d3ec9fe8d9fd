"""Checks of route monitors: key states, matches and one message of new matches."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import delete
from sqlalchemy.orm import Session

from shared import clock
from shared.db import route_monitors
from shared.db.accounts import is_suspended
from shared.db.bookings import FlightBooking
from shared.db.route_monitors import MonitorKey, RouteMonitor
from shared.db.runs import COMPLETE, Claim, RunResult, unschedule
from shared.domain.award_matches import MonitorTerms
from shared.domain.watch_answers import is_overtaken
from shared.domain.watch_kinds import ROUTE_MONITOR
from shared.errors import Invalid
from shared.reference.load import reference
from shared.services.search.award_options import OFFER_FIELDS, AwardOption
from shared.services.watches.award_seats import CheckResult, WatchQuery, filters_of
from shared.services.watches.booked_awards import describe_rebooking, read_award, set_terms
from shared.services.watches.seat_finds import Find, Wording, store_finds, tell_finds


def terms_of(monitor: RouteMonitor) -> MonitorTerms:
    return MonitorTerms(
        earliest=monitor.earliest_date,
        latest=monitor.latest_date,
        cabin=monitor.cabin,
        airlines=frozenset(monitor.airlines) if monitor.airlines else None,
        passengers=monitor.passengers,
        max_points=monitor.max_points,
        programs=frozenset((monitor.program,)) if monitor.program else None,
        **filters_of(monitor),
    )


def prepare(session: Session, monitor_id: int) -> WatchQuery | None:
    """What to ask; None when there is nothing to watch any longer, and then the schedule is switched off."""
    monitor = session.get(RouteMonitor, monitor_id, with_for_update=True)
    if monitor is not None and monitor.cancelled_at is None and monitor.latest_date < clock.today():
        monitor.cancelled_at, monitor.cancel_reason = clock.now(), "window_passed"
        session.execute(delete(MonitorKey).where(MonitorKey.monitor_id == monitor_id))
    if monitor is not None and monitor.cancelled_at is None and monitor.booking_id:
        _follow_booking(session, monitor)
    if monitor is None or monitor.cancelled_at or monitor.paused_at:
        unschedule(session, ROUTE_MONITOR.run, [monitor_id])
        return None
    return None if is_suspended(session, monitor.account_id) else query_of(monitor)


def _follow_booking(session: Session, monitor: RouteMonitor) -> None:
    """A booking that was changed gives its terms again; one that was cancelled, or tells no price, ends the watch."""
    row = session.get(FlightBooking, monitor.booking_id)
    try:
        if row is None:
            raise Invalid
        set_terms(monitor, read_award(session, reference(), row))
    except Invalid:
        monitor.cancelled_at, monitor.cancel_reason = clock.now(), "user"
        session.execute(delete(MonitorKey).where(MonitorKey.monitor_id == monitor.id))
    session.flush()


def query_of(monitor: RouteMonitor) -> WatchQuery:
    return WatchQuery(
        monitor.id, monitor.account_id, monitor.origin, monitor.destination, terms_of(monitor), monitor.last_checked_at
    )


def settle(session: Session, claim: Claim, sight: CheckResult) -> RunResult:
    """Writes what a check found.

    The monitor is read again under its lock: cancelled, paused or changed in the meantime means that nothing fires.
    """
    monitor = session.get(RouteMonitor, sight.plan.watch_id, with_for_update=True, populate_existing=True)
    if monitor is None or monitor.cancelled_at or monitor.paused_at or query_of(monitor) != sight.plan:
        return COMPLETE
    (find,) = store_finds(session, MonitorKey, [(claim.id, sight, monitor)])
    if claim.attempt > 1:
        route_monitors.forget_check(session, monitor.id, claim.id, sight.asked_at)
    route_monitors.log_checks(session, [build_check_row(find)])
    monitor.matches_total += len(find.options)
    if sight.window.any_answered and not is_overtaken(sight.asked_at, monitor.last_checked_at):
        monitor.last_checked_at = sight.asked_at
    if find.options:
        tell_matches(session, [find])
    return RunResult(sight.retry_reason)


def build_check_row(find: Find) -> dict[str, Any]:
    sight = find.sight
    return {
        "run_id": find.run_id,
        "monitor_id": find.plan.watch_id,
        "checked_at": sight.asked_at,
        "outcome": sight.outcome,
        "options_seen": len(sight.window.offers),
        "new_matches": len(find.options),
        "failed_sources": list(sight.window.failed),
    }


def tell_matches(session: Session, finds: Sequence[Find]) -> None:
    """Stores them too."""
    found_at = clock.now()
    matches = [_match_row(find.plan.watch_id, found_at, option) for find in finds for option in find.options]
    route_monitors.add_matches(session, matches)
    tell_finds(session, WORDING, finds)


def _describe(session: Session, find: Find) -> dict[str, Any]:
    monitor = session.get_one(RouteMonitor, find.plan.watch_id)
    return {"monitor_id": monitor.id} | describe_rebooking(session, reference(), monitor)


WORDING = Wording(ROUTE_MONITOR.run, "route_monitor_match", _describe)


def _match_row(monitor_id: int, found_at: datetime, option: AwardOption) -> dict[str, Any]:
    columns = (*OFFER_FIELDS, "source", "mode", "provider_checked_at")
    row = {"monitor_id": monitor_id, "found_at": found_at, "option_id": option.trip_id}
    return row | {name: getattr(option, name) for name in columns}
