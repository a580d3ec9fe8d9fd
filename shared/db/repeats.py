"""Finds a saved row with the same natural key as a new one."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

import sqlalchemy as sa
from sqlalchemy.orm import Session

from shared.db.accounts import lock
from shared.db.base import Base
from shared.db.bookings import FlightBooking, HotelBooking
from shared.db.cards import Card
from shared.db.clients import ClientPortfolio
from shared.db.hotel_alerts import HotelAlert
from shared.db.lounges import LoungeVisit
from shared.db.standing_orders import StandingOrder
from shared.db.trips import ChatLink, ItineraryItem, Trip
from shared.db.vouchers import Voucher

Row = TypeVar("Row", bound=Base)


@dataclass(frozen=True)
class _NaturalKey:
    """Columns that must be equal, texts in any case; columns that may be missing on one side; and a condition on
    the other row."""

    same: tuple[str, ...]
    fits: tuple[str, ...] = ()
    requires: sa.ColumnElement[bool] | None = None


_KEYS: Mapping[type[Base], _NaturalKey] = {
    Card: _NaturalKey(("slug", "name", "member", "closed_on"), ("opened_on", "nickname")),
    FlightBooking: _NaturalKey(
        ("airline", "origin", "destination", "departure_date", "kind", "member"),
        ("flight_number", "confirmation_number"),
        FlightBooking.cancelled_at.is_(None),
    ),
    HotelBooking: _NaturalKey(
        ("hotel_code", "hotel_name", "check_in_date", "check_out_date", "kind", "member"),
        ("confirmation_number",),
        HotelBooking.cancelled_at.is_(None),
    ),
    HotelAlert: _NaturalKey(("hotel_code", "check_in_date", "check_out_date", "kind", "member")),
    Trip: _NaturalKey(("name", "start_date", "end_date"), ("destination",), requires=Trip.archived_at.is_(None)),
    LoungeVisit: _NaturalKey(("lounge_name", "airport", "visited_on")),
    Voucher: _NaturalKey(("voucher_slug", "reference", "expires_on")),
    ClientPortfolio: _NaturalKey(("client_name",), ("client_email", "phone")),
    ItineraryItem: _NaturalKey(("trip_id", "title", "day", "start_time")),
    ChatLink: _NaturalKey(("title", "url", "trip_id")),
    StandingOrder: _NaturalKey(
        ("prompt", "cadence", "run_hour", "run_weekday"), requires=StandingOrder.stopped_at.is_(None)
    ),
}


def find_repeat(session: Session, account_id: int, row: Row) -> Row | None:
    """The oldest row of the account that is the same as this one, which is not stored yet; None where there is none.

    Calls of one account wait for each other, so that a button pressed twice stores once.
    """
    lock(session, account_id)
    key, kind = _KEYS[type(row)], type(row)
    conditions = [_same(getattr(kind, name), getattr(row, name)) for name in key.same]
    query = sa.select(kind).where(*conditions).order_by(sa.inspect(kind).primary_key[0])
    rows = session.scalars(query if key.requires is None else query.where(key.requires))
    for other in rows:
        pairs = [(getattr(row, name), getattr(other, name)) for name in key.fits]
        if all(None in pair or "" in pair or len(set(map(_plain, pair))) == 1 for pair in pairs):
            return other
    return None


def _same(column: Any, value: Any) -> sa.ColumnElement[bool]:
    same: sa.ColumnElement[bool] = sa.func.lower(column) == value.lower() if isinstance(value, str) else column == value
    return same


def _plain(value: Any) -> str:
    """A value without case and punctuation: flights BA 0117 and ba117 are the same, and so are hyphenated codes."""
    text = re.sub(r"[\W_]", "", str(value).upper())
    return re.sub(r"(?<=[A-Z])0+(?=\d+$)", "", text)
