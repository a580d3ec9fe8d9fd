"""The members of a household, from their records."""

from sqlalchemy.orm import InstrumentedAttribute, Session

from shared.db.balances import PointsBalance
from shared.db.bookings import FlightBooking, HotelBooking
from shared.db.cards import Card
from shared.db.members import find_spelling
from shared.db.statuses import LoyaltyStatus

KINDS = (PointsBalance, LoyaltyStatus, Card, FlightBooking, HotelBooking)


def find_member(session: Session, name: str | None, column: InstrumentedAttribute[str]) -> str:
    """The spelling already in the column, else the one of other records, else the name as sent."""
    others = (kind.member for kind in KINDS)
    return find_spelling(session, name, column, *others)
