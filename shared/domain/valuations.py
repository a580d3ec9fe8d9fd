"""Value of a point: the spread of published values, and points in money."""

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal

VALUATION_CURRENCY = "USD"  # published values of points are in US cents

# The publishers of valuations, by the column of programs.csv with their figure.
PUBLISHERS = {
    "value_tpg": "The Points Guy",
    "value_upgraded_points": "Upgraded Points",
    "value_omaat": "One Mile at a Time",
}


@dataclass(frozen=True)
class Spread:
    """Cents for one point: the usual value, and the least and the most that was published, if anything was."""

    low: Decimal | None
    usual: Decimal
    high: Decimal | None


def find_spread(usual: Decimal | None, quoted: Sequence[Decimal]) -> Spread | None:
    """Finds the spread; None where no value is known; a value that was derived has none."""
    return None if usual is None else Spread(min(quoted, default=None), usual, max(quoted, default=None))


def value_in_cents(points: int, per_point: Decimal | None) -> Decimal | None:
    return None if per_point is None else points * per_point


def choose_value(own: Decimal | None, published: Decimal | None) -> Decimal | None:
    """Cents of one point: the person's own figure before the published one."""
    return published if own is None else own
