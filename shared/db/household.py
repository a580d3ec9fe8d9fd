"""The members of a household by what is kept of them."""

from sqlalchemy.orm import InstrumentedAttribute, Session

from shared.db.balances import PointsBalance
from shared.db.bookings import FlightBooking, HotelBooking
from shared.db.cards import Card
from shared.db.members import find_spelling
from shared.db.statuses import LoyaltyStatus

KINDS = (PointsBalance, LoyaltyStatus, Card, FlightBooking, HotelBooking)


def find_member(session: Session, name: str | None, column: InstrumentedAttribute[str]) -> str:
    """The name as it is already written in the column, else with other things kept, else as it is sent."""
    others = (kind.member for kind in KINDS)
    return find_spelling(session, name, column, *others)
