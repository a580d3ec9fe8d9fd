"""Rows that are exported to a provider: one for each balance, flight and stay of an account."""

from datetime import datetime
from typing import Any

from sqlalchemy import select
from sqlalchemy.orm import Session

from shared.db.balances import PointsBalance
from shared.db.bookings import FlightBooking, HotelBooking
from shared.providers.connectors import Row
from shared.reference.reference import Reference
from shared.services.bookings.bookings import flight_state, stay_state

MAX_ROWS = 2000  # of each kind, the latest


def build_rows(session: Session, reference: Reference, now: datetime) -> tuple[Row, ...]:
    balances = session.scalars(select(PointsBalance).order_by(PointsBalance.program, PointsBalance.member))
    newest = (
        select(FlightBooking).order_by(FlightBooking.departure_date.desc(), FlightBooking.id.desc()).limit(MAX_ROWS)
    )
    latest = select(HotelBooking).order_by(HotelBooking.check_in_date.desc(), HotelBooking.id.desc()).limit(MAX_ROWS)
    flights, stays = list(session.scalars(newest)), list(session.scalars(latest))
    return (
        *(_balance_row(reference, row) for row in balances),
        *(_flight_row(reference, row, now) for row in reversed(flights)),
        *(_stay_row(reference, row, now) for row in reversed(stays)),
    )


def _to_plain(values: dict[str, Any]) -> dict[str, Any]:
    """Days and times as text, money as a number."""
    plain: dict[str, Any] = {}
    for name, value in values.items():
        if value is None or isinstance(value, str | int):
            plain[name] = value
        elif hasattr(value, "isoformat"):
            plain[name] = value.isoformat()
        else:
            plain[name] = float(value)
    return plain


def _balance_row(reference: Reference, row: PointsBalance) -> Row:
    program = reference.programs.get(row.program)
    values = {
        "program": row.program,
        "name": program.name if program else row.program,
        "balance": row.balance,
        "expires_on": row.expires_on,
        "as_of": row.as_of,
        "state": row.source,
    }
    if row.member:
        return Row("balance", f"balance:{row.program}:{row.member}", _to_plain(values | {"member": row.member}))
    return Row("balance", f"balance:{row.program}", _to_plain(values))


def _flight_row(reference: Reference, row: FlightBooking, now: datetime) -> Row:
    values = {
        "airline": row.airline,
        "flight_number": row.flight_number,
        "origin": row.origin,
        "destination": row.destination,
        "departure_date": row.departure_date,
        "departure_time": row.departure_time,
        "cabin": row.cabin_class,
        "paid_with": row.kind,
        "points": row.points_spent,
        "cash": row.cash_paid,
        "currency": row.taxes_currency,
        "confirmation_number": row.confirmation_number,
        "state": flight_state(reference, row, now),
    }
    return Row("flight", f"flight:{row.id}", _to_plain(values))


def _stay_row(reference: Reference, row: HotelBooking, now: datetime) -> Row:
    values = {
        "hotel": row.hotel_name,
        "check_in": row.check_in_date,
        "check_out": row.check_out_date,
        "room": row.room_type,
        "paid_with": row.kind,
        "points": row.original_points,
        "cash": row.original_pay_rate_usd,
        "currency": row.cash_rate_currency,
        "confirmation_number": row.confirmation_number,
        "state": stay_state(reference, row, now),
    }
    return Row("hotel", f"hotel:{row.id}", _to_plain(values))
