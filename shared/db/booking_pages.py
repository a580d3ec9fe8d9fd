"""Lists of flights and stays in pages, with sums over all pages."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal
from typing import Any, Literal

import sqlalchemy as sa
from sqlalchemy import ColumnElement, func
from sqlalchemy.orm import InstrumentedAttribute, Session

from shared.db.bookings import FlightBooking, HotelBooking, Today, cheaper_now

When = Literal["upcoming", "past", "cancelled", "all"]


@dataclass(frozen=True)
class Sums:
    """Sums over all bookings that meet the conditions, not only those of the page."""

    total: int
    points: dict[str, int]  # by programme; of stays under one empty name
    cash: dict[str, Decimal]
    taxes: dict[str, Decimal]
    drops: int


def load_flight_page(
    session: Session, today: Today, when: When, only: Sequence[ColumnElement[bool]], page: int, per_page: int
) -> tuple[list[FlightBooking], Sums]:
    """The legs of one page, upcoming ones soonest first, else the newest first; and the sums of all pages."""
    fits = [
        *only,
        *_conditions_for(when, today, FlightBooking.departure_date, FlightBooking.origin, FlightBooking.cancelled_at),
    ]
    counted = FlightBooking.cancelled_at.is_(None) if when != "cancelled" else sa.true()
    sums = (
        sa.select(
            func.coalesce(FlightBooking.program, "unknown"),
            FlightBooking.taxes_currency,
            func.count(),
            func.sum(FlightBooking.points_spent).filter(counted),
            func.sum(FlightBooking.cash_paid).filter(counted),
            func.sum(FlightBooking.taxes_paid).filter(counted),
            sa.literal(0),
        )
        .where(*fits)
        .group_by(FlightBooking.program, FlightBooking.taxes_currency)
    )
    rows = _select_page(sa.select(FlightBooking).where(*fits), FlightBooking.departure_date, when, page, per_page)
    return list(session.scalars(rows)), _read_sums(session, sums)


def load_stay_page(
    session: Session, today: Today, when: When, only: Sequence[ColumnElement[bool]], page: int, per_page: int
) -> tuple[list[HotelBooking], Sums]:
    """The same for stays; a stay that has begun counts as upcoming until it is over."""
    fits = [
        *only,
        *_conditions_for(when, today, HotelBooking.check_out_date, HotelBooking.hotel_code, HotelBooking.cancelled_at),
    ]
    counted = HotelBooking.cancelled_at.is_(None) if when != "cancelled" else sa.true()
    sums = (
        sa.select(
            sa.literal(""),
            HotelBooking.cash_rate_currency,
            func.count(),
            func.sum(HotelBooking.original_points).filter(counted),
            func.sum(HotelBooking.original_pay_rate_usd).filter(counted, HotelBooking.kind == "cash"),
            sa.null(),
            func.count().filter(cheaper_now(today)),
        )
        .where(*fits)
        .group_by(HotelBooking.cash_rate_currency)
    )
    rows = _select_page(sa.select(HotelBooking).where(*fits), HotelBooking.check_in_date, when, page, per_page)
    return list(session.scalars(rows)), _read_sums(session, sums)


def _conditions_for(
    when: When,
    today: Today,
    day: InstrumentedAttribute[date],
    place: InstrumentedAttribute[str],
    cancelled_at: InstrumentedAttribute[datetime | None],
) -> list[ColumnElement[bool]]:
    if when == "all":
        return []
    if when == "cancelled":
        return [cancelled_at.is_not(None)]
    over = today.before(day, place)
    return [cancelled_at.is_(None), over if when == "past" else ~over]


def _select_page(rows: sa.Select[Any], day: InstrumentedAttribute[date], when: When, page: int, per_page: int) -> Any:
    id = day.class_.id
    order = (day, id) if when == "upcoming" else (day.desc(), id.desc())
    return rows.order_by(*order).offset((page - 1) * per_page).limit(per_page)


def _read_sums(session: Session, statement: sa.Executable) -> Sums:
    total, drops = 0, 0
    points: dict[str, int] = {}
    cash: dict[str, Decimal] = {}
    taxes: dict[str, Decimal] = {}
    for name, code, number, spent, paid, extra, cheaper in session.execute(statement):
        total, drops = total + number, drops + cheaper
        if spent:
            points[name] = points.get(name, 0) + int(spent)
        if paid is not None:
            cash[code] = cash.get(code, Decimal(0)) + paid
        if extra is not None:
            taxes[code] = taxes.get(code, Decimal(0)) + extra
    return Sums(total, points, cash, taxes, drops)
