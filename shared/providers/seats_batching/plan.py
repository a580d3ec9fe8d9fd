"""Groups of questions about award seats that one search with lists of airports answers, without costing a page more.

A source that takes lists asks every origin with every destination, on every day from the first to the last: all
combinations cost rows too, and each page of rows costs a call of the day.
"""

from collections.abc import Callable, Iterable, Sequence
from datetime import date
from math import ceil

from shared.providers.contract import SeatsQuestion

RowsADay = Callable[[str, str], float]  # expected for one route
MAX_AIRPORTS = 30  # of one end of a search, so that its address stays short
_SLACK = 1.5  # a question whose cost grew more than this since sorting waits for the next round
_ROUNDS = 6  # of sorting questions; a seventh found nothing more


class Group:
    """A growing group of questions for one search. `rate` is the rows a day of all its routes."""

    def __init__(self, seed: SeatsQuestion, rows_a_day: RowsADay) -> None:
        self.rows_a_day = rows_a_day
        self.origins, self.destinations = [seed.origin], [seed.destination]
        self.earliest, self.latest = seed.earliest, seed.latest
        self.rate = rows_a_day(seed.origin, seed.destination)
        self.questions = [seed]

    @property
    def rows(self) -> float:
        return self.rate * _count_days(self.earliest, self.latest)

    def rate_with(self, question: SeatsQuestion) -> float:
        new_origin, new_destination = question.origin not in self.origins, question.destination not in self.destinations
        rate = self.rate
        if new_origin:
            rate += sum(self.rows_a_day(question.origin, end) for end in self.destinations)
        if new_destination:
            rate += sum(self.rows_a_day(start, question.destination) for start in self.origins)
        if new_origin and new_destination:
            rate += self.rows_a_day(question.origin, question.destination)
        return rate

    def rows_with(self, question: SeatsQuestion) -> float:
        """The rows it would have; infinite if its lists would be too long."""
        if max(len({*self.origins, question.origin}), len({*self.destinations, question.destination})) > MAX_AIRPORTS:
            return float("inf")
        days = _count_days(min(self.earliest, question.earliest), max(self.latest, question.latest))
        return self.rate_with(question) * days

    def add(self, question: SeatsQuestion) -> None:
        self.rate = self.rate_with(question)
        self.origins = list(dict.fromkeys((*self.origins, question.origin)))
        self.destinations = list(dict.fromkeys((*self.destinations, question.destination)))
        self.earliest, self.latest = min(self.earliest, question.earliest), max(self.latest, question.latest)
        self.questions.append(question)


def _count_days(first: date, last: date) -> int:
    return (last - first).days + 1


def plan_questions(
    questions: Sequence[SeatsQuestion], rows_a_day: RowsADay, page_rows: float, others: Iterable[SeatsQuestion] = ()
) -> list[Group]:
    """Groups that answer each question once, plus others that cost no extra page.

    A group has no more pages than its first question by itself.
    """
    groups: list[Group] = []
    waiting, spare = list(questions), list(others)
    while waiting:
        group = Group(waiting.pop(0), rows_a_day)
        capacity = page_rows * max(1, ceil(group.rows / page_rows))
        waiting = _grow(group, waiting, capacity)
        spare = _grow(group, spare, capacity)
        groups.append(group)
    return groups


def _grow(group: Group, questions: list[SeatsQuestion], capacity: float) -> list[SeatsQuestion]:
    """Adds the cheapest first; returns the rest."""
    for _ in range(_ROUNDS):
        before = group.rows
        prices = sorted((group.rows_with(question) - before, at) for at, question in enumerate(questions))
        taken = set()
        for price, at in prices:
            rows = group.rows_with(questions[at])
            if rows <= capacity and rows - group.rows <= max(1.0, _SLACK * price):
                group.add(questions[at])
                taken.add(at)
        questions = [question for at, question in enumerate(questions) if at not in taken]
        if not taken or not questions:
            break
    return questions
