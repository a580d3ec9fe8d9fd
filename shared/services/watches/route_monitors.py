"""Checks of route monitors: their log, their matches, and the booking that one follows."""

from typing import Any

from sqlalchemy.orm import Session

from shared import clock
from shared.db import bulk, route_monitors
from shared.db.bookings import FlightBooking
from shared.db.route_monitors import MonitorCheck, MonitorKey, MonitorMatch, RouteMonitor
from shared.db.watched_keys import forget_keys
from shared.domain.award_matches import MonitorTerms
from shared.domain.watch_answers import is_overtaken
from shared.errors import Invalid
from shared.reference.load import reference
from shared.services.search.award_options import OFFER_FIELDS
from shared.services.watches.award_seats import WatchQuery, filters_of
from shared.services.watches.booked_awards import describe_rebooking, read_award, set_terms
from shared.services.watches.seat_watches import Find, SeatWatches

_MATCH_FIELDS = (*OFFER_FIELDS, "source", "mode", "provider_checked_at")


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


class RouteMonitors(SeatWatches[RouteMonitor]):
    """Route monitors; one that follows a booking has its terms."""

    model, keys = RouteMonitor, MonitorKey

    def build_query(self, watch: RouteMonitor) -> WatchQuery:
        terms = terms_of(watch)
        return WatchQuery(watch.id, watch.account_id, watch.origin, watch.destination, terms, watch.last_checked_at)

    def refresh(self, session: Session, watch: RouteMonitor) -> None:
        """Takes the terms of a changed booking again; one that was cancelled, or lacks a price, ends the
        watch."""
        if watch.has_ended:
            return
        reason = "window_passed" if watch.latest_date < clock.today() else ""
        if not reason and watch.booking_id:
            booking = session.get(FlightBooking, watch.booking_id)
            try:
                if booking is None:
                    raise Invalid
                set_terms(watch, read_award(session, reference(), booking))
            except Invalid:
                reason = "user"
        if reason:
            watch.cancelled_at, watch.cancel_reason = clock.now(), reason
            forget_keys(session, MonitorKey, watch.id)
        session.flush()

    def note(self, session: Session, find: Find[RouteMonitor]) -> None:
        monitor, sight = find.watch, find.sight
        if find.claim.attempt > 1:
            route_monitors.forget_check(session, monitor.id, find.claim.id, sight.asked_at)
        session.add(
            MonitorCheck(
                run_id=find.claim.id,
                monitor_id=monitor.id,
                checked_at=sight.asked_at,
                outcome=sight.outcome,
                options_seen=len(sight.window.offers),
                new_matches=len(find.options),
                failed_sources=list(sight.window.failed),
            )
        )
        if sight.window.any_answered and not is_overtaken(sight.asked_at, monitor.last_checked_at):
            monitor.last_checked_at = sight.asked_at
            monitor.matches_total += len(find.options)
        found_at = clock.now()
        matches = [
            {"monitor_id": monitor.id, "found_at": found_at, "option_id": option.trip_id}
            | {name: getattr(option, name) for name in _MATCH_FIELDS}
            for option in find.options
        ]
        if matches:
            bulk.write(session, MonitorMatch, matches)

    def describe(self, session: Session, watch: RouteMonitor) -> dict[str, Any]:
        return describe_rebooking(session, reference(), watch)
