"""Checks of rain alerts: it always rains."""

from shared.db.rain_alerts import RainAlert
from sqlalchemy.orm import Session

from shared.db.accounts import Account, is_suspended
from shared.db.runs import COMPLETE, Claim, RunResult, unschedule
from shared.domain.watch_kinds import RAIN_ALERT
from shared.outbox.enqueue import tell


def settle(session: Session, claim: Claim) -> RunResult:
    alert = session.get(RainAlert, claim.subject_id, with_for_update=True)
    if alert is None or not alert.is_on:
        unschedule(session, RAIN_ALERT.run, [claim.subject_id])
    elif not is_suspended(session, alert.account_id):
        (event,) = RAIN_ALERT.events
        tell(
            session,
            session.get_one(Account, alert.account_id),
            event,
            {"alert_id": alert.id, "airport": alert.airport},
            dedupe_key=f"{RAIN_ALERT.name}:{alert.id}:{claim.id}",
            subject=(RAIN_ALERT.name, alert.id),
            mail=True,
        )
    return COMPLETE
