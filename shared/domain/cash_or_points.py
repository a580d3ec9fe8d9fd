"""Comparison of a cash fare with an award's points and taxes.

All money is in one currency, and a point's worth in its hundredths. Unknown values are None and stay so.
"""

from dataclasses import dataclass
from decimal import Decimal
from typing import Literal

Advice = Literal["cash", "points"]


@dataclass(frozen=True)
class AwardPrice:
    """One passenger's points and taxes, and the usual worth of a point."""

    points: int
    taxes: Decimal | None
    usual: Decimal | None

    @property
    def cost(self) -> Decimal | None:
        """The taxes plus the usual worth of the points."""
        if self.taxes is None or self.usual is None:
            return None
        return self.taxes + self.points * self.usual / 100

    @property
    def order(self) -> tuple[bool, Decimal, int]:
        """Cheapest first; awards whose cost is not known come last, by points."""
        return (self.cost is None, self.cost or Decimal(0), self.points)


def value_point(cash: Decimal | None, award: AwardPrice) -> Decimal | None:
    """What a point buys here; below zero where the taxes exceed the fare."""
    if cash is None or award.taxes is None or award.points <= 0:
        return None
    return (cash - award.taxes) * 100 / award.points


def advise(cash: Decimal | None, award: AwardPrice) -> Advice | None:
    """Advises points if they buy at least their usual worth, else cash. Compares without dividing."""
    if cash is None or award.taxes is None or award.usual is None or award.points <= 0:
        return None
    return "points" if (cash - award.taxes) * 100 >= award.usual * award.points else "cash"
