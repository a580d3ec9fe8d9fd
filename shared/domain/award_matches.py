"""Matches of a route monitor: which award seats fit its terms, and which of them are new since the last check."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from typing import Literal, Protocol, TypeVar, get_args

SeatsKnown = Literal["available", "none", "unknown"]
Weekday = Literal["mon", "tue", "wed", "thu", "fri", "sat", "sun"]
WEEKDAYS: tuple[Weekday, ...] = get_args(Weekday)  # in the order of date.weekday()


def judge_seats(seen: bool, *, answered: bool, on_sale: bool = True) -> SeatsKnown:
    """`none` means that every source answered and nothing is open; a failed one may have had seats."""
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
    def taxes(self) -> Decimal | None: ...
    @property
    def seats(self) -> int | None: ...
    @property
    def stops(self) -> int | None: ...


S = TypeVar("S", bound=SeatTerms)


@dataclass(frozen=True)
class MatchKey:
    """The key of a monitor's state: one carrier, programme, day and cabin."""

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
    """Terms of a watch. Points and taxes are per passenger; None means any."""

    earliest: date
    latest: date
    cabin: str | None = None
    airlines: frozenset[str] | None = None
    passengers: int = 1
    max_points: int | None = None
    programs: frozenset[str] | None = None  # whose prices count; None means any
    nonstop_only: bool = False
    weekdays: frozenset[str] | None = None
    max_taxes: Decimal | None = None
    max_taxes_currency: str | None = None

    def match(self, seat: SeatTerms) -> bool:
        """Whether a seat fits all terms except taxes, whose currencies need rates.

        An unknown number of seats is enough: the request to the provider already named the passengers. Unknown stops
        are no proof of a non-stop flight.
        """
        return (
            self.earliest <= seat.date <= self.latest
            and (not self.nonstop_only or seat.stops == 0)
            and (self.weekdays is None or WEEKDAYS[seat.date.weekday()] in self.weekdays)
            and (self.cabin is None or seat.cabin == self.cabin)
            and (self.airlines is None or seat.airline in self.airlines)
            and (self.programs is None or seat.program in self.programs)
            and (self.max_points is None or seat.points <= self.max_points)
            and (seat.seats is None or seat.seats >= self.passengers)
        )


def rank_value(seat: SeatTerms) -> tuple[int, bool, Decimal, date]:
    """Sorts the best value first: the fewest points, then the lowest taxes, known ones first, then the earliest day."""
    return seat.points, seat.taxes is None, seat.taxes or Decimal(0), seat.date


def find_best(terms: MonitorTerms, seats: Iterable[S]) -> dict[MatchKey, S]:
    """The best matching seat of each key."""
    best: dict[MatchKey, S] = {}
    for seat in seats:
        key = MatchKey.of(seat)
        if terms.match(seat) and (key not in best or rank_value(seat) < rank_value(best[key])):
            best[key] = seat
    return best


class FlownSeat(SeatTerms, Protocol):
    """A seat with its flight, as far as the source says."""

    @property
    def origin(self) -> str: ...
    @property
    def destination(self) -> str: ...
    @property
    def flight_numbers(self) -> tuple[str, ...]: ...


F = TypeVar("F", bound=FlownSeat)


def group_flight_days(seats: Iterable[F]) -> list[list[F]]:
    """Groups the prices by flight and day, in one cabin; groups and prices best first."""
    groups: dict[tuple[object, ...], list[F]] = {}
    for seat in sorted(seats, key=rank_value):
        flight = (seat.flight_numbers, seat.airline, seat.origin, seat.destination, seat.stops)
        groups.setdefault((seat.date, seat.cabin, *flight), []).append(seat)
    return list(groups.values())


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
