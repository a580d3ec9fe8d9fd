"""What is saved already: a row that says the same as a new one in what makes it that row and no other."""

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
from shared.db.lounges import LoungeVisit
from shared.db.standing_orders import StandingOrder
from shared.db.trips import ChatLink, ItineraryItem, Trip
from shared.db.vouchers import Voucher

Row = TypeVar("Row", bound=Base)


@dataclass(frozen=True)
class _NaturalKey:
    """Columns that are the same, texts in any case; those that may be unknown on one side; and what the other row
    must be besides."""

    same: tuple[str, ...]
    fits: tuple[str, ...] = ()
    stands: sa.ColumnElement[bool] | None = None


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
    Trip: _NaturalKey(("name", "start_date", "end_date"), ("destination",), stands=Trip.archived_at.is_(None)),
    LoungeVisit: _NaturalKey(("lounge_name", "airport", "visited_on")),
    Voucher: _NaturalKey(("voucher_slug", "reference", "expires_on")),
    ClientPortfolio: _NaturalKey(("client_name",), ("client_email", "phone")),
    ItineraryItem: _NaturalKey(("trip_id", "title", "day", "start_time")),
    ChatLink: _NaturalKey(("title", "url", "trip_id")),
    StandingOrder: _NaturalKey(
        ("prompt", "cadence", "run_hour", "run_weekday"), stands=StandingOrder.stopped_at.is_(None)
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
    rows = session.scalars(query if key.stands is None else query.where(key.stands))
    return next((other for other in rows if all(_fits(row, other, name) for name in key.fits)), None)


def _same(column: Any, value: Any) -> sa.ColumnElement[bool]:
    same: sa.ColumnElement[bool] = sa.func.lower(column) == value.lower() if isinstance(value, str) else column == value
    return same


def _fits(row: Base, other: Base, name: str) -> bool:
    values = [getattr(each, name) for each in (row, other)]
    return any(value in (None, "") for value in values) or len({_plain(value) for value in values}) == 1


def _plain(value: Any) -> str:
    """A value without case and marks: flights BA 0117 and ba117 are one, and so are codes with a hyphen."""
    text = re.sub(r"[\W_]", "", str(value).upper())
    return re.sub(r"(?<=[A-Z])0+(?=\d+$)", "", text)
