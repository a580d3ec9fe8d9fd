"""The award bookings of a year as redemptions: what was paid, and the price in cash they replaced."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import date
from decimal import Decimal
from typing import Literal

import sqlalchemy as sa
from sqlalchemy.orm import Session

from shared.db.bookings import FlightBooking, HotelBooking, HotelPrice, find_last_fares, prices_of
from shared.domain.redemptions import Cost, Redemption, join_costs
from shared.reference import hotels
from shared.reference.reference import Reference

MAX_ROWS = 2_000  # of each kind; no person books as many in a year


@dataclass(frozen=True)
class BookedRedemption:
    """`booking_id` is of the first leg."""

    booking_type: Literal["flight", "hotel"]
    booking_id: int
    program: str | None
    member: str
    day: date
    redemption: Redemption


def read_redemptions(session: Session, reference: Reference, year: int) -> list[BookedRedemption]:
    """Award bookings that stand and whose travel begins in the year, the newest first."""
    redemptions = [*_read_flights(session, year), *_read_stays(session, reference, year)]
    return sorted(redemptions, key=lambda r: (r.day, r.booking_type, r.booking_id), reverse=True)


def _read_flights(session: Session, year: int) -> list[BookedRedemption]:
    row = FlightBooking
    of_award = (row.kind == "award", row.cancelled_at.is_(None))
    in_year = row.departure_date.between(date(year, 1, 1), date(year, 12, 31))
    trips = sa.select(row.trip_id).where(*of_award, in_year, row.trip_id.is_not(None))
    legs = sa.select(row).where(*of_award, sa.or_(in_year, row.trip_id.in_(trips)))
    bookings: dict[object, list[FlightBooking]] = {}
    for leg in session.scalars(legs.order_by(row.departure_date, row.id).limit(MAX_ROWS)):
        bookings.setdefault(leg.trip_id or leg.id, []).append(leg)
    mine = [(b, r) for b in bookings.values() if b[0].departure_date.year == year and (r := _join_legs(b))]
    lone = [b[0].id for b, r in mine if len(b) == 1 and r.cash_price is None]
    fares = find_last_fares(session, lone)
    return [
        BookedRedemption(
            booking_type="flight",
            booking_id=b[0].id,
            program=next((leg.program for leg in b if leg.program), None),
            member=b[0].member,
            day=b[0].departure_date,
            redemption=_add_seen_price(r, fares.get(b[0].id), b[0].taxes_currency),
        )
        for b, r in mine
    ]


def _join_legs(legs: Sequence[FlightBooking]) -> Redemption | None:
    return join_costs([Cost(leg.points_spent, leg.taxes_paid, leg.cash_price, leg.taxes_currency) for leg in legs])


def _read_stays(session: Session, reference: Reference, year: int) -> list[BookedRedemption]:
    """Cash paid besides the points of a stay is not kept, so nothing is taken off."""
    row = HotelBooking
    in_year = row.check_in_date.between(date(year, 1, 1), date(year, 12, 31))
    stays = session.scalars(
        sa.select(row)
        .where(row.kind == "award", row.cancelled_at.is_(None), row.original_points > 0, in_year)
        .order_by(row.check_in_date, row.id)
        .limit(MAX_ROWS)
    ).all()
    prices = prices_of(session, [stay for stay in stays if not stay.original_pay_rate_usd])
    return [_to_stay(reference, stay, price.latest if (price := prices.get(stay.id)) else None) for stay in stays]


def _to_stay(reference: Reference, row: HotelBooking, seen: HotelPrice | None) -> BookedRedemption:
    cost = Cost(row.original_points, Decimal(0), row.original_pay_rate_usd, row.cash_rate_currency)
    redemption = join_costs([cost]) or Redemption(0, Decimal(0), None, row.cash_rate_currency, None)
    is_same_room = seen is not None and (row.room_type is None or row.room_type == seen.room_type)
    if seen is not None and seen.currency and is_same_room:
        redemption = _add_seen_price(redemption, seen.cash, seen.currency)
    hotel = hotels.find_stored(reference, row.hotel_code)
    program = hotel.program if hotel else None
    return BookedRedemption("hotel", row.id, program, row.member, row.check_in_date, redemption)


def _add_seen_price(redemption: Redemption, price: Decimal | None, currency: str) -> Redemption:
    """With the price that was seen, where none was given."""
    if redemption.cash_price is not None or not price:
        return redemption
    return replace(redemption, cash_price=price, currency=currency, basis="seen")
