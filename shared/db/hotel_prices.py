"""Prices seen for hotel stays, and the schedules by which the prices of booked stays are checked."""

from collections.abc import Sequence
from datetime import date, datetime, timedelta
from decimal import Decimal
from typing import NamedTuple

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import distinct_on, insert
from sqlalchemy.orm import Session

from shared.db.bookings import DAILY, HotelBooking, HotelPrice, HotelStay, Today, is_after_today
from shared.db.runs import Schedule
from shared.domain.watch_kinds import HOTEL_PRICE

FIRST_CHECKS_APART = timedelta(seconds=1)
Stay = tuple[str, date, date]  # the hotel's code, arrival and departure


def _of(stay: Stay, account_id: int) -> list[sa.ColumnElement[bool]]:
    """The condition for a stay's prices that an account may see."""
    return [
        HotelPrice.hotel_code == stay[0],
        HotelPrice.check_in_date == stay[1],
        HotelPrice.check_out_date == stay[2],
        sa.or_(HotelPrice.asker_id.is_(None), HotelPrice.asker_id == account_id),
    ]


_NEWEST = (HotelPrice.captured_at.desc(), HotelPrice.id.desc())


def prices(session: Session, stay: Stay, account_id: int, since: datetime, limit: int) -> Sequence[HotelPrice]:
    """Prices, the newest first."""
    statement = sa.select(HotelPrice).where(*_of(stay, account_id), HotelPrice.captured_at >= since)
    return session.scalars(statement.order_by(*_NEWEST).limit(limit)).all()


def prices_since_booking(session: Session, row: HotelStay, limit: int) -> Sequence[HotelPrice]:
    """The newest prices of a stored stay since its terms last changed."""
    return prices(session, stay_of(row), row.account_id, row.compared_since, limit)


def stay_of(row: HotelStay) -> Stay:
    return row.hotel_code, row.check_in_date, row.check_out_date


def find_shared_price(
    session: Session, stay: Stay, account_id: int, currency: str, since: datetime, *, own: bool = False
) -> HotelPrice | None:
    """A price seen since then by anyone with all sources answering, which saves asking again.

    `own`: only by this account, whose price differs.
    """
    comparable = sa.or_(HotelPrice.currency.is_(None), HotelPrice.currency == currency)
    statement = sa.select(HotelPrice).where(
        *_of(stay, account_id), HotelPrice.captured_at >= since, HotelPrice.complete, comparable
    )
    if own:
        statement = statement.where(HotelPrice.asker_id == account_id)
    return session.scalar(statement.order_by(*_NEWEST).limit(1))


class CheapNight(NamedTuple):
    """The lowest price of a night, from the stay it is part of."""

    hotel_code: str
    currency: str
    cash: Decimal


def find_cheapest_nights(
    session: Session, hotel_codes: Sequence[str], account_id: int, since: datetime
) -> list[CheapNight]:
    """The cheapest night at any of these hotels that an account may see, in each currency."""
    night = HotelPrice.cash / (HotelPrice.check_out_date - HotelPrice.check_in_date)
    statement = (
        sa.select(HotelPrice.hotel_code, HotelPrice.currency, night)
        .where(
            HotelPrice.hotel_code.in_(hotel_codes),
            HotelPrice.cash.is_not(None),
            HotelPrice.currency.is_not(None),
            HotelPrice.captured_at >= since,
            sa.or_(HotelPrice.asker_id.is_(None), HotelPrice.asker_id == account_id),
        )
        .ext(distinct_on(HotelPrice.currency))
        .order_by(HotelPrice.currency, night, HotelPrice.hotel_code)
    )
    return [
        CheapNight(code, currency, cash) for code, currency, cash in session.execute(statement) if currency and cash
    ]


def store_price(session: Session, row: HotelPrice) -> HotelPrice:
    """Stores a price, unless the answer it is from was already stored; looks that share an answer take turns."""
    turn = f"{row.hotel_code}|{row.check_in_date}|{row.check_out_date}"
    session.execute(sa.select(sa.func.pg_advisory_xact_lock(sa.func.hashtextextended(turn, 0))))
    same_price = sa.select(HotelPrice).where(
        HotelPrice.hotel_code == row.hotel_code,
        HotelPrice.check_in_date == row.check_in_date,
        HotelPrice.check_out_date == row.check_out_date,
        HotelPrice.captured_at == row.captured_at,
        HotelPrice.source == row.source,
        HotelPrice.asker_id.is_not_distinct_from(row.asker_id),
        HotelPrice.currency.is_not_distinct_from(row.currency),
    )
    if (existing := session.scalar(same_price.limit(1))) is not None:
        return existing
    session.add(row)
    session.flush()
    return row


def schedule_all_stays(session: Session, today: Today) -> int:
    """Gives every future stay without a watch one, the first checks a second apart. Returns their number."""
    lacking = (
        sa.select(
            sa.literal(HOTEL_PRICE.run),
            HotelBooking.id,
            sa.literal(DAILY, sa.Interval),
            sa.func.now()
            + sa.func.row_number().over(order_by=HotelBooking.id) * sa.literal(FIRST_CHECKS_APART, sa.Interval),
        )
        .outerjoin(Schedule, sa.and_(Schedule.kind == HOTEL_PRICE.run, Schedule.subject_id == HotelBooking.id))
        .where(
            Schedule.id.is_(None),
            HotelBooking.cancelled_at.is_(None),
            HotelBooking.hotel_code != "",
            is_after_today(HotelBooking.check_in_date, HotelBooking.hotel_code),
        )
    )
    schedules = insert(Schedule).from_select(
        ["kind", "subject_id", "every", "next_due_at"], lacking.params(today.parameters)
    )
    return len(session.execute(schedules.on_conflict_do_nothing().returning(Schedule.id)).all())
