"""The award bookings of a year as redemptions: what was paid, and the price in cash they replaced."""

from dataclasses import dataclass, replace
from datetime import date
from decimal import Decimal
from typing import Literal

from sqlalchemy.orm import Session

from shared.db.bookings import FlightBooking, HotelBooking, HotelPrice
from shared.db.redemptions import AwardBookings, read_award_bookings
from shared.domain.redemptions import Cost, Redemption, join_costs
from shared.reference import hotels
from shared.reference.reference import Reference


@dataclass(frozen=True)
class BookedRedemption:
    """A booked redemption; `booking_id` is the first leg's."""

    booking_type: Literal["flight", "hotel"]
    booking_id: int
    program: str | None
    member: str
    day: date
    redemption: Redemption


def read_redemptions(session: Session, reference: Reference, year: int) -> list[BookedRedemption]:
    """Award bookings not cancelled whose travel starts in the year, the newest first."""
    booked = read_award_bookings(session, year)
    # Cash paid besides the points of a stay is not kept, so nothing is taken off.
    prices = {stay: price.latest for stay, price in booked.prices.items()}
    stays = [_to_stay(reference, stay, prices.get(stay.id)) for stay in booked.stays]
    redemptions = [*_list_flights(booked, year), *stays]
    return sorted(redemptions, key=lambda r: (r.day, r.booking_type, r.booking_id), reverse=True)


def _list_flights(booked: AwardBookings, year: int) -> list[BookedRedemption]:
    """Lists flights; a seen fare is only the price of a one-leg booking."""
    bookings: dict[object, list[FlightBooking]] = {}
    for leg in booked.legs:
        bookings.setdefault(leg.trip_id or leg.id, []).append(leg)
    mine = [
        (b, r)
        for b in bookings.values()
        if b[0].departure_date.year == year
        and (r := join_costs([Cost(leg.points_spent, leg.taxes_paid, leg.cash_price, leg.taxes_currency) for leg in b]))
    ]
    return [
        BookedRedemption(
            booking_type="flight",
            booking_id=b[0].id,
            program=next((leg.program for leg in b if leg.program), None),
            member=b[0].member,
            day=b[0].departure_date,
            redemption=_add_seen_price(r, booked.fares.get(b[0].id) if len(b) == 1 else None, b[0].taxes_currency),
        )
        for b, r in mine
    ]


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
    """Adds the seen price if none was given."""
    if redemption.cash_price is not None or not price:
        return redemption
    return replace(redemption, cash_price=price, currency=currency, basis="seen")
