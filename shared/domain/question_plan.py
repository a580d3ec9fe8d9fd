"""Plans of questions: which needs one search with lists of airports answers, at the price of the dearest alone.

A source that takes lists asks every origin with every destination, on every day from the first to the last: what lies
between costs rows too, and a call of the day is paid for each page of rows.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import date
from math import ceil
from typing import Generic, Protocol, TypeVar

RowsADay = Callable[[str, str], float]  # expected of one route
MAX_AIRPORTS = 30  # of one end of a search, so that its address stays short
_SLACK = 1.5  # a need that has become dearer than this since needs were put in order waits for the next round
_ROUNDS = 6  # of putting needs in order; a seventh found nothing more


class Need(Protocol):
    """One route in a window of days."""

    @property
    def origin(self) -> str: ...
    @property
    def destination(self) -> str: ...
    @property
    def earliest(self) -> date: ...
    @property
    def latest(self) -> date: ...


N = TypeVar("N", bound=Need)


@dataclass(frozen=True)
class Group(Generic[N]):
    """Needs that one search answers."""

    origins: tuple[str, ...]
    destinations: tuple[str, ...]
    earliest: date
    latest: date
    needs: tuple[N, ...]
    expected_rows: float


class _Growing(Generic[N]):
    """A group that takes in more needs. `rate` is the rows a day of all its routes together."""

    def __init__(self, seed: N, rows_a_day: RowsADay) -> None:
        self.rows_a_day = rows_a_day
        self.origins, self.destinations = [seed.origin], [seed.destination]
        self.earliest, self.latest = seed.earliest, seed.latest
        self.rate = rows_a_day(seed.origin, seed.destination)
        self.needs = [seed]

    @property
    def rows(self) -> float:
        return self.rate * _count_days(self.earliest, self.latest)

    def rate_with(self, need: N) -> float:
        new_origin, new_destination = need.origin not in self.origins, need.destination not in self.destinations
        rate = self.rate
        if new_origin:
            rate += sum(self.rows_a_day(need.origin, end) for end in self.destinations)
        if new_destination:
            rate += sum(self.rows_a_day(start, need.destination) for start in self.origins)
        if new_origin and new_destination:
            rate += self.rows_a_day(need.origin, need.destination)
        return rate

    def rows_with(self, need: N) -> float:
        """The rows it would have; without end for lists that would grow too long."""
        if max(len({*self.origins, need.origin}), len({*self.destinations, need.destination})) > MAX_AIRPORTS:
            return float("inf")
        days = _count_days(min(self.earliest, need.earliest), max(self.latest, need.latest))
        return self.rate_with(need) * days

    def add(self, need: N) -> None:
        self.rate = self.rate_with(need)
        self.origins = list(dict.fromkeys((*self.origins, need.origin)))
        self.destinations = list(dict.fromkeys((*self.destinations, need.destination)))
        self.earliest, self.latest = min(self.earliest, need.earliest), max(self.latest, need.latest)
        self.needs.append(need)

    def freeze(self) -> Group[N]:
        ends = tuple(self.origins), tuple(self.destinations)
        return Group(*ends, self.earliest, self.latest, tuple(self.needs), self.rows)


def _count_days(first: date, last: date) -> int:
    return (last - first).days + 1


def plan_questions(
    needs: Sequence[N], rows_a_day: RowsADay, page_rows: float, others: Iterable[N] = ()
) -> list[Group[N]]:
    """Groups that answer each need once, and of the others what costs no page more.

    A group has no more pages than its first need has alone.
    """
    groups: list[Group[N]] = []
    waiting, spare = list(needs), list(others)
    while waiting:
        group = _Growing(waiting.pop(0), rows_a_day)
        capacity = page_rows * max(1, ceil(group.rows / page_rows))
        waiting = _grow(group, waiting, capacity)
        spare = _grow(group, spare, capacity)
        groups.append(group.freeze())
    return groups


def _grow(group: _Growing[N], needs: list[N], capacity: float) -> list[N]:
    """Takes in the cheapest first; what is left over."""
    for _ in range(_ROUNDS):
        before = group.rows
        prices = sorted((group.rows_with(need) - before, at) for at, need in enumerate(needs))
        taken = set()
        for price, at in prices:
            rows = group.rows_with(needs[at])
            if rows <= capacity and rows - group.rows <= max(1.0, _SLACK * price):
                group.add(needs[at])
                taken.add(at)
        needs = [need for at, need in enumerate(needs) if at not in taken]
        if not taken or not needs:
            break
    return needs
