"""The log of redemptions as the portfolio shows it."""

from datetime import date
from typing import Literal

from mcp_server.toolkit.context import Call
from mcp_server.toolkit.results import Money, Part
from shared.domain import redemptions as rules
from shared.domain.minor_units import round_to_minor_unit
from shared.domain.plurals import pluralize
from shared.reference.exchange_rates import convert_amount
from shared.services.bookings.redemptions import BookedRedemption, read_redemptions
from shared.services.deadlines import Viewpoint

NEWEST = 10


class RedemptionRow(Part):
    """`basis`: whether the price in cash was given with the booking or seen for it. Amounts are in `currency`."""

    booking_type: Literal["flight", "hotel"]
    booking_id: int
    member: str | None
    program: str | None
    day: date
    points: int
    cash_price: Money | None
    taxes: Money | None
    basis: rules.Basis | None
    value: Money | None
    currency: str
    cents_per_point: Money | None


class Redemptions(Part):
    """Award bookings whose travel begins in `year`; the sums are of those whose value is known."""

    year: int
    count: int
    points: int
    value_got: Money
    currency: str
    cents_per_point: Money | None
    without_price: int
    without_taxes: int
    without_rate: int
    rows: list[RedemptionRow]


def list_redemptions(call: Call, view: Viewpoint) -> Redemptions:
    booked = read_redemptions(call.db, call.reference, view.today.year)
    sums = rules.sum_redemptions(
        [b.redemption for b in booked], lambda amount, currency: convert_amount(amount, currency, view.currency)
    )
    return Redemptions(
        year=view.today.year,
        count=sums.count,
        points=sums.points,
        value_got=round_to_minor_unit(sums.value, view.currency),
        currency=view.currency,
        cents_per_point=sums.cents_per_point,
        without_price=sums.without_price,
        without_taxes=sums.without_taxes,
        without_rate=sums.without_rate,
        rows=[_to_row(b) for b in booked[:NEWEST]],
    )


def _to_row(booked: BookedRedemption) -> RedemptionRow:
    redemption = booked.redemption
    return RedemptionRow(
        booking_type=booked.booking_type,
        booking_id=booked.booking_id,
        member=booked.member or None,
        program=booked.program,
        day=booked.day,
        points=redemption.points,
        cash_price=redemption.cash_price,
        taxes=redemption.taxes,
        basis=redemption.basis,
        value=redemption.value,
        currency=redemption.currency,
        cents_per_point=redemption.cents_per_point,
    )


def describe_redemptions(log: Redemptions) -> str:
    """One sentence; empty without an award booking this year."""
    reasons = (
        (log.without_price, "no cash price"),
        (log.without_taxes, "no taxes logged"),
        (log.without_rate, "a price in a currency without a known rate"),
    )
    others = " and ".join(f"{count} {'has' if count == 1 else 'have'} {what}" for count, what in reasons if count)
    if not log.count:
        return f" Of this year's redemptions {others}, so what they got is not known." if others else ""
    got = f"{round_to_minor_unit(log.value_got, log.currency):,} {log.currency}"
    what = f"{pluralize(log.count, 'redemption')} of {log.points:,} points got {got}"
    left_out = f"; besides, {others}" if others else ""
    return f" This year {what}, {log.cents_per_point} cents a point{left_out}."
