"""The fee of changing a booked award, the price below which that saves points, and what one journey is."""

from dataclasses import dataclass
from datetime import date
from decimal import Decimal

import pytest

from shared.domain.booked_awards import RedepositFee, build_fee, find_ceiling, is_one_journey


@dataclass(frozen=True)
class Leg:
    origin: str
    destination: str
    departure_date: date


def leg(pair: str, day: int) -> Leg:
    return Leg(pair[:3], pair[4:], date(2027, 3, day))


@pytest.mark.parametrize(
    ("amount", "unit", "fee", "ceiling"),
    [
        (Decimal(55), "cash", RedepositFee(0, Decimal(55), "USD"), 79_999),
        (Decimal(0), "cash", RedepositFee(0, Decimal(0), "USD"), 79_999),
        (Decimal(3000), "miles", RedepositFee(3000, None, None), 76_999),
        (Decimal(25), "percent of miles", RedepositFee(20_000, None, None), 59_999),
        (Decimal(90_000), "points", RedepositFee(90_000, None, None), 0),
        (None, "cash", None, 79_999),
    ],
)
def test_a_new_seat_has_to_save_points_after_the_fee(
    amount: Decimal | None, unit: str, fee: RedepositFee | None, ceiling: int
) -> None:
    assert build_fee(amount, unit, "USD", 80_000) == fee
    assert find_ceiling(80_000, fee) == ceiling


@pytest.mark.parametrize(
    ("legs", "one"),
    [
        ([leg("LHR-JFK", 1)], True),
        ([leg("LHR-JFK", 1), leg("JFK-BOS", 2)], True),
        ([leg("LHR-JFK", 1), leg("JFK-LHR", 2)], False),
        ([leg("LHR-JFK", 1), leg("JFK-BOS", 9)], False),
        ([leg("LHR-JFK", 1), leg("EWR-BOS", 1)], False),
    ],
)
def test_connections_make_one_journey_and_a_way_back_does_not(legs: list[Leg], one: bool) -> None:
    assert is_one_journey(legs) is one
