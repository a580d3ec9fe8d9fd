"""The run that looks at the top routes of people's home airports, so that first questions are answered at once."""

from collections.abc import Callable
from datetime import timedelta

from sqlalchemy.orm import Session

from jobs import event_loop
from shared import clock
from shared.db.base import transaction
from shared.db.runs import COMPLETE, Claim, RunResult
from shared.db.swept_routes import note_swept
from shared.providers.ask import Ask
from shared.reference.load import reference
from shared.services.search.route_sweeps import plan_sweep, sweep
from shared.settings import settings

EVERY, FIRST = timedelta(hours=6), timedelta(minutes=10)


def check(_claim: Claim) -> Callable[[Session], RunResult]:
    """Routes for which a source has no call left wait for the next run: watches go first.

    The sandbox needs no run: it answers any route at once.
    """
    if settings().data_mode == "sandbox":
        return lambda _session: COMPLETE
    with transaction() as session:
        routes, earliest, latest = plan_sweep(session, reference())
    began = clock.now()
    ask = Ask(background=True, can_wait=True, budget=120)
    answered = event_loop.ask(sweep, ask, reference(), routes, earliest, latest) if routes else []

    def finish(session: Session) -> RunResult:
        note_swept(session, answered, earliest, latest, began)
        return COMPLETE

    return finish
