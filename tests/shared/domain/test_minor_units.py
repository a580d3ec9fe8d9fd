"""Amounts in minor units of their currency become whole units."""

from decimal import Decimal

import pytest

from shared.domain.minor_units import from_minor_units


@pytest.mark.parametrize(
    ("amount", "currency", "expected"),
    [
        (98_700, "USD", Decimal("987.00")),
        (1, "EUR", Decimal("0.01")),
        (54_000, "JPY", Decimal(54_000)),
        (54_000, "KRW", Decimal(54_000)),
        (14_250, "KWD", Decimal("14.250")),
        (0, "GBP", Decimal(0)),
    ],
)
def test_each_currency_has_its_own_coin(amount: int, currency: str, expected: Decimal) -> None:
    assert from_minor_units(amount, currency) == expected
