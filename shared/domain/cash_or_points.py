"""Comparison of a cash fare with an award's points and taxes.

All money is in one currency, and a point's worth in its hundredths. What is unknown is None and stays so.
"""

from dataclasses import dataclass
from decimal import Decimal
from typing import Literal

Advice = Literal["cash", "points"]


@dataclass(frozen=True)
class AwardPrice:
    """One passenger's points and taxes, and what such a point is usually worth."""

    points: int
    taxes: Decimal | None
    usual: Decimal | None

    @property
    def cost(self) -> Decimal | None:
        """The taxes and what the points are usually worth."""
        if self.taxes is None or self.usual is None:
            return None
        return self.taxes + self.points * self.usual / 100

    @property
    def order(self) -> tuple[bool, Decimal, int]:
        """Cheapest first; awards whose cost is not known come last, by points."""
        return (self.cost is None, self.cost or Decimal(0), self.points)


def value_point(cash: Decimal | None, award: AwardPrice) -> Decimal | None:
    """What a point buys here; below zero where the taxes alone are more than the fare."""
    if cash is None or award.taxes is None or award.points <= 0:
        return None
    return (cash - award.taxes) * 100 / award.points


def advise(cash: Decimal | None, award: AwardPrice) -> Advice | None:
    """Points where they buy at least what they are usually worth, else cash. Compared without a division."""
    if cash is None or award.taxes is None or award.usual is None or award.points <= 0:
        return None
    return "points" if (cash - award.taxes) * 100 >= award.usual * award.points else "cash"
