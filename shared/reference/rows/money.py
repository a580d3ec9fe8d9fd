"""Rows about money: what a unit of a currency is worth in US dollars, for adding up values kept in US cents."""

from dataclasses import dataclass
from decimal import Decimal

from shared.reference.rows.fact import Fact


@dataclass(frozen=True, slots=True)
class ExchangeRate(Fact):
    currency: str
    usd_per_unit: Decimal
