"""The run of a flight alert: its claim goes in, what is to be written about its check comes out."""

from collections.abc import Callable
from functools import partial

from sqlalchemy.orm import Session

from jobs import event_loop
from shared.db.base import transaction
from shared.db.runs import Claim
from shared.services.watches.award_seats import CheckResult, query_sources
from shared.services.watches.flight_alerts import prepare, settle


def check(claim: Claim) -> Callable[[Session], str | None]:
    """Reads the alert, asks the providers outside any transaction, and leaves the writing to the run's holder."""
    with transaction() as session:
        plan = prepare(session, claim.subject_id)
    if plan is None:
        return lambda _: None
    sight: CheckResult = event_loop.ask(query_sources, plan)
    return partial(_settle, claim.id, sight)


def _settle(run_id: int, sight: CheckResult, session: Session) -> str | None:
    return settle(session, run_id, sight)
