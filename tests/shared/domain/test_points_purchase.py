"""Orders of points: whole blocks, the fee of the order, sales."""

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared.domain.points_purchase import PriceList, Sale, price_point, quote_order

AVIOS = PriceList(Decimal(16), 1000, Decimal(15), 1000, 100_000, 1000)
PLAIN = PriceList(Decimal(10), 1000, Decimal(0), 1000, 80_000, 1000)


@pytest.mark.parametrize(
    ("wanted", "bought", "total"),
    [(1, 1_000, "31.00"), (1_001, 2_000, "47.00"), (100_000, 100_000, "1615.00")],
)
def test_an_order_is_rounded_up_to_whole_blocks(wanted: int, bought: int, total: str) -> None:
    result = quote_order(AVIOS, wanted)
    assert result is not None
    assert (result.quantity, result.total) == (bought, Decimal(total))


def test_an_order_above_the_most_is_not_quoted_unless_a_bonus_fills_it() -> None:
    assert quote_order(PLAIN, 80_001) is None
    doubled = quote_order(PLAIN, 160_000, Sale(100, Decimal(0)))
    assert doubled is not None
    assert (doubled.quantity, doubled.total, doubled.cents_per_point) == (160_000, Decimal("800.00"), Decimal("0.5"))


def test_a_discount_lowers_the_price_and_not_the_points() -> None:
    result = quote_order(PLAIN, 10_000, Sale(0, Decimal(25)))
    assert result is not None
    assert (result.quantity, result.total) == (10_000, Decimal("75.00"))
    assert price_point(PLAIN, Sale(0, Decimal(25))) == Decimal("0.75")


@given(wanted=st.integers(1, 150_000), bonus=st.integers(0, 150))
def test_a_quote_brings_what_was_wanted_in_the_smallest_order(wanted: int, bonus: int) -> None:
    sale = Sale(bonus, Decimal(0))
    result = quote_order(PLAIN, wanted, sale)
    if result is None:
        assert 80_000 * (100 + bonus) // 100 < wanted
        return
    assert result.quantity >= wanted
    bought = int(result.total * 100)
    assert bought == PLAIN.minimum or (bought - 1000) * (100 + bonus) // 100 < wanted
