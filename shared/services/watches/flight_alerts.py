"""Checks of flight alerts: key states and one message of new matches."""

from sqlalchemy import delete, select
from sqlalchemy.orm import Session

from shared import clock
from shared.db.accounts import Account, is_suspended
from shared.db.flight_alerts import FlightAlert, FlightAlertKey
from shared.db.profile import find_addressee
from shared.db.run_kinds import RunKind
from shared.db.runs import COMPLETE, RunResult, unschedule
from shared.db.watched_keys import list_key_rows, store_key_rows
from shared.domain.award_matches import MonitorTerms
from shared.outbox.enqueue import tell
from shared.services.watches.award_seats import (
    CheckResult,
    SeatNews,
    WatchQuery,
    filters_of,
    find_new_matches,
    plan_mails,
)
from shared.services.watches.seat_funding import load_purses
from shared.services.watches.seat_messages import describe_seats

EVENT = "flight_alert_match"
# Airlines without a programme of their own any more: the one whose prices count.
PRICED_THROUGH = {"HA": "atmos-rewards"}
_CANNOT = ("connection_required", "not_configured")  # no later try helps: somebody has to do something


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
    """What to ask; None when there is nothing to watch any more, and then the schedule is switched off."""
    alert = session.get(FlightAlert, alert_id, with_for_update=True)
    if alert is not None and alert.active and alert.date_range_end < clock.today():
        alert.active = False
        session.flush()
        session.execute(delete(FlightAlertKey).where(FlightAlertKey.alert_id == alert_id))
    if alert is None or not alert.active or alert.paused_at:
        unschedule(session, RunKind.FLIGHT_ALERT, [alert_id])
        return None
    return None if is_suspended(session, alert.account_id) else _plan_of(alert)


def settle(session: Session, run_id: int, sight: CheckResult) -> RunResult:
    """Writes what a check found.

    The alert is read again under its lock: deleted, paused or changed meanwhile means that nothing fires.
    """
    plan = sight.plan
    alert = session.get(FlightAlert, plan.watch_id, with_for_update=True, populate_existing=True)
    if alert is None or not alert.active or alert.paused_at or _plan_of(alert) != plan:
        return COMPLETE
    key_states = session.scalars(select(FlightAlertKey).where(FlightAlertKey.alert_id == alert.id)).all()
    matches, states = find_new_matches(sight, key_states, alert.last_checked_at)
    store_key_rows(session, FlightAlertKey, list_key_rows(FlightAlertKey, alert.id, states, sight.asked_at))
    account = session.get_one(Account, alert.account_id)
    _note(session, account, alert, sight)
    if matches:
        alert.last_hit_at = sight.asked_at
        watch = (RunKind.FLIGHT_ALERT, alert.id)
        addressee, purses = find_addressee(session, account.id), load_purses(session, [account.id])
        (mail,) = plan_mails(session, EVENT, [SeatNews(addressee, watch, matches)])
        tell(
            session,
            addressee,
            EVENT,
            describe_seats(session, plan, matches, purses) | {"alert_id": alert.id} | mail.facts,
            dedupe_key=f"{RunKind.FLIGHT_ALERT}:{alert.id}:{run_id}",
            subject=watch,
            mail=mail.tells,
        )
    return RunResult(sight.retry_reason)


def _plan_of(alert: FlightAlert) -> WatchQuery:
    return WatchQuery(
        alert.id, alert.account_id, alert.departure, alert.destination, terms_of(alert), alert.last_checked_at
    )


def _note(session: Session, account: Account, alert: FlightAlert, sight: CheckResult) -> None:
    """The outcome is kept; one that the person has to mend is told once, however many alerts and runs it meets."""
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
