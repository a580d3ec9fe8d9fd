"""Price of buying points: blocks, minimums, order fees, bonuses and discounts."""

from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Decimal
from math import ceil

CENT = Decimal("0.01")
RATE = Decimal("0.0001")


@dataclass(frozen=True)
class PriceList:
    """A programme's prices: points come in blocks, and an order can have a fee."""

    price: Decimal
    per_points: int
    order_fee: Decimal
    minimum: int
    maximum: int | None
    increment: int

    @property
    def cents_per_point(self) -> Decimal:
        """Cents for a point, without the fee of the order."""
        return self.price * 100 / self.per_points


@dataclass(frozen=True)
class Sale:
    """A sale that runs: more points for the price, or the same points for less."""

    bonus_percent: int
    discount_percent: Decimal


NO_SALE = Sale(0, Decimal(0))


@dataclass(frozen=True)
class OrderQuote:
    """`quantity` points arrive for `total`; as points come in blocks, it can be more than was asked for."""

    quantity: int
    total: Decimal
    cents_per_point: Decimal


def price_point(prices: PriceList, sale: Sale) -> Decimal:
    """Cents for one point while the sale runs, without the fee of the order."""
    return prices.cents_per_point * (100 - sale.discount_percent) / (100 + sale.bonus_percent)


def quote_order(prices: PriceList, points: int, sale: Sale = NO_SALE) -> OrderQuote | None:
    """The smallest order that brings at least `points`; None if one order cannot be that large."""
    bought = max(ceil(points * 100 / (100 + sale.bonus_percent)), prices.minimum)
    bought = -(-bought // prices.increment) * prices.increment
    if prices.maximum is not None and bought > prices.maximum:
        return None
    money = prices.price * bought / prices.per_points * (100 - sale.discount_percent) / 100 + prices.order_fee
    total = money.quantize(CENT, ROUND_HALF_UP)
    received = bought * (100 + sale.bonus_percent) // 100
    return OrderQuote(received, total, (total * 100 / received).quantize(RATE, ROUND_HALF_UP))
