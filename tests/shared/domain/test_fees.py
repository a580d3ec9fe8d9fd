"""Averages of fees: added up over routes, never over currencies."""

from datetime import UTC, datetime
from decimal import Decimal

from shared.domain.fees import FeeSample, merge_samples

EARLY, LATE = datetime(2026, 1, 1, tzinfo=UTC), datetime(2026, 10, 1, tzinfo=UTC)


def make_sample(program: str, currency: str, low: int, high: int, samples: int, day: datetime) -> FeeSample:
    return FeeSample(program, currency, Decimal(low + high), Decimal(low), Decimal(high), samples, day, day)


def test_routes_are_added_up_into_one_row_with_range_and_age() -> None:
    (one,) = merge_samples(
        [make_sample("flying-blue", "EUR", 100, 200, 2, LATE), make_sample("flying-blue", "EUR", 50, 50, 2, EARLY)]
    )
    assert (one.average, one.low, one.high, one.samples) == (Decimal("100.00"), 50, 200, 4)
    assert (one.oldest, one.newest) == (EARLY, LATE)


def test_currencies_stay_apart() -> None:
    rows = merge_samples(
        [make_sample("flying-blue", "USD", 1, 2, 2, EARLY), make_sample("flying-blue", "EUR", 1, 2, 2, EARLY)]
    )
    assert [r.currency for r in rows] == ["EUR", "USD"]


def test_an_average_is_rounded_to_cents() -> None:
    assert make_sample("x", "EUR", 5, 5, 3, EARLY).average == Decimal("3.33")
