"""The runs of route monitors: they ask the providers for award seats and write what is new."""

from collections.abc import Callable, Sequence
from functools import partial

from sqlalchemy.orm import Session

from jobs import event_loop
from jobs.queue import More
from shared.db.base import autocommit, transaction
from shared.db.runs import COMPLETE, Claim, RunResult
from shared.services.watches.award_seats import CheckResult, query_sources, query_together
from shared.services.watches.checks_together import prepare_simple, settle_together
from shared.services.watches.route_monitors import prepare, settle

Finish = Callable[[Session], RunResult]


def check(claim: Claim) -> Finish:
    with transaction() as session:
        query = prepare(session, claim.subject_id)
    if query is None:
        return lambda _session: COMPLETE
    return _finish(claim.id, event_loop.ask(query_sources, query))


def _finish(run_id: int, sight: CheckResult) -> Finish:
    if result := sight.put_off:
        return lambda _session: result
    return partial(settle, run_id=run_id, sight=sight)


def check_together(claims: Sequence[Claim], in_time: More) -> tuple[dict[int, Finish], Callable[[Session], set[int]]]:
    """By run what writes the answer; monitors that are not simply watched, or not asked for in time, are left out."""
    with autocommit() as session:
        queries = prepare_simple(session, [claim.subject_id for claim in claims])
    runs = {claim.subject_id: claim.id for claim in claims}
    sights = {runs[sight.plan.watch_id]: sight for sight in event_loop.ask(query_together, queries, in_time)}
    answered = {run_id: sight for run_id, sight in sights.items() if sight.put_off is None}
    return {run_id: _finish(run_id, sight) for run_id, sight in sights.items()}, partial(
        settle_together, sights=answered
    )
