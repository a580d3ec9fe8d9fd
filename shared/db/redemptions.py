"""The award bookings of a year, with the fares and prices that were seen for them."""

from collections.abc import Mapping, Sequence
from datetime import date
from decimal import Decimal
from typing import NamedTuple

import sqlalchemy as sa
from sqlalchemy.orm import Session

from shared.db.bookings import FlightBooking, HotelBooking, Watched, list_watched, select_last_fares, select_prices
from shared.db.pagination import Rows, read_parts

MAX_ROWS = 2_000  # of each kind; no one books that many in a year
_YEAR = sa.bindparam("first", type_=sa.Date), sa.bindparam("last", type_=sa.Date)


class AwardBookings(NamedTuple):
    """`fares` and `prices`, by leg and by stay, are for those without a given cash price."""

    legs: Sequence[FlightBooking]
    stays: Sequence[HotelBooking]
    fares: Mapping[int, Decimal]
    prices: Mapping[int, Watched]


def read_award_bookings(session: Session, year: int) -> AwardBookings:
    """Award bookings not cancelled whose travel starts in the year, with all legs of their trips, in order."""
    parts = read_parts(session, _AWARD_BOOKINGS, first=date(year, 1, 1), last=date(year, 12, 31))
    fares = {leg: price for leg, price in parts["fares"] if price is not None}
    return AwardBookings(parts["legs"], parts["stays"], fares, list_watched(parts["prices"]))


def _select_bookings() -> Mapping[str, Rows]:
    leg, stay = FlightBooking, HotelBooking
    flown = (leg.kind == "award", leg.cancelled_at.is_(None))
    in_year = leg.departure_date.between(*_YEAR)
    trips = sa.select(leg.trip_id).where(*flown, in_year, leg.trip_id.is_not(None))
    legs = sa.select(leg).where(*flown, sa.or_(in_year, leg.trip_id.in_(trips)))
    checked_in = stay.check_in_date.between(*_YEAR)
    slept = (stay.kind == "award", stay.cancelled_at.is_(None), stay.original_points > 0, checked_in)
    unpriced = sa.func.coalesce(stay.original_pay_rate_usd, 0) == 0
    return {
        "legs": legs.order_by(leg.departure_date, leg.id).limit(MAX_ROWS),
        "fares": select_last_fares(*flown, in_year, leg.cash_price.is_(None)).limit(MAX_ROWS),
        "stays": sa.select(stay).where(*slept).order_by(stay.check_in_date, stay.id).limit(MAX_ROWS),
        "prices": select_prices(sa.and_(*slept, unpriced)).limit(MAX_ROWS),
    }


_AWARD_BOOKINGS = _select_bookings()
