"""The run of a flight alert: asks the providers for its award seats and writes what is new."""

from collections.abc import Callable
from functools import partial

from sqlalchemy.orm import Session

from jobs import event_loop
from shared.db.base import transaction
from shared.db.runs import COMPLETE, Claim, RunResult
from shared.services.watches.award_seats import CheckResult, query_sources
from shared.services.watches.flight_alerts import prepare, settle


def check(claim: Claim) -> Callable[[Session], RunResult]:
    with transaction() as session:
        query = prepare(session, claim.subject_id)
    if query is None:
        return lambda _session: COMPLETE
    sight: CheckResult = event_loop.ask(query_sources, query)
    if result := sight.put_off:
        return lambda _session: result
    return partial(settle, run_id=claim.id, sight=sight)
