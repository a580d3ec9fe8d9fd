"""What an agent kept in its account: its records in words, for the person who may claim them."""

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from shared.db.balances import PointsBalance
from shared.db.base import Base
from shared.db.bookings import FlightBooking, HotelBooking
from shared.db.cards import Card
from shared.db.clients import ClientPortfolio
from shared.db.delay_alerts import DelayAlert
from shared.db.flight_alerts import FlightAlert
from shared.db.lounges import LoungeVisit
from shared.db.route_monitors import RouteMonitor
from shared.db.spending import SpendingStatement
from shared.db.standing_orders import StandingOrder
from shared.db.statuses import LoyaltyStatus
from shared.db.trips import Trip
from shared.db.vouchers import Voucher
from shared.domain.plurals import pluralize

_NOUNS: dict[type[Base], tuple[str, str]] = {
    Trip: ("trip", ""),
    FlightBooking: ("flight booking", ""),
    HotelBooking: ("hotel booking", ""),
    PointsBalance: ("points balance", ""),
    Card: ("card", ""),
    LoyaltyStatus: ("elite status", "elite statuses"),
    Voucher: ("voucher", ""),
    RouteMonitor: ("route monitor", ""),
    FlightAlert: ("flight alert", ""),
    DelayAlert: ("delay alert", ""),
    StandingOrder: ("standing order", ""),
    SpendingStatement: ("statement", ""),
    LoungeVisit: ("lounge visit", ""),
    ClientPortfolio: ("client portfolio", ""),
}


def describe_records(db: Session, account_id: int) -> str:
    """Describes the records, such as "2 trips, 1 points balance"; empty when there are none."""
    tables = [model.__table__ for model in _NOUNS]
    counts = [select(func.count()).select_from(t).where(t.c.account_id == account_id).scalar_subquery() for t in tables]
    rows = zip(db.execute(select(*counts)).one(), _NOUNS.values(), strict=True)
    return ", ".join(pluralize(count, *nouns) for count, nouns in rows if count)
