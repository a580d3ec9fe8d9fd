"""Things in an account that can end: balances, vouchers, statuses, cards and bookings."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, fields
from datetime import date, timedelta
from functools import lru_cache
from typing import TypeVar

import sqlalchemy as sa
from sqlalchemy.orm import Session

from shared.db import upcoming_bookings
from shared.db.balances import PointsBalance
from shared.db.bookings import FlightBooking, HotelBooking
from shared.db.card_credits import CardCreditUse
from shared.db.card_spending import CardSpending, group_card_spending, select_card_spending
from shared.db.cards import Card
from shared.db.pagination import Rows, read_parts
from shared.db.profile import Profile
from shared.db.statuses import LoyaltyStatus
from shared.db.vouchers import Voucher

M = TypeVar("M", PointsBalance, LoyaltyStatus)
BONUS_WINDOW = timedelta(days=430)  # a year, the longest time to earn a bonus, and two months after it
MAX_ROWS = 10_000  # rows of a table; no person has that many


@dataclass(frozen=True)
class Holdings:
    """A person's records; tables that were not requested are empty."""

    balances: Sequence[PointsBalance] = ()
    vouchers: Sequence[Voucher] = ()
    statuses: Sequence[LoyaltyStatus] = ()
    cards: Sequence[Card] = ()
    credit_uses: Sequence[CardCreditUse] = ()
    card_spending: Mapping[int, CardSpending] = field(default_factory=dict)
    flights: Sequence[FlightBooking] = ()
    stays: Sequence[HotelBooking] = ()
    profile: Profile | None = None


TABLES = tuple(table.name for table in fields(Holdings))


def read_holdings(session: Session, since: date, tables: Collection[str] = TABLES) -> Holdings:
    """Reads vouchers that are free and unexpired, bookings neither over nor cancelled, and all of the rest."""
    parts = read_parts(session, _select_tables(frozenset(tables)), since=since, since_month=since - BONUS_WINDOW)
    return Holdings(
        **{name: rows for name, rows in parts.items() if name not in ("profile", "card_spending")},
        card_spending=group_card_spending(parts.get("card_spending", ())),
        profile=next(iter(parts.get("profile", ())), None),
    )


@lru_cache(maxsize=64)
def _select_tables(tables: frozenset[str]) -> Mapping[str, Rows]:
    since = sa.bindparam("since", type_=sa.Date)
    free = sa.and_(Voucher.flight_booking_id.is_(None), Voucher.hotel_booking_id.is_(None))
    lasting = sa.or_(Voucher.expires_on.is_(None), Voucher.expires_on >= since)
    selects: dict[str, Rows] = {
        "profile": sa.select(Profile),
        "balances": _order_by_program(PointsBalance),
        "vouchers": sa.select(Voucher).where(free, lasting).order_by(Voucher.id),
        "statuses": _order_by_program(LoyaltyStatus),
        "cards": sa.select(Card).order_by(Card.id),
        "credit_uses": sa.select(CardCreditUse),
        "card_spending": select_card_spending(sa.bindparam("since_month", type_=sa.Date)),
        "flights": upcoming_bookings.select_flights(since),
        "stays": upcoming_bookings.select_stays(since),
    }
    return {name: rows.limit(MAX_ROWS) for name, rows in selects.items() if name in tables}


def _order_by_program(table: type[M]) -> Rows:
    """Orders the account holder's row before other members'."""
    return sa.select(table).order_by(table.program, table.member)
