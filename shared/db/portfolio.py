"""What an account holds that can end: balances, vouchers, statuses, cards and bookings."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, fields
from datetime import date, timedelta
from typing import TypeVar

import sqlalchemy as sa
from sqlalchemy.orm import Session

from shared.db import upcoming_bookings
from shared.db.balances import PointsBalance
from shared.db.bookings import FlightBooking, HotelBooking
from shared.db.card_credits import CardCreditUse
from shared.db.card_spending import CardSpending, read_card_spending
from shared.db.cards import Card
from shared.db.statuses import LoyaltyStatus
from shared.db.vouchers import Voucher

R = TypeVar("R")
M = TypeVar("M", PointsBalance, LoyaltyStatus)
BONUS_WINDOW = timedelta(days=430)  # a year, the longest time to earn a bonus in, and two months after it
MAX_ROWS = 10_000  # rows of a table; no person has so many


@dataclass(frozen=True)
class Holdings:
    """Tables that were not asked for are empty."""

    balances: Sequence[PointsBalance] = ()
    vouchers: Sequence[Voucher] = ()
    statuses: Sequence[LoyaltyStatus] = ()
    cards: Sequence[Card] = ()
    credit_uses: Sequence[CardCreditUse] = ()
    card_spending: Mapping[int, CardSpending] = field(default_factory=dict)
    flights: Sequence[FlightBooking] = ()
    stays: Sequence[HotelBooking] = ()


TABLES = tuple(table.name for table in fields(Holdings))


def read_holdings(session: Session, since: date, tables: Collection[str] = TABLES) -> Holdings:
    """Vouchers that are free and not over, bookings that are not over or cancelled; all of the rest."""
    free = sa.and_(Voucher.flight_booking_id.is_(None), Voucher.hotel_booking_id.is_(None))
    lasting = sa.or_(Voucher.expires_on.is_(None), Voucher.expires_on >= since)
    vouchers = sa.select(Voucher).where(free, lasting).order_by(Voucher.id)
    return Holdings(
        balances=_read_table(
            session,
            "balances" in tables,
            _order_by_program(PointsBalance),
        ),
        vouchers=_read_table(session, "vouchers" in tables, vouchers),
        statuses=_read_table(
            session,
            "statuses" in tables,
            _order_by_program(LoyaltyStatus),
        ),
        cards=_read_table(session, "cards" in tables, sa.select(Card).order_by(Card.id)),
        credit_uses=_read_table(session, "credit_uses" in tables, sa.select(CardCreditUse)),
        card_spending=read_card_spending(session, since - BONUS_WINDOW) if "card_spending" in tables else {},
        flights=upcoming_bookings.upcoming_flights(session, since, MAX_ROWS) if "flights" in tables else (),
        stays=upcoming_bookings.upcoming_stays(session, since, MAX_ROWS) if "stays" in tables else (),
    )


def _read_table(session: Session, is_included: bool, rows: sa.Select[R]) -> Sequence[R]:
    return session.scalars(rows.limit(MAX_ROWS)).all() if is_included else ()


def _order_by_program(table: type[M]) -> sa.Select[M]:
    """The account holder's row before those of other members."""
    return sa.select(table).order_by(table.program, table.member)
