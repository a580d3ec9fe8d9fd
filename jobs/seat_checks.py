"""The runs of watches of award seats: they ask the providers and write what is new."""

from collections.abc import Callable
from functools import partial
from typing import Any

from sqlalchemy.orm import Session

from jobs import event_loop
from shared.db.base import transaction
from shared.db.runs import COMPLETE, Claim, RunResult
from shared.services.watches.award_seats import query_sources
from shared.services.watches.seat_watches import SeatWatches


def check_seats(watches: SeatWatches[Any], claim: Claim) -> Callable[[Session], RunResult]:
    with transaction() as session:
        query = watches.prepare(session, claim.subject_id)
    if query is None:
        return lambda _session: COMPLETE
    sight = event_loop.ask(query_sources, query)
    if result := sight.put_off:
        return lambda _session: result
    return partial(watches.settle, claim=claim, sight=sight)
