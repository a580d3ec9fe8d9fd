"""Points balances: their value in money, and which of them expire soon."""

from datetime import date
from decimal import Decimal

from shared.domain.minor_units import round_to_minor_unit

ENDING_SOON_DAYS = 90


def value_balance(points: int, cents_per_point: Decimal, currency: str = "USD") -> Decimal:
    """The value of points in whole units of a currency; the value of a point is in hundredths."""
    return round_to_minor_unit(points * cents_per_point / 100, currency)


def count_days_left(expires_on: date | None, today: date) -> int | None:
    return None if expires_on is None else (expires_on - today).days


def is_ending_soon(points: int, expires_on: date | None, today: date) -> bool:
    days = count_days_left(expires_on, today)
    return points > 0 and days is not None and 0 <= days <= ENDING_SOON_DAYS


def quote_rule(rule: str, months: int | None) -> str:
    """A programme's expiry rule in its stored words; no date is ever computed from it."""
    return f"{rule}, {months} months" if months else rule
