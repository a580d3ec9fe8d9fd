"""The flights and stays of an account that are still ahead, soonest first.

Which day it is depends on the place, so the first day is one that has ended nowhere; callers check again.
"""

from datetime import date, datetime, timedelta

import sqlalchemy as sa
from sqlalchemy.orm import Session

from shared.db.bookings import FlightBooking, HotelBooking

MAX_ROWS = 1_000  # of each kind in one calendar


def earliest_today(now: datetime) -> date:
    """The earliest date that is still today anywhere."""
    return now.date() - timedelta(days=1)


def upcoming_flights(session: Session, since: date, most: int = MAX_ROWS) -> list[FlightBooking]:
    return list(session.scalars(select_flights(since).limit(most)))


def upcoming_stays(session: Session, since: date, most: int = MAX_ROWS) -> list[HotelBooking]:
    return list(session.scalars(select_stays(since).limit(most)))


def select_flights(since: date | sa.ColumnElement[date]) -> sa.Select[FlightBooking]:
    """Legs that leave, or come back, on that day or later."""
    ahead = sa.or_(FlightBooking.departure_date >= since, FlightBooking.return_date >= since)
    legs = sa.select(FlightBooking).where(ahead, FlightBooking.cancelled_at.is_(None))
    return legs.order_by(FlightBooking.departure_date, FlightBooking.departure_time, FlightBooking.id)


def select_stays(since: date | sa.ColumnElement[date]) -> sa.Select[HotelBooking]:
    """Stays that end on that day or later."""
    stays = sa.select(HotelBooking).where(HotelBooking.check_out_date >= since, HotelBooking.cancelled_at.is_(None))
    return stays.order_by(HotelBooking.check_in_date, HotelBooking.id)
