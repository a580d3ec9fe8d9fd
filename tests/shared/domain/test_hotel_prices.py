"""The price of nights and stays: the lowest offer of the sources, a free night, or that no source answered."""

from datetime import date, timedelta
from decimal import Decimal
from typing import Any

import pytest

from shared.domain import hotel_prices
from tests.support.fake_seats import stay

IN = date(2031, 5, 4)
FIVE = (IN, IN + timedelta(days=5))


def singles(*points: int | None) -> list[Any]:
    return [stay("h", IN + timedelta(days=n), 1, points=p) for n, p in enumerate(points)]


def test_a_night_nobody_spoke_of_is_unknown_and_one_said_to_be_full_is_none() -> None:
    assert hotel_prices.find_best_price([], "USD").state == "unknown"
    assert hotel_prices.find_best_price([stay("h", IN, 1, available=False)], "USD").state == "none"
    both = [stay("h", IN, 1, available=False), stay("h", IN, 1, cash=Decimal(90))]
    assert hotel_prices.find_best_price(both, "USD").state == "available"


def test_the_least_of_points_and_of_cash_may_come_from_two_offers() -> None:
    price = hotel_prices.find_best_price(
        [
            stay("h", IN, 1, points=30_000, room_type="King"),
            stay("h", IN, 1, points=25_000, cash=Decimal(300), room_type="Twin"),
            stay("h", IN, 1, cash=Decimal("210.50"), room_type="Queen"),
        ],
        "USD",
    )
    assert (price.points, price.cash, price.room_type) == (25_000, Decimal("210.50"), "Twin")
    assert price.cents_per_point == Decimal("0.84")


@pytest.mark.parametrize(
    ("points", "cash", "worth"),
    [(25_000, None, None), (None, Decimal(9), None), (30_000, Decimal("100.00"), Decimal("0.33")), (None, None, None)],
)
def test_a_points_worth_is_exact_or_unknown(points: int | None, cash: Decimal | None, worth: Decimal | None) -> None:
    assert hotel_prices.find_best_price([stay("h", IN, 1, points=points, cash=cash)], "USD").cents_per_point == worth


def test_cash_in_another_currency_is_told_as_it_is_and_never_mixed() -> None:
    dollars, euros = stay("h", IN, 1, cash=Decimal(100)), stay("h", IN, 1, cash=Decimal(90), currency="EUR")
    assert (
        hotel_prices.find_best_price([dollars, euros], "USD").cash,
        hotel_prices.find_best_price([dollars, euros], "EUR").cash,
    ) == (
        100,
        90,
    )
    only = hotel_prices.find_best_price([euros], "USD")
    assert (only.cash, only.currency) == (90, "EUR")


def test_a_free_night_is_taken_off_what_single_nights_add_up_to() -> None:
    nights = singles(20_000, 30_000, 25_000, 40_000, 30_000)
    whole = [stay("h", IN, 5, points=145_000, cash=Decimal(1250))]
    result = hotel_prices.find_stay_price([nights + whole], *FIVE, "USD", 5)
    assert (result.best.points, result.free_night, result.added_up) == (125_000, True, False)
    assert result.best.cents_per_point == Decimal("1.00")


def test_a_source_that_took_the_free_night_off_itself_is_believed() -> None:
    whole = [stay("h", IN, 5, points=120_000)]
    result = hotel_prices.find_stay_price([singles(*[30_000] * 5) + whole], *FIVE, "USD", 5)
    assert (result.best.points, result.free_night) == (120_000, False)


@pytest.mark.parametrize("every", [0, 6])
def test_without_a_rule_that_fits_nothing_is_taken_off(every: int) -> None:
    result = hotel_prices.find_stay_price([singles(*[30_000] * 5)], *FIVE, "USD", every)
    assert (result.best.points, result.free_night, result.added_up) == (150_000, False, True)


def test_nights_are_added_up_only_where_each_is_known_to_one_source() -> None:
    some = singles(30_000, None, 30_000, 30_000, 30_000)
    other = [stay("h", IN + timedelta(days=1), 1, points=10_000)]
    assert hotel_prices.find_stay_price([some, other], *FIVE, "USD", 5).best.points is None
    refused = [*singles(*[30_000] * 5), stay("h", IN, 5, available=False)]
    assert hotel_prices.find_stay_price([refused], *FIVE, "USD", 5).best.state == "none"
    cash_only = [*singles(*[30_000] * 5), stay("h", IN, 5, cash=Decimal(900))]
    assert hotel_prices.find_stay_price([cash_only], *FIVE, "USD", 5).best.points is None


def test_of_several_sources_the_cheapest_counts() -> None:
    one, two = [stay("h", IN, 5, points=90_000)], [stay("h", IN, 5, points=80_000, cash=Decimal(1))]
    assert hotel_prices.find_stay_price([one, two], *FIVE, "USD", 0).best.points == 80_000


@pytest.mark.parametrize(
    ("first", "last", "field"),
    [(0, 0, "check_out_date"), (-1, 3, "check_in_date"), (1, 32, "check_out_date"), (731, 733, "check_in_date")],
)
def test_dates_that_cannot_be_asked_for_are_named(first: int, last: int, field: str) -> None:
    (fault,) = hotel_prices.find_date_faults(IN + timedelta(days=first), IN + timedelta(days=last), IN)
    assert fault.field == field


def test_a_stay_from_today_of_thirty_nights_can_be_asked_for() -> None:
    assert hotel_prices.find_date_faults(IN, IN + timedelta(days=30), IN) == []


@pytest.mark.parametrize(
    ("booked", "offered", "same"),
    [
        ("Deluxe King", "King, Deluxe Room", True),
        ("Deluxe King", "Standard King", False),
        ("King", "Deluxe King", False),
        (None, "King", False),
        ("King", None, False),
        ("Room", "Room", False),
    ],
)
def test_a_room_is_the_one_booked_where_both_names_have_the_same_words(
    booked: str | None, offered: str | None, same: bool
) -> None:
    assert hotel_prices.is_same_room(booked, offered) is same
