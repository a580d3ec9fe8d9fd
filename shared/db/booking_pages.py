"""Lists of flights and stays in pages, with sums over all pages."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal
from functools import lru_cache
from typing import Any, Literal

import sqlalchemy as sa
from sqlalchemy import ColumnElement, func
from sqlalchemy.orm import InstrumentedAttribute, Session

from shared.db.bookings import (
    FlightBooking,
    HotelBooking,
    HotelStay,
    Today,
    Watched,
    is_before_today,
    is_cheaper_now,
    list_watched,
    select_prices,
)
from shared.db.pagination import Rows, read_parts
from shared.db.vouchers import Voucher

When = Literal["upcoming", "past", "cancelled", "all"]


@dataclass(frozen=True)
class Sums:
    """Sums over all bookings that meet the conditions, not only those of the page."""

    total: int
    points: dict[str, int]  # by programme; for stays under one empty name
    cash: dict[str, Decimal]
    taxes: dict[str, Decimal]
    drops: int


@dataclass(frozen=True)
class FlightPage:
    rows: list[FlightBooking]
    vouchers: dict[int, list[int]]  # by booking
    sums: Sums


@dataclass(frozen=True)
class StayPage:
    rows: list[HotelStay]
    vouchers: dict[int, list[int]]
    prices: dict[int, Watched]
    sums: Sums


Filters = Mapping[str, Any]  # by name, the values rows must have
_FLIGHT_FILTERS: Mapping[str, ColumnElement[bool]] = {
    "airlines": func.lower(FlightBooking.airline) == sa.any_(sa.bindparam("airlines", type_=sa.ARRAY(sa.Text))),
    "program": FlightBooking.program == sa.bindparam("program"),
    "trip_id": FlightBooking.trip_id == sa.bindparam("trip_id"),
    "workspace_trip_id": FlightBooking.workspace_trip_id == sa.bindparam("workspace_trip_id"),
    "from_date": FlightBooking.departure_date >= sa.bindparam("from_date"),
    "to_date": FlightBooking.departure_date <= sa.bindparam("to_date"),
}
_STAY_FILTERS: Mapping[str, ColumnElement[bool]] = {
    "hotel_codes": HotelStay.hotel_code == sa.any_(sa.bindparam("hotel_codes", type_=sa.ARRAY(sa.Text))),
    "trip_id": HotelStay.trip_id == sa.bindparam("trip_id"),
    "with_drop": sa.and_(sa.bindparam("with_drop", type_=sa.Boolean), is_cheaper_now()),
}


def load_flight_page(session: Session, today: Today, when: When, only: Filters, page: int, per_page: int) -> FlightPage:
    """The legs of one page, upcoming ones soonest first, else newest first; and the sums over all pages.

    `only`: airlines (names in small letters), program, trip_id, workspace_trip_id, from_date, to_date.
    """
    filters = {name: value for name, value in only.items() if value is not None}
    selects = _select_flights(when, frozenset(filters))
    parts = read_parts(session, selects, **today.parameters, **filters, offset=(page - 1) * per_page, per_page=per_page)
    return FlightPage(parts["rows"], _list_vouchers(parts), _add_up(parts["sums"]))


def load_stay_page(
    session: Session,
    today: Today,
    when: When,
    only: Filters,
    page: int,
    per_page: int,
    table: type[HotelStay] = HotelBooking,
) -> StayPage:
    """The same for stays, booked or only watched; a current stay counts as upcoming until it is over.

    `only`: hotel_codes, trip_id, with_drop (true: those offered for less now).
    """
    filters = {name: value for name, value in only.items() if value is not None}
    selects = _select_stays(table, when, frozenset(filters))
    parts = read_parts(session, selects, **today.parameters, **filters, offset=(page - 1) * per_page, per_page=per_page)
    return StayPage(parts["rows"], _list_vouchers(parts), list_watched(parts["prices"]), _add_up(parts["sums"]))


def _list_vouchers(parts: Mapping[str, list[Any]]) -> dict[int, list[int]]:
    vouchers: dict[int, list[int]] = {row.id: [] for row in parts["rows"]}
    for booking, voucher in parts["vouchers"]:
        vouchers[booking].append(voucher)
    return vouchers


@lru_cache(maxsize=64)
def _select_flights(when: When, filters: frozenset[str]) -> Mapping[str, Rows]:
    table = FlightBooking
    fits = [_FLIGHT_FILTERS[name] for name in sorted(filters)]
    fits += _conditions_for(when, table.departure_date, table.origin, table.cancelled_at)
    counted = table.cancelled_at.is_(None) if when != "cancelled" else sa.true()
    sums = (
        sa.select(
            func.coalesce(table.program, "unknown"),
            table.taxes_currency,
            func.count(),
            func.sum(table.points_spent).filter(counted),
            func.sum(table.cash_paid).filter(counted),
            func.sum(table.taxes_paid).filter(counted),
            sa.literal(0),
        )
        .where(*fits)
        .group_by(table.program, table.taxes_currency)
    )
    rows = _select_page(sa.select(table).where(*fits), when, table.departure_date, table.departure_time)
    vouchers = _select_vouchers(Voucher.flight_booking_id, _select_ids(rows, table))
    return {"rows": rows, "sums": sums, "vouchers": vouchers}


@lru_cache(maxsize=64)
def _select_stays(table: type[HotelStay], when: When, filters: frozenset[str]) -> Mapping[str, Rows]:
    fits = [_STAY_FILTERS[name] for name in sorted(filters)]
    fits += _conditions_for(when, table.check_out_date, table.hotel_code, table.cancelled_at)
    counted = table.cancelled_at.is_(None) if when != "cancelled" else sa.true()
    sums = (
        sa.select(
            sa.literal(""),
            table.cash_rate_currency,
            func.count(),
            func.sum(table.original_points).filter(counted),
            func.sum(table.original_pay_rate_usd).filter(counted, table.kind == "cash"),
            sa.cast(sa.null(), sa.Numeric),
            func.count().filter(is_cheaper_now()),
        )
        .where(*fits)
        .group_by(table.cash_rate_currency)
    )
    rows = _select_page(sa.select(table).where(*fits), when, table.check_in_date)
    ids = _select_ids(rows, table)
    vouchers = _select_vouchers(Voucher.hotel_booking_id, ids)
    return {"rows": rows, "sums": sums, "vouchers": vouchers, "prices": select_prices(table.id.in_(ids))}


def _select_ids(rows: Rows, table: type[FlightBooking | HotelStay]) -> sa.Select[int]:
    ids = rows.with_only_columns(table.id).subquery()
    return sa.select(ids.c.id)


def _select_vouchers(booking: InstrumentedAttribute[int | None], ids: sa.Select[int]) -> Rows:
    return sa.select(booking, Voucher.id).where(booking.in_(ids)).order_by(Voucher.id)


def _conditions_for(
    when: When,
    day: InstrumentedAttribute[date],
    place: InstrumentedAttribute[str],
    cancelled_at: InstrumentedAttribute[datetime | None],
) -> list[ColumnElement[bool]]:
    if when == "all":
        return []
    if when == "cancelled":
        return [cancelled_at.is_not(None)]
    over = is_before_today(day, place)
    return [cancelled_at.is_(None), over if when == "past" else ~over]


def _select_page(rows: Rows, when: When, *moment: InstrumentedAttribute[Any]) -> Rows:
    """In order of time; within a day rows without an hour come last, or first if the newest come first."""
    columns = (*moment, moment[0].class_.id)
    order = columns if when == "upcoming" else [column.desc() for column in columns]
    return rows.order_by(*order).offset(sa.bindparam("offset")).limit(sa.bindparam("per_page"))


def _add_up(rows: Sequence[Any]) -> Sums:
    total, drops = 0, 0
    points: dict[str, int] = {}
    cash: dict[str, Decimal] = {}
    taxes: dict[str, Decimal] = {}
    for name, code, number, spent, paid, extra, cheaper in rows:
        total, drops = total + number, drops + cheaper
        if spent:
            points[name] = points.get(name, 0) + int(spent)
        if paid is not None:
            cash[code] = cash.get(code, Decimal(0)) + paid
        if extra is not None:
            taxes[code] = taxes.get(code, Decimal(0)) + extra
    return Sums(total, points, cash, taxes, drops)
