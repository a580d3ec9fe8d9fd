"""Checks of flight alerts: their outcome, and what a person must do first."""

from sqlalchemy.orm import Session

from shared import clock
from shared.db.accounts import Account
from shared.db.flight_alerts import FlightAlert, FlightAlertKey
from shared.db.watched_keys import forget_keys
from shared.domain.award_matches import MonitorTerms
from shared.domain.watch_answers import is_overtaken
from shared.outbox.enqueue import tell
from shared.services.watches.award_seats import WatchQuery, filters_of
from shared.services.watches.seat_watches import Find, SeatWatches

# Airlines that no longer have a programme: the one whose prices count.
PRICED_THROUGH = {"HA": "atmos-rewards"}
_CANNOT = ("connection_required", "not_configured")  # retrying does not help: someone must act


def terms_of(alert: FlightAlert) -> MonitorTerms:
    program = PRICED_THROUGH.get(alert.airline)
    return MonitorTerms(
        earliest=alert.date_range_start,
        latest=alert.date_range_end,
        cabin=alert.cabin_class,
        airlines=frozenset((alert.airline,)),
        passengers=alert.passengers,
        programs=frozenset((program,)) if program else None,
        **filters_of(alert),
    )


class FlightAlerts(SeatWatches[FlightAlert]):
    """One airline each, whatever the price."""

    model, keys = FlightAlert, FlightAlertKey

    def build_query(self, watch: FlightAlert) -> WatchQuery:
        terms = terms_of(watch)
        return WatchQuery(watch.id, watch.account_id, watch.departure, watch.destination, terms, watch.last_checked_at)

    def refresh(self, session: Session, watch: FlightAlert) -> None:
        if watch.active and watch.has_ended:
            watch.active = False
            session.flush()
            forget_keys(session, FlightAlertKey, watch.id)

    def note(self, session: Session, find: Find[FlightAlert]) -> None:
        """Reports once a fault that the person must fix, however many alerts and runs it affects."""
        alert, sight, outcome = find.watch, find.sight, find.sight.outcome
        if is_overtaken(sight.asked_at, alert.last_checked_at):
            return
        if outcome in _CANNOT and alert.last_outcome != outcome:
            source = next((skipped.name for skipped in sight.window.coverage.skipped), "")
            tell(
                session,
                session.get_one(Account, alert.account_id),
                "flight_alert_unanswered",
                {"outcome": outcome, "source": source},
                dedupe_key=f"flight_alerts:{alert.account_id}:{outcome}:{clock.today()}",
            )
        alert.last_outcome = outcome
        if sight.window.any_answered:
            alert.last_checked_at = sight.asked_at
        if find.options:
            alert.last_hit_at = sight.asked_at
