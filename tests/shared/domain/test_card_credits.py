"""Credits of cards by cycle: edges of months, half-years and years of the card, use, and what is due soon."""

from dataclasses import dataclass, replace
from datetime import date
from decimal import Decimal

import pytest

from shared.domain.card_credits import (
    Period,
    describe_state,
    find_cycle_start,
    find_period,
    find_state,
    sum_counted,
    sum_uncounted,
)


@dataclass(frozen=True)
class Credit:
    cycle: str = "monthly"
    amount: Decimal = Decimal(10)
    currency: str = "USD"
    counts: bool = False
    valid_from: date | None = None
    valid_to: date | None = None
    credit: str = "dining"
    name: str = "Dining credit"
    enrolment: bool = False
    merchants: tuple[str, ...] = ()


@pytest.mark.parametrize(
    ("cycle", "day", "first", "last"),
    [
        ("monthly", date(2028, 2, 29), date(2028, 2, 1), date(2028, 2, 29)),
        ("monthly", date(2027, 2, 28), date(2027, 2, 1), date(2027, 2, 28)),
        ("monthly", date(2026, 12, 31), date(2026, 12, 1), date(2026, 12, 31)),
        ("quarterly", date(2026, 3, 31), date(2026, 1, 1), date(2026, 3, 31)),
        ("quarterly", date(2026, 10, 1), date(2026, 10, 1), date(2026, 12, 31)),
        ("half_yearly", date(2026, 6, 30), date(2026, 1, 1), date(2026, 6, 30)),
        ("half_yearly", date(2026, 7, 1), date(2026, 7, 1), date(2026, 12, 31)),
        ("calendar_year", date(2026, 1, 1), date(2026, 1, 1), date(2026, 12, 31)),
    ],
)
def test_a_cycle_of_the_calendar(cycle: str, day: date, first: date, last: date) -> None:
    assert find_period(cycle, day, None) == Period(first, last)


@pytest.mark.parametrize(
    ("opened", "day", "first", "last"),
    [
        (date(2024, 5, 10), date(2026, 5, 9), date(2025, 5, 10), date(2026, 5, 9)),
        (date(2024, 5, 10), date(2026, 5, 10), date(2026, 5, 10), date(2027, 5, 9)),
        (date(2026, 11, 22), date(2026, 11, 22), date(2026, 11, 22), date(2027, 11, 21)),
        (date(2024, 2, 29), date(2027, 2, 27), date(2026, 2, 28), date(2027, 2, 27)),
        (date(2024, 2, 29), date(2027, 2, 28), date(2027, 2, 28), date(2028, 2, 28)),
        (date(2024, 2, 29), date(2028, 2, 29), date(2028, 2, 29), date(2029, 2, 27)),
    ],
)
def test_a_year_of_the_card(opened: date, day: date, first: date, last: date) -> None:
    assert find_period("anniversary", day, opened) == Period(first, last)


def test_a_year_nobody_named_has_no_days() -> None:
    assert find_period("yearly", date(2026, 11, 22), date(2024, 5, 10)) is None
    assert find_period("anniversary", date(2026, 11, 22), None) is None
    assert find_period("anniversary", date(2024, 1, 1), date(2024, 5, 10)) is None
    assert find_cycle_start("yearly", date(2026, 11, 22), None) == date(2026, 1, 1)
    assert find_cycle_start("half_yearly", date(2026, 11, 22), None) == date(2026, 7, 1)


def test_what_is_used_counts_in_its_own_cycle_only() -> None:
    used = {date(2026, 10, 1): Decimal(10), date(2026, 11, 1): Decimal(4)}
    state = find_state(Credit(), date(2026, 11, 22), None, None, used)
    assert (state.used, state.open, state.days_left, state.due_soon) == (4, 6, 8, True)
    assert find_state(Credit(), date(2026, 11, 19), None, None, used).due_soon is False
    spent = find_state(Credit(), date(2026, 11, 22), None, None, {date(2026, 11, 1): Decimal(10)})
    assert (spent.open, spent.due_soon) == (0, False)
    over = find_state(Credit(), date(2026, 11, 22), None, None, {date(2026, 11, 1): Decimal(12)})
    assert over.open == 0


def test_a_cycle_ends_early_with_the_credit_or_the_card() -> None:
    today = date(2026, 11, 22)
    withdrawn = find_state(Credit("calendar_year", valid_to=date(2026, 12, 1)), today, None, None, {})
    assert withdrawn.period == Period(date(2026, 1, 1), date(2026, 12, 1))
    closing = find_state(Credit("calendar_year"), today, None, date(2026, 11, 30), {})
    assert (closing.days_left, closing.due_soon) == (8, True)


def test_states_in_words() -> None:
    today = date(2026, 11, 22)
    half = Credit("half_yearly", Decimal(50))
    state = find_state(half, today, None, None, {date(2026, 7, 1): Decimal("10.5")})
    assert describe_state("Resy credit", half, state) == "Resy credit: 39.50 of 50 USD open until Thu 31 Dec 2026."
    yearly = Credit("yearly", Decimal(200))
    unknown = find_state(yearly, today, None, None, {})
    assert (unknown.period, unknown.due_soon) == (None, False)
    assert describe_state("Airline credit", yearly, unknown) == (
        "Airline credit: 200 of 200 USD open a year; when that year ends is not known."
    )


def test_a_year_of_the_card_without_its_opening_day_asks_for_it() -> None:
    credit = Credit("anniversary", Decimal(300))
    state = find_state(credit, date(2026, 11, 22), None, None, {date(2026, 1, 1): Decimal(100)})
    assert describe_state("Travel credit", credit, state) == (
        "Travel credit: 200 of 300 USD open a year of the card; record opened_on to know when that ends."
    )


def test_only_credits_for_travel_count_and_no_credits_are_not_nothing() -> None:
    travel, dining = Credit("anniversary", Decimal(300), counts=True), Credit()
    assert sum_counted([travel, dining], "USD") == 300
    assert sum_uncounted([travel, dining], "USD") == 120
    assert sum_counted([dining], "USD") == 0
    assert sum_counted([], "USD") is None
    assert sum_counted([replace(travel, currency="EUR")], "USD") == 0
