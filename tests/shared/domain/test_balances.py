"""Worth, ends and quoted rules of points balances."""

from datetime import date
from decimal import Decimal

import pytest

from shared.domain.balances import count_days_left, is_ending_soon, quote_rule, value_balance

TODAY = date(2026, 5, 9)


@pytest.mark.parametrize(
    ("points", "cents", "amount"),
    [
        (100_000, "1.3", "1300.00"),
        (1, "1.275", "0.01"),
        (333, "1.5", "5.00"),
        (10**9, "2", "20000000.00"),
        (0, "1", "0"),
    ],
)
def test_worth_is_points_times_cents_in_whole_units(points: int, cents: str, amount: str) -> None:
    assert value_balance(points, Decimal(cents)) == Decimal(amount)


def test_days_are_counted_to_a_stored_date_only() -> None:
    assert count_days_left(None, TODAY) is None
    assert count_days_left(date(2026, 5, 19), TODAY) == 10


@pytest.mark.parametrize(
    ("points", "day", "soon"),
    [
        (1, date(2026, 8, 7), True),
        (1, date(2026, 8, 8), False),
        (1, TODAY, True),
        (1, date(2026, 5, 8), False),
        (0, TODAY, False),
        (1, None, False),
    ],
)
def test_points_end_soon_within_ninety_days(points: int, day: date | None, soon: bool) -> None:
    assert is_ending_soon(points, day, TODAY) is soon


def test_rule_is_quoted_with_its_months() -> None:
    assert quote_rule("activity", 36) == "activity, 36 months"
    assert quote_rule("never", None) == "never"
    assert quote_rule(None, None) is None
