"""The runs of watches of award seats: they ask the providers and write what is new, one by one or several at once."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from sqlalchemy.orm import Session

from jobs import event_loop
from jobs.queue import More
from shared.db.base import autocommit, transaction
from shared.db.runs import COMPLETE, Claim, RunResult
from shared.services.watches.award_seats import CheckResult, WatchQuery, query_sources, query_together

Finish = Callable[[Session], RunResult]


@dataclass(frozen=True)
class SeatChecks:
    """How the watches of one kind are prepared, and what was seen of them is written."""

    prepare: Callable[[Session, int], WatchQuery | None]
    settle: Callable[[Session, Claim, CheckResult], RunResult]
    prepare_simple: Callable[[Session, Sequence[int]], list[WatchQuery]]
    settle_together: Callable[[Session, Mapping[int, CheckResult]], set[int]]

    def check(self, claim: Claim) -> Finish:
        with transaction() as session:
            query = self.prepare(session, claim.subject_id)
        if query is None:
            return lambda _session: COMPLETE
        return self._finish(claim, event_loop.ask(query_sources, query))

    def _finish(self, claim: Claim, sight: CheckResult) -> Finish:
        if result := sight.put_off:
            return lambda _session: result
        return lambda session: self.settle(session, claim, sight)

    def check_together(
        self, claims: Sequence[Claim], in_time: More
    ) -> tuple[dict[int, Finish], Callable[[Session], set[int]]]:
        """By run what writes the answer; what is not simply watched, or not asked for in time, is left out."""
        with autocommit() as session:
            queries = self.prepare_simple(session, [claim.subject_id for claim in claims])
        runs = {claim.subject_id: claim for claim in claims}
        sights = {sight.plan.watch_id: sight for sight in event_loop.ask(query_together, queries, in_time)}
        answered = {runs[watch_id].id: sight for watch_id, sight in sights.items() if sight.put_off is None}
        finishes = {runs[watch_id].id: self._finish(runs[watch_id], sight) for watch_id, sight in sights.items()}
        return finishes, lambda session: self.settle_together(session, answered)
