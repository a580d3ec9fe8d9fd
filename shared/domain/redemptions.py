"""Redemptions: the cash price that points replaced, less the taxes paid."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Decimal
from typing import Literal

Basis = Literal["given", "seen"]
_CENT = Decimal("0.01")


@dataclass(frozen=True)
class Cost:
    """The cost of one leg or stay; amounts in `currency`, for all travellers. None is unknown."""

    points: int | None
    taxes: Decimal | None
    cash_price: Decimal | None
    currency: str


@dataclass(frozen=True)
class Redemption:
    """One booking paid with points. `basis`: whether its price in cash was given or seen; None without one."""

    points: int
    taxes: Decimal | None
    cash_price: Decimal | None
    currency: str
    basis: Basis | None

    @property
    def value(self) -> Decimal | None:
        """The value in `currency`; below zero where the taxes exceeded the price."""
        return None if self.cash_price is None or self.taxes is None else self.cash_price - self.taxes

    @property
    def cents_per_point(self) -> Decimal | None:
        return None if self.value is None else _divide_value(self.value, self.points)


@dataclass(frozen=True)
class RedemptionSums:
    """`count`, `points` and `value` are of the redemptions whose value is known; the others are counted by reason."""

    count: int
    points: int
    value: Decimal
    cents_per_point: Decimal | None
    without_price: int
    without_taxes: int
    without_rate: int


def join_costs(costs: Sequence[Cost]) -> Redemption | None:
    """The legs of one booking as one redemption; None where no points are known.

    Has no price where a leg with separate points gives none, or where amounts are in several currencies.
    """
    paid = [cost for cost in costs if cost.points]
    if not paid:
        return None
    currencies = {cost.currency for cost in costs if cost.taxes or cost.cash_price}
    prices = [cost.cash_price for cost in costs if cost.cash_price]
    is_whole = len(currencies) == 1 and bool(prices) and (len(paid) == 1 or all(cost.cash_price for cost in paid))
    has_taxes = len(currencies) <= 1 and all(cost.taxes is not None for cost in paid)
    return Redemption(
        points=sum(cost.points or 0 for cost in paid),
        taxes=sum((cost.taxes or Decimal(0) for cost in costs), Decimal(0)) if has_taxes else None,
        cash_price=sum(prices, Decimal(0)) if is_whole else None,
        currency=min(currencies, default=paid[0].currency),
        basis="given" if is_whole else None,
    )


def sum_redemptions(
    redemptions: Sequence[Redemption], convert: Callable[[Decimal, str], Decimal | None]
) -> RedemptionSums:
    """`convert` gives an amount of a currency in that of the sums, None without a rate."""
    valued = [(r.points, convert(r.value, r.currency)) for r in redemptions if r.value is not None]
    values = [(points, value) for points, value in valued if value is not None]
    points, value = sum(p for p, _ in values), sum((v for _, v in values), Decimal(0))
    return RedemptionSums(
        count=len(values),
        points=points,
        value=value,
        cents_per_point=_divide_value(value, points) if points else None,
        without_price=sum(r.cash_price is None for r in redemptions),
        without_taxes=sum(r.cash_price is not None and r.taxes is None for r in redemptions),
        without_rate=len(valued) - len(values),
    )


def _divide_value(value: Decimal, points: int) -> Decimal:
    return (value * 100 / points).quantize(_CENT, ROUND_HALF_UP)
