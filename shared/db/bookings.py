"""Flights and stays a person booked, one row per leg and per stay, and the prices seen for a stay."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from functools import cached_property
from typing import Any
from uuid import UUID

import sqlalchemy as sa
from sqlalchemy import ColumnElement, ForeignKey, Index, func
from sqlalchemy.dialects.postgresql import ARRAY, array
from sqlalchemy.orm import InstrumentedAttribute, Mapped, Session, aliased, mapped_column, object_session

from shared import clock
from shared.db.base import AccountOwned, Base, ModeOwned, currency, iata, pk, stamp
from shared.db.members import member
from shared.db.observations import FareObservation
from shared.db.runs import Schedule, next_due
from shared.db.vouchers import Voucher
from shared.db.watches import Watch
from shared.domain.watch_kinds import HOTEL_PRICE

DAILY = timedelta(days=1)  # between two looks at the price of a stay


class FlightBooking(AccountOwned, Base):
    """One leg, paid with points or with cash. Times are local to their airport, as a ticket prints them."""

    __tablename__ = "flight_bookings"
    __table_args__ = (
        Index("ix_flight_bookings_newest", "account_id", "departure_date", "id"),
        sa.CheckConstraint("kind in ('award', 'cash')", name="kind"),
        sa.CheckConstraint("cabin_class in ('economy', 'premium_economy', 'business', 'first')", name="cabin_class"),
    )

    id: Mapped[pk]
    member: Mapped[member]
    airline: Mapped[str]
    flight_number: Mapped[str | None]
    origin: Mapped[iata]
    destination: Mapped[iata]
    departure_date: Mapped[date]
    departure_time: Mapped[time | None]
    departure_zone: Mapped[str | None]  # IANA zone of the origin when the time was stored
    arrival_date: Mapped[date | None]
    arrival_time: Mapped[time | None]
    arrival_zone: Mapped[str | None]
    return_date: Mapped[date | None]
    cabin_class: Mapped[str]
    kind: Mapped[str]
    program: Mapped[str | None]
    points_spent: Mapped[int | None] = mapped_column(sa.BigInteger)
    cash_paid: Mapped[Decimal | None]
    cash_price: Mapped[Decimal | None]  # of an award: what the journey costs in cash, for all travellers
    taxes_paid: Mapped[Decimal | None]
    taxes_currency: Mapped[currency]
    passengers: Mapped[int | None]
    confirmation_number: Mapped[str | None]
    notes: Mapped[str | None]
    trip_id: Mapped[UUID | None] = mapped_column(index=True)  # the caller's own, the same on every leg of one booking
    workspace_trip_id: Mapped[int | None] = mapped_column(ForeignKey("trips.id", ondelete="SET NULL"), index=True)
    inbound_mail_id: Mapped[UUID | None] = mapped_column(
        ForeignKey("inbound_mails.id", ondelete="SET NULL"), index=True
    )
    external_ref: Mapped[str | None]  # an integration's name of it
    changes: Mapped[list[dict[str, Any]]] = mapped_column(server_default=sa.text("'[]'"))  # by letters, the newest last
    letter_on: Mapped[date | None]  # the day of the newest letter that was filed here
    cancelled_at: Mapped[datetime | None]
    cancelled_on: Mapped[date | None]  # as a person says; None where a letter cancelled it
    points_back: Mapped[int | None] = mapped_column(sa.BigInteger)
    money_back: Mapped[Decimal | None]  # in taxes_currency
    points_credited: Mapped[int | None] = mapped_column(sa.BigInteger)  # of points_back: what a balance was given
    created_at: Mapped[stamp]
    updated_at: Mapped[datetime] = mapped_column(server_default=func.now(), onupdate=func.now())


class HotelBooking(Watch):
    """One stay. Its price is looked at daily until it begins or is cancelled."""

    KIND = HOTEL_PRICE
    __tablename__ = "hotel_bookings"
    __table_args__ = (
        Index("ix_hotel_bookings_newest", "account_id", "check_in_date", "id"),
        Index("ix_hotel_bookings_stay", "hotel_code", "check_in_date", "check_out_date"),
        sa.CheckConstraint("kind in ('award', 'cash')", name="kind"),
        sa.CheckConstraint("check_out_date > check_in_date", name="nights"),
    )

    id: Mapped[pk]
    member: Mapped[member]
    hotel_code: Mapped[str]  # htl_..., as get_hotel gives it; empty for a hotel that is none of the known ones
    hotel_name: Mapped[str]  # as it was called when the stay was stored
    hotel_city: Mapped[str | None]  # of a hotel without a code
    hotel_country: Mapped[str | None] = mapped_column(sa.String(2))
    check_in_date: Mapped[date]
    check_out_date: Mapped[date]
    kind: Mapped[str]
    original_points: Mapped[int | None] = mapped_column(sa.BigInteger)
    original_pay_rate_usd: Mapped[Decimal | None]  # whole stay, in cash_rate_currency
    cash_rate_currency: Mapped[currency]
    room_type: Mapped[str | None]
    rate_plan: Mapped[str | None]
    confirmation_number: Mapped[str | None]
    notes: Mapped[str | None]
    trip_id: Mapped[int | None] = mapped_column(ForeignKey("trips.id", ondelete="SET NULL"), index=True)
    inbound_mail_id: Mapped[UUID | None] = mapped_column(
        ForeignKey("inbound_mails.id", ondelete="SET NULL"), index=True
    )
    external_ref: Mapped[str | None]
    free_cancellation_until: Mapped[date | None]  # only where a confirmation stated one
    compared_since: Mapped[stamp]  # prices seen before it do not count: the dates or the room were others
    last_checked_at: Mapped[datetime | None]
    last_error: Mapped[str | None]
    told_price: Mapped[Decimal | None]  # the lowest price a notice was sent for; the next must be lower still
    changes: Mapped[list[dict[str, Any]]] = mapped_column(server_default=sa.text("'[]'"))
    letter_on: Mapped[date | None]
    cancelled_at: Mapped[datetime | None]
    cancelled_on: Mapped[date | None]
    points_back: Mapped[int | None] = mapped_column(sa.BigInteger)
    money_back: Mapped[Decimal | None]  # in cash_rate_currency
    points_credited: Mapped[int | None] = mapped_column(sa.BigInteger)
    created_at: Mapped[stamp]
    updated_at: Mapped[datetime] = mapped_column(server_default=func.now(), onupdate=func.now())

    @property
    def title(self) -> str:
        return f"The price of your stay at {self.hotel_name}"

    @property
    def interval(self) -> timedelta:
        return DAILY

    @property
    def has_ended(self) -> bool:
        return self.cancelled_at is not None or self.check_in_date < clock.today()

    @property
    def is_on(self) -> bool:
        """Its schedule alone says so."""
        session = object_session(self)
        return session is not None and self.id in next_due(session, HOTEL_PRICE.run, [self.id])

    def switch(self, *, on: bool) -> None:
        """A stay has no column for it."""


class HotelPrice(ModeOwned, Base):
    """What one stay at one hotel cost when it was looked at; everybody who booked that stay reads the same rows."""

    __tablename__ = "hotel_prices"
    __table_args__ = (
        Index("ix_hotel_prices_stay", "hotel_code", "check_in_date", "check_out_date", "captured_at"),
        sa.CheckConstraint("(source = 'sandbox') = synthetic", name="source_mode"),
    )

    id: Mapped[pk]
    hotel_code: Mapped[str]
    check_in_date: Mapped[date]
    check_out_date: Mapped[date]
    captured_at: Mapped[stamp]
    points: Mapped[int | None] = mapped_column(sa.BigInteger)  # whole stay
    cash: Mapped[Decimal | None]  # whole stay
    currency: Mapped[str | None] = mapped_column(sa.String(3))
    room_type: Mapped[str | None]
    source: Mapped[str]
    mode: Mapped[str]
    provider_checked_at: Mapped[datetime | None]
    complete: Mapped[bool] = mapped_column(server_default=sa.false())  # no source was missing: what is absent is gone
    asker_id: Mapped[int | None] = mapped_column(  # whose connection saw it; None = may be shown to anyone
        ForeignKey("accounts.id", ondelete="CASCADE"), index=True
    )


@dataclass(frozen=True)
class Today:
    """The UTC day, and the places where the day is another one: what decides on which side of today a date lies."""

    day: date
    ahead: Sequence[str]
    behind: Sequence[str]

    @cached_property
    def parameters(self) -> dict[str, Any]:
        """Of statements with the conditions below. The places are thousands, so they are one text and made once."""
        return {
            "yesterday": self.day - timedelta(days=1),
            "today": self.day,
            "tomorrow": self.day + timedelta(days=1),
            "ahead": f"{{{','.join(self.ahead)}}}",
            "behind": f"{{{','.join(self.behind)}}}",
        }


_YESTERDAY, _TODAY, _TOMORROW = (sa.bindparam(name, type_=sa.Date) for name in ("yesterday", "today", "tomorrow"))


def _is(place: InstrumentedAttribute[str], places: str) -> ColumnElement[bool]:
    return place == sa.any_(sa.cast(sa.bindparam(places, type_=sa.Text), ARRAY(sa.Text)))


def is_before_today(day: InstrumentedAttribute[date], place: InstrumentedAttribute[str]) -> ColumnElement[bool]:
    """Whether the day is over at the place. Only dates next to today need to know where it is."""
    return sa.or_(
        day < _YESTERDAY,
        sa.and_(day == _YESTERDAY, ~_is(place, "behind")),
        sa.and_(day == _TODAY, _is(place, "ahead")),
    )


def is_after_today(day: InstrumentedAttribute[date], place: InstrumentedAttribute[str]) -> ColumnElement[bool]:
    """Whether the day has not begun yet at the place."""
    return sa.or_(
        day > _TOMORROW,
        sa.and_(day == _TOMORROW, ~_is(place, "ahead")),
        sa.and_(day == _TODAY, _is(place, "behind")),
    )


@dataclass(frozen=True)
class Watched:
    """What is known of a stay's price: the newest one seen, the newest that compares with what was paid, the next."""

    latest: HotelPrice | None
    comparable: HotelPrice | None
    next_due_at: datetime | None


def detach_vouchers(session: Session, column: InstrumentedAttribute[int | None], bookings: Sequence[int]) -> list[int]:
    """Takes the vouchers off bookings; they are held again. Says which."""
    freed = sa.update(Voucher).where(column.in_(bookings)).values({column: None}).returning(Voucher.id)
    return sorted(session.scalars(freed, execution_options={"synchronize_session": False}))


def _prices(*conditions: ColumnElement[bool], showing: Any) -> sa.Select[Any]:
    """The newest price of the stay of the row next to it, seen since its terms are what they are."""
    return (
        sa.select(showing)
        .where(
            HotelPrice.hotel_code == HotelBooking.hotel_code,
            HotelPrice.check_in_date == HotelBooking.check_in_date,
            HotelPrice.check_out_date == HotelBooking.check_out_date,
            HotelPrice.captured_at >= HotelBooking.compared_since,
            sa.or_(HotelPrice.asker_id.is_(None), HotelPrice.asker_id == HotelBooking.account_id),
            *conditions,
        )
        .order_by(HotelPrice.captured_at.desc(), HotelPrice.id.desc())
        .limit(1)
    )


def _is_comparable() -> ColumnElement[bool]:
    """Points compare with an award's, cash of the same currency with a cash rate; and so does that there are none."""
    like = sa.or_(
        sa.and_(HotelBooking.kind == "award", HotelPrice.points.is_not(None)),
        sa.and_(HotelBooking.kind == "cash", HotelPrice.currency == HotelBooking.cash_rate_currency),
    )
    offered_value = sa.case((HotelBooking.kind == "award", HotelPrice.points), else_=HotelPrice.cash)
    return sa.or_(like, sa.and_(HotelPrice.complete, offered_value.is_(None)))


def prices_of(session: Session, rows: Iterable[HotelBooking]) -> dict[int, Watched]:
    """For each stay what is known of its price, all in one statement."""
    ids = [row.id for row in rows]
    return list_watched(session.execute(select_prices(HotelBooking.id.in_(ids)))) if ids else {}


def list_watched(rows: Iterable[Any]) -> dict[int, Watched]:
    """From the rows of `select_prices`, by the stay."""
    return {id: Watched(newest, like, due_at) for id, newest, like, due_at in rows}


def select_prices(which: ColumnElement[bool]) -> sa.Select[*tuple[Any, ...]]:
    latest, comparable = (
        aliased(HotelPrice, _prices(*only, showing=HotelPrice).correlate(HotelBooking).lateral())
        for only in ((), (_is_comparable(),))
    )
    due = sa.and_(Schedule.kind == HOTEL_PRICE.run, Schedule.subject_id == HotelBooking.id, Schedule.enabled)
    return (
        sa.select(HotelBooking.id, latest, comparable, Schedule.next_due_at)
        .select_from(HotelBooking)
        .outerjoin(latest, sa.true())
        .outerjoin(comparable, sa.true())
        .outerjoin(Schedule, due)
        .where(which)
    )


def is_cheaper_now() -> ColumnElement[bool]:
    """Whether a stay that has not begun is offered for less than it was booked for."""
    less = sa.case(
        (HotelBooking.kind == "award", HotelPrice.points < HotelBooking.original_points),
        else_=HotelPrice.cash < HotelBooking.original_pay_rate_usd,
    )
    newest = _prices(_is_comparable(), showing=less).correlate(HotelBooking).scalar_subquery()
    to_come = is_after_today(HotelBooking.check_in_date, HotelBooking.hotel_code)
    return sa.and_(HotelBooking.cancelled_at.is_(None), to_come, func.coalesce(newest, sa.false()))


MAX_LEGS = 50  # of one booking that are shown together; no ticket has as many


def find_legs(session: Session, row: FlightBooking) -> list[FlightBooking]:
    """All legs of the same multi-leg booking in the order they are flown; the leg itself when it is the only one."""
    if row.trip_id is None:
        return [row]
    in_order = (FlightBooking.departure_date, FlightBooking.departure_time.asc().nulls_last(), FlightBooking.id)
    siblings = sa.select(FlightBooking).where(FlightBooking.trip_id == row.trip_id)
    return list(session.scalars(siblings.order_by(*in_order).limit(MAX_LEGS)))


def find_last_fare(session: Session, row: FlightBooking) -> Decimal | None:
    """As select_last_fares, of one stored leg."""
    return next((price for _, price in session.execute(select_last_fares(FlightBooking.id == row.id))), None)


def select_last_fares(*which: ColumnElement[bool]) -> sa.Select[*tuple[Any, ...]]:
    """The last cash fare seen for the very journey of a leg: its airline alone, its days, cabin, people and currency.

    By leg, null without one. Fares an own connection saw are for its account only.
    """
    row = FlightBooking
    fare = (
        sa.select(FareObservation.price)
        .where(
            FareObservation.origin == row.origin,
            FareObservation.destination == row.destination,
            FareObservation.cabin == row.cabin_class,
            FareObservation.date == row.departure_date,
            FareObservation.return_date.is_not_distinct_from(row.return_date),
            FareObservation.passengers == row.passengers,
            FareObservation.currency == row.taxes_currency,
            FareObservation.carriers == array([row.airline]),
            ~FareObservation.city_wide,
            sa.or_(FareObservation.asker_id.is_(None), FareObservation.asker_id == row.account_id),
        )
        .order_by(FareObservation.seen_at.desc(), FareObservation.price)
        .limit(1)
        .correlate(row)
        .scalar_subquery()
    )
    return sa.select(row.id, fare).where(*which)
