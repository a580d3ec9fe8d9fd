"""The run of all delay alerts: asks about each watched airport once and writes what is new."""

from collections.abc import Callable
from functools import partial

from sqlalchemy.orm import Session

from jobs import event_loop
from shared.db.base import transaction
from shared.db.runs import COMPLETE, Claim, RunResult
from shared.services.watches.delay_alerts import airports, query_sources, settle


def check(claim: Claim) -> Callable[[Session], RunResult]:
    """Checks airports; one without an answer waits for the next run, minutes later."""
    with transaction() as session:
        watched_airports = airports(session)
    reports = event_loop.ask(query_sources, watched_airports) if watched_airports else {}
    if not reports:
        return lambda _session: COMPLETE
    return partial(settle, run_id=claim.id, reports=reports)
