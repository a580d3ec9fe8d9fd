"""Status runs: known round trips that close a status gap in time, the cheapest first."""

import math
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal

POSITIONING_MILES = 600  # farthest start from home; the positioning flight is not priced


@dataclass(frozen=True)
class Run:
    """One known round trip on the carrier's own flights."""

    slug: str
    carrier: str
    stops: tuple[str, ...]
    cabin: str

    @property
    def turns_at(self) -> str | None:
        """The airport where it turns round; None where the way back is another one, which no return fare describes."""
        return self.stops[len(self.stops) // 2] if self.stops == self.stops[::-1] else None

    @property
    def changes(self) -> int:
        """Stops of one way."""
        return len(self.stops) // 2 - 1


@dataclass(frozen=True)
class ObservedFare:
    """A fare an account saw for such a round trip, in the programme's currency."""

    amount: Decimal
    day: date
    source: str
    seen_at: datetime
    checked_at: datetime | None


@dataclass(frozen=True)
class RunOption:
    """A run that can close a gap. Whatever depends on an unknown fare is None."""

    run: Run
    miles_from_home: int
    earned: Decimal | None
    without_fare: Decimal
    needed: int | None
    fare: Decimal | None = None
    observed_fare: ObservedFare | None = None
    earned_at_most: Decimal | None = None  # as if the whole fare counted, taxes too
    needed_at_least: int | None = None

    @property
    def lowest_total(self) -> Decimal | None:
        """The cost of the fewest runs that may suffice, since the taxes in the fare are unknown and do not count."""
        return None if self.fare is None or self.needed_at_least is None else self.fare * self.needed_at_least

    @property
    def total(self) -> Decimal | None:
        return None if self.fare is None or self.needed is None else self.fare * self.needed

    @property
    def per_unit(self) -> Decimal | None:
        return None if self.fare is None or not self.earned else self.fare / self.earned


def count_runs(missing: Decimal, earned: Decimal | None) -> int | None:
    if missing <= 0:
        return 0
    return math.ceil(missing / earned) if earned else None


def rank_runs(chances: Iterable[RunOption], days: int) -> list[RunOption]:
    """Ranks runs possible by the deadline, at most one a day: known costs first and lowest, then fewest
    runs, then those that count most, then those that start nearest home."""
    fit = [c for c in chances if c.miles_from_home <= POSITIONING_MILES and (_count_known_runs(c) or 0) <= days]
    return sorted(
        fit,
        key=lambda c: (
            c.total is None,
            c.total or 0,
            c.lowest_total is None,
            c.lowest_total or 0,
            c.miles_from_home > 0,
            c.needed is None,
            c.needed or 0,
            -c.without_fare,
            c.run.slug,
        ),
    )


def _count_known_runs(chance: RunOption) -> int | None:
    """The number of runs needed, or the fewest if the fare's taxes are unknown."""
    return chance.needed_at_least if chance.needed is None else chance.needed
