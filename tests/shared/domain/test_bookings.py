"""Rules of bookings: which side of today a date lies on, what belongs to which kind, and what a drop is."""

from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared.domain import bookings

DAY = date(2027, 3, 10)
LEG: dict[str, Any] = {"origin": "LHR", "destination": "JFK", "departure_date": DAY, "kind": "award"}
STAY: dict[str, Any] = {"check_in_date": DAY, "check_out_date": DAY + timedelta(days=3), "kind": "award"}
days = st.dates(date(2020, 1, 1), date(2040, 1, 1))
prices = st.decimals(Decimal("0"), Decimal("99999"), places=2)


def faulty(what: Any, terms: dict[str, Any]) -> set[str]:
    return {fault.field for fault in bookings.find_faults(what, terms)}


@pytest.mark.parametrize(
    ("today", "cancelled", "state"),
    [
        (DAY - timedelta(days=1), False, "upcoming"),
        (DAY, False, "upcoming"),
        (DAY + timedelta(days=1), False, "past"),
        (DAY, True, "cancelled"),
        (DAY + timedelta(days=9), True, "cancelled"),
    ],
)
def test_a_leg_is_upcoming_through_its_day_unless_cancelled(today: date, cancelled: bool, state: str) -> None:
    assert bookings.get_flight_state(DAY, cancelled, today) == state


@pytest.mark.parametrize(
    ("after", "cancelled", "state"),
    [(-1, False, "upcoming"), (0, False, "current"), (3, False, "current"), (4, False, "past"), (1, True, "cancelled")],
)
def test_a_stay_is_current_from_its_first_day_through_the_day_of_leaving(
    after: int, cancelled: bool, state: str
) -> None:
    today = DAY + timedelta(days=after)
    assert bookings.get_stay_state(DAY, DAY + timedelta(days=3), cancelled, today) == state


def test_the_day_is_that_of_the_place() -> None:
    late = datetime(2027, 3, 10, 23, 30, tzinfo=UTC)
    places = [("NRT", "Asia/Tokyo"), ("LAX", "America/Los_Angeles"), ("LHR", "Europe/London")]
    assert bookings.split_by_local_day(places, late) == (["NRT"], [])
    assert bookings.split_by_local_day(places, late.replace(hour=3)) == ([], ["LAX"])


@pytest.mark.spec("s2.2.program_award_only", "s2.2.points_spent", "s2.2.cash_paid")
def test_each_way_of_paying_for_a_leg_refuses_what_belongs_to_the_other() -> None:
    assert faulty("flight", LEG | {"points_spent": 0, "program": "flying-blue"}) == set()
    assert faulty("flight", LEG | {"cash_paid": Decimal(0)}) == {"cash_paid"}
    cash = LEG | {"kind": "cash"}
    assert faulty("flight", cash) == {"cash_paid"}
    assert faulty("flight", cash | {"cash_paid": Decimal(0)}) == set()
    paid = cash | {"cash_paid": Decimal(1)}
    assert faulty("flight", paid | {"points_spent": 0, "program": "flying-blue"}) == {"points_spent", "program"}


@pytest.mark.spec("s2.3.original_points", "s2.3.cash_needs_pay_rate", "s2.3.award_may_have_pay_rate")
def test_each_way_of_paying_for_a_stay_has_its_terms() -> None:
    assert faulty("hotel", STAY | {"original_points": 1, "original_pay_rate_usd": Decimal(300)}) == set()
    cash = STAY | {"kind": "cash"}
    assert faulty("hotel", cash) == {"original_pay_rate_usd"}
    assert faulty("hotel", cash | {"original_pay_rate_usd": Decimal(0)}) == set()
    assert faulty("hotel", cash | {"original_pay_rate_usd": Decimal(9), "original_points": 1}) == {"original_points"}


def test_a_journey_goes_elsewhere_and_comes_back_no_earlier_than_it_left() -> None:
    assert faulty("flight", LEG | {"destination": "LHR"}) == {"destination"}
    assert faulty("flight", LEG | {"return_date": DAY - timedelta(days=1)}) == {"return_date"}
    assert faulty("flight", LEG | {"return_date": DAY}) == set()


@given(days, days)
def test_a_stay_has_at_least_one_night(arrives: date, leaves: date) -> None:
    wrong = faulty("hotel", STAY | {"check_in_date": arrives, "check_out_date": leaves})
    assert wrong == (set() if leaves > arrives else {"check_out_date"})


@given(days, days, st.booleans(), days)
def test_every_stay_is_in_exactly_one_state(arrives: date, leaves: date, cancelled: bool, today: date) -> None:
    state = bookings.get_stay_state(arrives, leaves, cancelled, today)
    assert (state == "cancelled") == cancelled
    assert cancelled or (state == "upcoming") == (today < arrives)
    assert cancelled or state != "past" or today > leaves


def test_points_count_for_an_award_and_cash_of_one_currency_for_a_rate() -> None:
    result = bookings.find_price_drop("award", (90_000, Decimal(900), "USD"), (60_000, Decimal(1), "USD"))
    assert result == bookings.PriceDrop(30_000, None, None, Decimal("33.3"), "original_points")
    result = bookings.find_price_drop("cash", (None, Decimal("1000.00"), "EUR"), (1, Decimal("875.50"), "EUR"))
    assert result == bookings.PriceDrop(None, Decimal("124.50"), "EUR", Decimal("12.5"), "original_pay_rate")
    assert bookings.find_price_drop("cash", (None, Decimal(1000), "EUR"), (None, Decimal(10), "USD")) is None
    assert bookings.find_price_drop("award", (None, Decimal(900), "USD"), (60_000, Decimal(1), "USD")) is None


@given(prices, prices)
def test_a_drop_is_never_more_than_all_and_never_a_rise(paid: Decimal, asked: Decimal) -> None:
    result = bookings.find_price_drop("cash", (None, paid, "USD"), (None, asked, "USD"))
    assert (result is None) == (asked >= paid)
    if result:
        assert result.cash_saved == paid - asked
        assert 0 <= result.percent <= 100


def test_a_point_is_worth_the_fare_it_replaced_less_what_was_paid_besides() -> None:
    assert bookings.value_point(Decimal("1850.40"), Decimal("350.40"), 100_000) == Decimal("1.50")
    assert bookings.value_point(Decimal(100), Decimal(150), 10_000) == Decimal("-0.50")
    assert bookings.value_point(Decimal(100), Decimal(0), 0) is None
