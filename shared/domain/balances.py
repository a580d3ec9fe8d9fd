"""Points balances: their value in money, and which of them expire soon."""

from datetime import date
from decimal import ROUND_HALF_UP, Decimal

ENDING_SOON_DAYS = 90
CENT = Decimal("0.01")


def value_balance(points: int, cents_per_point: Decimal) -> Decimal:
    """Points in whole currency units."""
    return (points * cents_per_point / 100).quantize(CENT, ROUND_HALF_UP)


def count_days_left(expires_on: date | None, today: date) -> int | None:
    return None if expires_on is None else (expires_on - today).days


def is_ending_soon(points: int, expires_on: date | None, today: date) -> bool:
    days = count_days_left(expires_on, today)
    return points > 0 and days is not None and 0 <= days <= ENDING_SOON_DAYS


def quote_rule(rule: str, months: int | None) -> str:
    """A programme's expiry rule as it is kept; no date is ever computed from it."""
    return f"{rule}, {months} months" if months else rule
