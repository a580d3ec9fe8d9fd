"""The runs of watches of award seats: they ask the providers and write what is new, one by one or several at once."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from sqlalchemy.orm import Session

from jobs import event_loop
from jobs.queue import More
from shared.db.base import autocommit, transaction
from shared.db.runs import COMPLETE, Claim, RunResult
from shared.services.watches.award_seats import CheckResult, query_sources, query_together
from shared.services.watches.seat_watches import SeatWatches

Finish = Callable[[Session], RunResult]


@dataclass(frozen=True)
class SeatChecks:
    """The checks of the watches of one kind."""

    watches: SeatWatches[Any]

    def check(self, claim: Claim) -> Finish:
        with transaction() as session:
            query = self.watches.prepare(session, claim.subject_id)
        if query is None:
            return lambda _session: COMPLETE
        return self._finish(claim, event_loop.ask(query_sources, query))

    def _finish(self, claim: Claim, sight: CheckResult) -> Finish:
        if result := sight.put_off:
            return lambda _session: result
        return partial(self.watches.settle, claim=claim, sight=sight)

    def check_together(
        self, claims: Sequence[Claim], in_time: More
    ) -> tuple[dict[int, Finish], Callable[[Session], set[int]]]:
        """By run what writes the answer; what is not simply watched, or not asked for in time, is left out."""
        with autocommit() as session:
            queries = self.watches.prepare_simple(session, [claim.subject_id for claim in claims])
        runs = {claim.subject_id: claim for claim in claims}
        checks = [(runs[sight.plan.watch_id], sight) for sight in event_loop.ask(query_together, queries, in_time)]
        answered = [(run, sight) for run, sight in checks if sight.put_off is None and sight.window.any_answered]
        finishes = {run.id: self._finish(run, sight) for run, sight in checks}
        return finishes, partial(self.watches.settle_together, checks=answered)
