"""Exchange rates for estimates of value: the European Central Bank's of one day, the newest in this process.

The bank publishes none for the Gulf's currencies, which their own central banks keep at a fixed price of the dollar.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from functools import lru_cache

from shared.domain.dates import format_day

BANK = "European Central Bank"
BASE = "USD"  # values of points are published in it
_DIGITS = Decimal("0.0001")
# Units a dollar costs, with a page that has the rate. Kuwait's dinar follows a basket and has no place here.
PEGS: Mapping[str, tuple[Decimal, str]] = {
    "AED": (Decimal("3.6725"), "https://currentaffairs.adda247.com/list-of-currencies-used-in-gulf-countries/"),
    "BHD": (Decimal("0.376"), "http://www.cbb.gov.bh/printpage.php?page=exchange_rate_policy"),
    "OMR": (Decimal("0.3845"), "https://frankfurter.dev/fr/currencies/usd/omr/"),
    "QAR": (Decimal("3.64"), "https://frankfurter.dev/currencies/usd/qar/"),
    "SAR": (Decimal("3.75"), "https://currentaffairs.adda247.com/list-of-currencies-used-in-gulf-countries/"),
}


@dataclass(frozen=True)
class DayRates:
    """Units of each currency for one euro, as the bank published them for a day."""

    day: date
    per_euro: Mapping[str, Decimal]


@dataclass(frozen=True)
class ExchangeRate:
    """The value of a currency unit in US dollars."""

    currency: str
    usd_per_unit: Decimal
    day: date | None  # None for a rate fixed to the dollar, which is of no day


_newest: list[DayRates] = []  # rates from the live source since the start


def find_exchange_rate(currency: str) -> ExchangeRate | None:
    """Finds the bank's rate, else the fixed one; None if the currency has neither."""
    rates = _get_rates()
    per_euro = rates.per_euro.get(currency)
    if per_euro is None and currency in PEGS:
        return ExchangeRate(currency, 1 / PEGS[currency][0], None)
    return ExchangeRate(currency, rates.per_euro[BASE] / per_euro, rates.day) if per_euro else None


def convert_amount(amount: Decimal, currency: str, into: str) -> Decimal | None:
    """Converts without rounding; None if one of the currencies has no known rate."""
    if currency == into:
        return amount
    here, there = find_exchange_rate(currency), find_exchange_rate(into)
    return amount * here.usd_per_unit / there.usd_per_unit if here and there else None


def list_currencies() -> list[str]:
    return sorted({*_get_rates().per_euro, *PEGS})


def describe_rate(rate: ExchangeRate) -> str:
    """`1 GBP taken as 1.3399 USD, the European Central Bank's rate of 30 Oct 2026`, or that the rate is fixed."""
    worth = rate.usd_per_unit.quantize(_DIGITS) if rate.usd_per_unit >= _DIGITS * 1_000 else +rate.usd_per_unit
    origin = f"the {BANK}'s rate of {format_day(rate.day)}" if rate.day else "its rate fixed to the dollar"
    return f"1 {rate.currency} taken as {worth:.4g} USD, {origin}"


def take_up(rates: DayRates) -> bool:
    """Replaces the rates with newer ones; but not by a set that lost half its currencies or the dollar."""
    present = _get_rates()
    is_whole = BASE in rates.per_euro and 2 * len(rates.per_euro) > len(present.per_euro)
    if not is_whole or rates.day <= present.day:
        return False
    _newest[:] = [rates]
    return True


def _get_rates() -> DayRates:
    return _newest[0] if _newest else load_shipped_rates()


@lru_cache(maxsize=1)
def load_shipped_rates() -> DayRates:
    """The bank's file of one day as the package carries it; imported here because the package loads slowly."""
    from currency_converter import SINGLE_DAY_CURRENCY_FILE, CurrencyConverter

    file = CurrencyConverter(SINGLE_DAY_CURRENCY_FILE, decimal=True)
    day: date = file.bounds[BASE].last_date
    return DayRates(day, {code: Decimal(file.convert(1, "EUR", code)) for code in file.currencies})
