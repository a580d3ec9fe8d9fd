"""What a card pays for one purchase: caps by month, quarter and year, shared by rates, used or unknown."""

from datetime import date
from decimal import Decimal

import pytest

from shared.domain.card_purchases import MonthlySpending, describe_cap, find_cycle_start, value_purchase
from shared.domain.card_value import CategoryRate

BASE = CategoryRate("base", Decimal(1), None)
TODAY = date(2026, 11, 22)


def spent(month: int, category: str, amount: int) -> MonthlySpending:
    return MonthlySpending(date(2026, month, 1), category, Decimal(amount))


@pytest.mark.parametrize(
    ("months", "day", "first"),
    [
        (1, date(2024, 2, 29), date(2024, 2, 1)),
        (3, date(2026, 3, 31), date(2026, 1, 1)),
        (3, date(2026, 4, 1), date(2026, 4, 1)),
        (12, date(2026, 12, 31), date(2026, 1, 1)),
    ],
)
def test_a_cap_is_counted_from_the_first_day_of_its_months(months: int, day: date, first: date) -> None:
    assert find_cycle_start(months, day) == first


def test_over_the_cap_the_base_rate_pays() -> None:
    rates = (BASE, CategoryRate("dining", Decimal(4), Decimal(1_000)))
    purchase = value_purchase(rates, "dining", Decimal(300), [spent(3, "dining", 900)], TODAY)
    assert purchase
    assert (purchase.points, purchase.at_rate) == (100 * 4 + 200, 100)
    assert describe_cap(purchase, "USD", "31 Oct 2026").endswith("100 USD are left")
    full = value_purchase(rates, "dining", Decimal(300), [spent(3, "dining", 1_000)], TODAY)
    assert full
    assert describe_cap(full, "USD", None) == (
        "the cap of 1,000 USD a year is reached as far as statements show: 1 point beyond it"
    )


def test_a_monthly_cap_looks_at_this_month_and_rates_of_a_group_share_it() -> None:
    dining, groceries = (
        CategoryRate(name, Decimal(5), Decimal(30_000), cap_group="food", cap_months=1)
        for name in ("dining", "groceries")
    )
    cells = [spent(10, "dining", 2_500), spent(11, "groceries", 2_000)]
    purchase = value_purchase((BASE, dining, groceries), "dining", Decimal(1_000), cells, TODAY)
    assert purchase
    assert purchase.cap
    assert (purchase.cap.amount, purchase.cap.cycle, purchase.cap.remaining) == (2_500, "month", 500)
    assert purchase.points == 500 * 5 + 500


def test_without_statements_of_the_cycle_the_use_of_a_cap_is_unknown() -> None:
    rates = (BASE, CategoryRate("fuel", Decimal(4), Decimal(4_000), cap_months=3))
    purchase = value_purchase(rates, "fuel", Decimal(100), [spent(9, "fuel", 1_000)], TODAY)
    assert purchase
    assert purchase.cap
    assert (purchase.points, purchase.cap.used) == (400, None)
    assert "a quarter is used is not known" in describe_cap(purchase, "USD", None)


def test_no_rate_no_value() -> None:
    assert value_purchase((), "dining", Decimal(1), (), TODAY) is None
    cash = value_purchase((CategoryRate("base", Decimal(2), None, percent=True),), "other", Decimal(50), (), TODAY)
    assert cash
    assert (cash.points, cash.cash, cash.cap, describe_cap(cash, "USD", None)) == (0, 1, None, "")
