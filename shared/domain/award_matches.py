"""Matches of a route monitor: which award seats fit its terms, and which of them are new since the last check."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import date
from typing import Literal, Protocol, TypeVar

SeatsKnown = Literal["available", "none", "unknown"]


def judge_seats(seen: bool, *, answered: bool, on_sale: bool = True) -> SeatsKnown:
    """`none` means that every source that was asked looked and nothing is open; one that failed may have had seats."""
    if seen:
        return "available"
    return "none" if answered and on_sale else "unknown"


class SeatTerms(Protocol):
    """The fields of an award option that a monitor compares."""

    @property
    def airline(self) -> str: ...
    @property
    def program(self) -> str: ...
    @property
    def date(self) -> date: ...
    @property
    def cabin(self) -> str: ...
    @property
    def points(self) -> int: ...
    @property
    def seats(self) -> int | None: ...


S = TypeVar("S", bound=SeatTerms)


@dataclass(frozen=True)
class MatchKey:
    """What a monitor keeps a state for: one carrier, programme, day and cabin."""

    airline: str
    program: str
    date: date
    cabin: str

    @classmethod
    def of(cls, seat: SeatTerms) -> "MatchKey":
        return cls(seat.airline, seat.program, seat.date, seat.cabin)

    @classmethod
    def parse(cls, text: str) -> "MatchKey":
        airline, program, day, cabin = text.split("|")
        return cls(airline, program, date.fromisoformat(day), cabin)

    def __str__(self) -> str:
        return f"{self.airline}|{self.program}|{self.date.isoformat()}|{self.cabin}"


@dataclass(frozen=True)
class MonitorTerms:
    """Terms of a monitor. Points are per passenger; None means any."""

    earliest: date
    latest: date
    cabin: str | None = None
    airlines: frozenset[str] | None = None
    passengers: int = 1
    max_points: int | None = None
    programs: frozenset[str] | None = None  # whose prices count; None means anybody's

    def match(self, seat: SeatTerms) -> bool:
        """An unknown number of seats is enough: the request to the provider already named the passengers."""
        return (
            self.earliest <= seat.date <= self.latest
            and (self.cabin is None or seat.cabin == self.cabin)
            and (self.airlines is None or seat.airline in self.airlines)
            and (self.programs is None or seat.program in self.programs)
            and (self.max_points is None or seat.points <= self.max_points)
            and (seat.seats is None or seat.seats >= self.passengers)
        )


def find_best(terms: MonitorTerms, seats: Iterable[S]) -> dict[MatchKey, S]:
    """The cheapest matching seat of each key."""
    best: dict[MatchKey, S] = {}
    for seat in seats:
        key = MatchKey.of(seat)
        if terms.match(seat) and (key not in best or seat.points < best[key].points):
            best[key] = seat
    return best


def find_crossings(
    before: Mapping[MatchKey, bool], matching: Iterable[MatchKey], answered: Callable[[MatchKey], bool]
) -> tuple[list[MatchKey], dict[MatchKey, bool]]:
    """The keys that match now and did not when they last answered, and the states to remember.

    A key without an answer this time keeps its state. A key that answers for the first time is new
    when it matches. Keys that never matched are not stored.
    """
    now = [key for key in matching if answered(key)]
    fresh = [key for key in now if not before.get(key, False)]
    states = dict.fromkeys(now, True)
    states |= {key: False for key, matched in before.items() if matched and key not in states and answered(key)}
    return fresh, states
