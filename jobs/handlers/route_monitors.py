"""The run of a route monitor: its claim goes in, what is to be written about its check comes out."""

from collections.abc import Callable
from functools import partial

from sqlalchemy.orm import Session

from jobs import event_loop
from shared.db.base import autocommit, transaction
from shared.db.runs import Claim
from shared.services.watches.award_seats import CheckResult, query_sources
from shared.services.watches.route_monitors import plan_of, prepare, settle


def check(claim: Claim) -> Callable[[Session], str | None]:
    """Reads the monitor, asks the providers outside any transaction, and leaves the writing to the run's holder."""
    with autocommit() as session:
        plan = plan_of(session, claim.subject_id)
    if plan is None:
        with transaction() as session:
            plan = prepare(session, claim.subject_id)
    if plan is None:
        return _nothing
    sight: CheckResult = event_loop.ask(query_sources, plan)
    return partial(_settle, claim.id, sight)


def _settle(run_id: int, sight: CheckResult, session: Session) -> str | None:
    return settle(session, run_id, sight)


def _nothing(_session: Session) -> None:
    return None
