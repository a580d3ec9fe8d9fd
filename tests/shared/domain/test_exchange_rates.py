"""Conversion by one set of rates: exact to the rounding, dated, and silent about what is not known."""

from datetime import date, timedelta
from decimal import Decimal

from hypothesis import given
from hypothesis import strategies as st

from shared.domain.exchange_rates import STALE_AFTER, EuroRate, Rates

TODAY = date(2026, 11, 21)
FRIDAY = date(2026, 11, 20)
SET = Rates(
    "a bank",
    {
        "EUR": EuroRate(Decimal(1), FRIDAY),
        "USD": EuroRate(Decimal("1.1204"), FRIDAY),
        "GBP": EuroRate(Decimal("0.8472"), FRIDAY - timedelta(days=1)),
        "JPY": EuroRate(Decimal("177.28"), TODAY - STALE_AFTER - timedelta(days=1)),
    },
    TODAY,
)
AMOUNTS = st.decimals(0, 10**7, places=2)
QUOTES = st.decimals("0.001", 30_000, places=4)


def test_a_cross_rate_goes_by_the_euro_and_bears_source_and_the_older_day() -> None:
    result = SET.convert(Decimal("84.72"), "GBP", "USD")
    assert result is not None
    assert (round(result.amount, 10), result.currency) == (Decimal("112.04"), "USD")
    assert result.rate is not None
    assert round(result.rate, 6) == Decimal("1.322474")
    assert (result.source, result.day) == ("a bank", FRIDAY - timedelta(days=1))


def test_an_amount_in_the_currency_asked_for_needs_no_rate() -> None:
    result = Rates("none", {}, TODAY).convert(Decimal("10.05"), "QAR", "QAR")
    assert result is not None
    assert (result.amount, result.rate, result.source, result.day) == (Decimal("10.05"), None, None, None)


def test_unknown_and_stale_rates_convert_nothing() -> None:
    assert SET.convert(Decimal(1), "QAR", "USD") is None
    assert SET.convert(Decimal(1), "USD", "QAR") is None
    assert SET.convert(Decimal(1), "JPY", "USD") is None
    assert SET.amount(None, "USD", "EUR") is None
    assert SET.amount(Decimal(1), None, "EUR") is None


def test_rates_of_seven_days_ago_still_stand() -> None:
    aged = Rates(
        "a bank", {"USD": EuroRate(Decimal("1.1"), TODAY - STALE_AFTER), "EUR": EuroRate(Decimal(1), TODAY)}, TODAY
    )
    assert aged.amount(Decimal(11), "USD", "EUR") == 10


@given(amount=AMOUNTS, here=QUOTES, there=QUOTES)
def test_there_and_back_is_the_same_to_far_beyond_a_cent(amount: Decimal, here: Decimal, there: Decimal) -> None:
    existing = Rates("x", {"AAA": EuroRate(here, TODAY), "BBB": EuroRate(there, TODAY)}, TODAY)
    away = existing.amount(amount, "AAA", "BBB")
    assert away is not None
    back = existing.amount(away, "BBB", "AAA")
    assert back is not None
    assert abs(back - amount) < Decimal("1e-9")
