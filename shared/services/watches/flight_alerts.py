"""Checks of flight alerts: key states and one message of new matches."""

from typing import Any

from sqlalchemy import delete
from sqlalchemy.orm import Session

from shared import clock
from shared.db.accounts import Account, is_suspended
from shared.db.flight_alerts import FlightAlert, FlightAlertKey
from shared.db.runs import COMPLETE, Claim, RunResult, unschedule
from shared.domain.award_matches import MonitorTerms
from shared.domain.watch_answers import is_overtaken
from shared.domain.watch_kinds import FLIGHT_ALERT
from shared.outbox.enqueue import tell
from shared.services.watches.award_seats import CheckResult, WatchQuery, filters_of
from shared.services.watches.seat_finds import Find, Wording, store_finds, tell_finds

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


def prepare(session: Session, alert_id: int) -> WatchQuery | None:
    """What to ask; None when there is nothing to watch any longer, and then the schedule is switched off."""
    alert = session.get(FlightAlert, alert_id, with_for_update=True)
    if alert is not None and alert.active and alert.date_range_end < clock.today():
        alert.active = False
        session.flush()
        session.execute(delete(FlightAlertKey).where(FlightAlertKey.alert_id == alert_id))
    if alert is None or not alert.active or alert.paused_at:
        unschedule(session, FLIGHT_ALERT.run, [alert_id])
        return None
    return None if is_suspended(session, alert.account_id) else query_of(alert)


def settle(session: Session, claim: Claim, sight: CheckResult) -> RunResult:
    """Writes what a check found.

    The alert is read again under its lock: deleted, paused or changed in the meantime means that nothing fires.
    """
    plan = sight.plan
    alert = session.get(FlightAlert, plan.watch_id, with_for_update=True, populate_existing=True)
    if alert is None or not alert.active or alert.paused_at or query_of(alert) != plan:
        return COMPLETE
    (find,) = store_finds(session, FlightAlertKey, [(claim.id, sight, alert)])
    _note(session, session.get_one(Account, alert.account_id), alert, sight)
    if find.options:
        alert.last_hit_at = sight.asked_at
        tell_finds(session, WORDING, [find])
    return RunResult(sight.retry_reason)


def _describe(_session: Session, find: Find) -> dict[str, Any]:
    return {"alert_id": find.plan.watch_id}


WORDING = Wording(FLIGHT_ALERT.run, "flight_alert_match", _describe)


def query_of(alert: FlightAlert) -> WatchQuery:
    return WatchQuery(
        alert.id, alert.account_id, alert.departure, alert.destination, terms_of(alert), alert.last_checked_at
    )


def _note(session: Session, account: Account, alert: FlightAlert, sight: CheckResult) -> None:
    """The outcome is kept; one that the person has to mend is told once, however many alerts and runs it meets."""
    if is_overtaken(sight.asked_at, alert.last_checked_at):
        return
    before, alert.last_outcome = alert.last_outcome, sight.outcome
    if sight.window.any_answered:
        alert.last_checked_at = sight.asked_at
    if sight.outcome in _CANNOT and before != sight.outcome:
        source = next((skipped.name for skipped in sight.window.coverage.skipped), "")
        tell(
            session,
            account,
            "flight_alert_unanswered",
            {"outcome": sight.outcome, "source": source},
            dedupe_key=f"flight_alerts:{account.id}:{sight.outcome}:{clock.today()}",
        )
