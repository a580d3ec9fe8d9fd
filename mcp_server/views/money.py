"""Money in another currency as tools show it: what the domain converted goes in, the amount with its rate comes out."""

from datetime import date
from decimal import ROUND_HALF_UP, Decimal

from mcp_server.toolkit.results import Money, Part
from shared.domain.exchange import Converted
from shared.domain.minor_units import EXPONENTS


class ConvertedMoney(Part):
    """`rate` is units of this currency for one of the original; null where the amount was in it already."""

    amount: Money
    currency: str
    rate: Money | None
    rate_source: str | None
    rate_date: date | None


def cents(amount: Decimal, currency: str) -> Decimal:
    """Rounded to the smallest coin of the currency."""
    return amount.quantize(Decimal(1).scaleb(-EXPONENTS.get(currency, 2)), ROUND_HALF_UP)


def converted(made: Converted | None) -> ConvertedMoney | None:
    if made is None:
        return None
    return ConvertedMoney(
        amount=cents(made.amount, made.currency),
        currency=made.currency,
        rate=made.rate,
        rate_source=made.source,
        rate_date=made.day,
    )
