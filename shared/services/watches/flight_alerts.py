"""Checks of flight alerts: what their outcome is, and what someone has to do before they can be checked."""

from collections.abc import Sequence

import sqlalchemy as sa
from sqlalchemy.orm import Session

from shared import clock
from shared.db.accounts import Account
from shared.db.flight_alerts import CheckedAlert, FlightAlert, FlightAlertKey, note_checked
from shared.db.watched_keys import forget_keys
from shared.domain.award_matches import MonitorTerms
from shared.domain.watch_answers import is_overtaken
from shared.outbox.enqueue import tell
from shared.services.watches.award_seats import WatchQuery, filters_of
from shared.services.watches.seat_watches import Find, SeatWatches

# Airlines without a programme of their own any longer: the one whose prices count.
PRICED_THROUGH = {"HA": "atmos-rewards"}
_CANNOT = ("connection_required", "not_configured")  # no later try helps: someone has to do something


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
    is_simple = FlightAlert.date_range_end >= sa.bindparam("today")

    def build_query(self, watch: FlightAlert) -> WatchQuery:
        terms = terms_of(watch)
        return WatchQuery(watch.id, watch.account_id, watch.departure, watch.destination, terms, watch.last_checked_at)

    def refresh(self, session: Session, watch: FlightAlert) -> None:
        if watch.active and watch.has_ended:
            watch.active = False
            session.flush()
            forget_keys(session, FlightAlertKey, watch.id)

    def note(self, session: Session, finds: Sequence[Find[FlightAlert]]) -> None:
        """An outcome that the person has to mend is told once, however many alerts and runs it meets."""
        for find in finds:
            outcome, watch = find.sight.outcome, find.watch
            is_news = outcome in _CANNOT and watch.last_outcome != outcome
            if is_news and not is_overtaken(find.sight.asked_at, watch.last_checked_at):
                source = next((skipped.name for skipped in find.sight.window.coverage.skipped), "")
                tell(
                    session,
                    session.get_one(Account, watch.account_id),
                    "flight_alert_unanswered",
                    {"outcome": outcome, "source": source},
                    dedupe_key=f"flight_alerts:{watch.account_id}:{outcome}:{clock.today()}",
                )
        checks = [
            CheckedAlert(f.watch.id, f.sight.asked_at, f.sight.window.any_answered, f.sight.outcome, bool(f.options))
            for f in finds
        ]
        note_checked(session, checks)
