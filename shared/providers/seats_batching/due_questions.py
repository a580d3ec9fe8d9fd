"""Questions of watches that are due soon, for a check that can have them answered along with its own."""

from collections import defaultdict
from collections.abc import Collection, Sequence
from datetime import UTC, datetime, timedelta
from itertools import product
from typing import Any

from shared.db.base import transaction
from shared.db.due_watches import DueWatch, bring_forward, list_due_watches
from shared.providers.contract import SeatsQuestion, build_seats_questions
from shared.reference.city_airports import list_airports
from shared.reference.load import reference
from shared.settings import settings

MOST_NEAR = 400  # questions a plan chooses from; a page has some forty
NEVER = datetime.min.replace(tzinfo=UTC)


class DueQuestions:
    """For one check of an account's watch last checked at a given time, or never. All methods block.

    With the operator's key everyone's watches are served, with an account's own connection only its own.
    """

    def __init__(self, account_id: int, looked_at: datetime | None) -> None:
        self._account_id = account_id
        self._looked_at = looked_at or NEVER
        self._watches: list[tuple[DueWatch, list[SeatsQuestion]]] | None = None

    def list_near(self, scope: str, questions: Sequence[SeatsQuestion]) -> list[SeatsQuestion]:
        """Questions, those of the same days first, and among them those of the same airports.

        Watches that share no airport are included: with 2,000 watches that saves a seventh of the calls.
        """
        near = dict.fromkeys(question for _, its_questions in self._read(scope) for question in its_questions)
        return sorted(near.keys() - questions, key=lambda q: min(_measure_distance(q, own) for own in questions))[
            :MOST_NEAR
        ]

    def list_oldest(self, scope: str) -> Sequence[SeatsQuestion]:
        oldest, questions = min(self._read(scope), key=lambda w: w[0].looked_at or NEVER, default=(None, ()))
        return questions if oldest and (oldest.looked_at or NEVER) < self._looked_at else ()

    def bring_forward(self, questions: Collection[SeatsQuestion]) -> None:
        with transaction() as session:
            for kind, ids in sorted(self.list_answered(questions).items()):
                bring_forward(session, kind, ids)

    def list_answered(self, questions: Collection[SeatsQuestion]) -> dict[str, list[int]]:
        """By kind, the watches whose questions are all among these."""
        answered, ids = set(questions), defaultdict(list)
        for watch, its_questions in self._watches or ():
            if answered.issuperset(its_questions):
                ids[watch.kind].append(watch.id)
        return ids

    def _read(self, scope: str) -> list[tuple[DueWatch, list[SeatsQuestion]]]:
        if self._watches is None:
            pace = min(settings().route_monitor_interval_seconds, settings().flight_alert_interval_seconds)
            account_id = None if scope == "operator" else self._account_id
            with transaction() as session:
                watches = list_due_watches(session, timedelta(seconds=pace / 2), account_id)
            self._watches = [(watch, questions) for watch in watches if (questions := _build_questions(watch))]
        return self._watches


def _measure_distance(one: SeatsQuestion, other: SeatsQuestion) -> tuple[Any, ...]:
    """A sort key: days between two windows, differing ends of the routes, and the question for a stable order."""
    days = max(0, (max(one.earliest, other.earliest) - min(one.latest, other.latest)).days)
    ends = (one.origin != other.origin) + (one.destination != other.destination)
    return days, ends, one.origin, one.destination, one.earliest, one.latest, one.airlines


def _build_questions(watch: DueWatch) -> list[SeatsQuestion]:
    """The questions its own check would ask."""
    facts = reference()
    ends = [list_airports(facts, code) for code in (watch.origin, watch.destination)]
    questions = build_seats_questions(list(product(ends[0], ends[1])), watch.earliest, watch.latest, watch.airlines)
    return [question for question in questions if question.earliest <= question.latest]
