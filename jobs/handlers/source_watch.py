"""The weekly watch of public files of facts: reads them and stores differences from our rows."""

from collections.abc import Callable
from datetime import timedelta

from sqlalchemy.orm import Session

from jobs.event_loop import ask
from shared.db.base import transaction
from shared.db.runs import COMPLETE, Claim, RunResult
from shared.services.operations.facts import refresh
from shared.services.operations.source_fetch import fetch_sources
from shared.services.operations.source_watch import plan_requests, store_answers
from shared.settings import settings

EVERY, FIRST = timedelta(weeks=1), timedelta(minutes=30)


def check(_claim: Claim) -> Callable[[Session], RunResult]:
    """Fetches the files outside any transaction; changes no row of facts."""
    if not settings().watch_sources:
        return lambda _session: COMPLETE
    refresh()
    with transaction() as session:
        requests = plan_requests(session)
    answers = ask(fetch_sources, requests)

    def finish(session: Session) -> RunResult:
        store_answers(session, answers)
        return COMPLETE

    return finish
