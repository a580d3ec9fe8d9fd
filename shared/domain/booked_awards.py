"""Rebooking of a booked award: what a cheaper seat saves after the fee for cancelling the old one."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from decimal import ROUND_CEILING, Decimal
from itertools import pairwise
from typing import Protocol

_CONNECTION = timedelta(days=1)  # a leg that leaves more than a day after the previous one is no connection


@dataclass(frozen=True)
class RedepositFee:
    """What cancelling costs each person: points of the programme, or money."""

    points: int
    money: Decimal | None
    currency: str | None


class AwardLeg(Protocol):
    @property
    def origin(self) -> str: ...
    @property
    def destination(self) -> str: ...
    @property
    def departure_date(self) -> date: ...


def build_fee(amount: Decimal | None, unit: str, currency: str, points_each: int) -> RedepositFee | None:
    """`unit`: cash, points, miles or `percent of miles`. None where the amount is not known."""
    if amount is None:
        return None
    if unit == "cash":
        return RedepositFee(0, amount, currency)
    points = amount * points_each / 100 if unit.startswith("percent") else amount
    return RedepositFee(int(points.to_integral_value(ROUND_CEILING)), None, None)


def find_ceiling(points_each: int, fee: RedepositFee | None) -> int:
    """The most points a new seat may cost so that everyone saves after the fee; 0 if none can."""
    return max(0, points_each - (fee.points if fee else 0) - 1)


def is_one_journey(legs: Sequence[AwardLeg]) -> bool:
    """Whether the legs follow each other as connections, and do not return to the start."""
    connected = all(
        a.destination == b.origin and timedelta(0) <= b.departure_date - a.departure_date <= _CONNECTION
        for a, b in pairwise(legs)
    )
    return connected and legs[-1].destination != legs[0].origin
