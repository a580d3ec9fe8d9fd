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
from shared.db.base import AccountOwned, ModeOwned, Numbered, Timestamped, currency, iata, stamp
from shared.db.members import member
from shared.db.observations import FareObservation
from shared.db.runs import Schedule, next_due
from shared.db.vouchers import Voucher
from shared.db.watches import Watch
from shared.domain.watch_kinds import HOTEL_ALERT, HOTEL_PRICE

DAILY = timedelta(days=1)  # between two looks at the price of a stay


class Booking:
    """What flights and stays have in common: who travels, the letters it is from, and what a cancellation gave back."""

    member: Mapped[member]
    confirmation_number: Mapped[str | None]
    notes: Mapped[str | None]
    inbound_mail_id: Mapped[UUID | None] = mapped_column(
        ForeignKey("inbound_mails.id", ondelete="SET NULL"), index=True
    )
    external_ref: Mapped[str | None]  # an integration's id for it
    changes: Mapped[list[dict[str, Any]]] = mapped_column(server_default=sa.text("'[]'"))  # by letters, the newest last
    letter_on: Mapped[date | None]  # the day of the newest letter that was filed here
    cancelled_at: Mapped[datetime | None]
    cancelled_on: Mapped[date | None]  # given by the person; None if a letter cancelled it
    points_back: Mapped[int | None] = mapped_column(sa.BigInteger)
    money_back: Mapped[Decimal | None]  # in the booking's currency
    points_credited: Mapped[int | None] = mapped_column(sa.BigInteger)  # of points_back: the part added to a balance


class FlightBooking(Booking, Timestamped, AccountOwned, Numbered):
    """One leg, paid with points or with cash. Times are local to their airport, as a ticket prints them."""

    __tablename__ = "flight_bookings"
    __table_args__ = (
        Index("ix_flight_bookings_newest", "account_id", "departure_date", "id"),
        sa.CheckConstraint("kind in ('award', 'cash')", name="kind"),
        sa.CheckConstraint("cabin_class in ('economy', 'premium_economy', 'business', 'first')", name="cabin_class"),
    )

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
    cash_price: Mapped[Decimal | None]  # of an award: the journey's price in cash, for all travellers
    taxes_paid: Mapped[Decimal | None]
    taxes_currency: Mapped[currency]
    passengers: Mapped[int | None]
    trip_id: Mapped[UUID | None] = mapped_column(index=True)  # the caller's own, the same on every leg of one booking
    workspace_trip_id: Mapped[int | None] = mapped_column(ForeignKey("trips.id", ondelete="SET NULL"), index=True)


class HotelStay(Booking, Watch):
    """One stay, booked or only watched. Its price is looked at daily until it starts or is cancelled.

    Statements about `HotelBooking` see only the booked ones, so nothing counts a stay that no one has booked.
    """

    __tablename__ = "hotel_bookings"
    __table_args__ = (
        Index("ix_hotel_bookings_newest", "account_id", "check_in_date", "id"),
        Index("ix_hotel_bookings_stay", "hotel_code", "check_in_date", "check_out_date"),
        sa.CheckConstraint("kind in ('award', 'cash')", name="kind"),
        sa.CheckConstraint("check_out_date > check_in_date", name="nights"),
    )
    __mapper_args__ = {"polymorphic_on": "booked", "polymorphic_abstract": True}

    hotel_code: Mapped[str]  # htl_..., as get_hotel gives it; empty for an unknown hotel
    hotel_name: Mapped[str]  # its name when the stay was stored
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
    trip_id: Mapped[int | None] = mapped_column(ForeignKey("trips.id", ondelete="SET NULL"), index=True)
    free_cancellation_until: Mapped[date | None]  # only where a confirmation stated one
    booked: Mapped[bool] = mapped_column(server_default=sa.true())
    # For a stay that is not booked. Without a price any award night will do.
    max_points_per_night: Mapped[int | None] = mapped_column(sa.BigInteger)
    max_cash_per_night: Mapped[Decimal | None]  # in cash_rate_currency
    active: Mapped[bool] = mapped_column(server_default=sa.true())  # until its owner pauses it, or the stay starts
    compared_since: Mapped[stamp]  # prices seen before do not count: the dates or the room were different
    last_checked_at: Mapped[datetime | None]
    last_error: Mapped[str | None]
    told_price: Mapped[Decimal | None]  # the lowest price a notice was sent for; the next must be lower still

    @property
    def nights(self) -> int:
        return (self.check_out_date - self.check_in_date).days

    @property
    def interval(self) -> timedelta:
        return DAILY

    @property
    def has_ended(self) -> bool:
        return self.cancelled_at is not None or self.check_in_date < clock.today()


class HotelBooking(HotelStay):
    """A booked stay."""

    KIND = HOTEL_PRICE
    __mapper_args__ = {"polymorphic_identity": True}

    @property
    def title(self) -> str:
        return f"The price of your stay at {self.hotel_name}"

    @property
    def is_on(self) -> bool:
        """Whether it is on: its schedule decides."""
        session = object_session(self)
        return session is not None and self.id in next_due(session, self.KIND.run, [self.id])

    def switch(self, *, on: bool) -> None:
        """Does nothing: a booked stay has no column for it."""


class HotelPrice(ModeOwned, Numbered):
    """A price seen for a stay at a hotel; everyone who booked that stay reads the same rows."""

    __tablename__ = "hotel_prices"
    __table_args__ = (
        Index("ix_hotel_prices_stay", "hotel_code", "check_in_date", "check_out_date", "captured_at"),
        sa.CheckConstraint("(source = 'sandbox') = synthetic", name="source_mode"),
    )

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
    """The UTC day, and the places with a different day, to compare dates with today."""

    day: date
    ahead: Sequence[str]
    behind: Sequence[str]

    @cached_property
    def parameters(self) -> dict[str, Any]:
        """Parameters for the conditions below. Thousands of places form one text, made once."""
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
    """Whether the day has not started yet at the place."""
    return sa.or_(
        day > _TOMORROW,
        sa.and_(day == _TOMORROW, ~_is(place, "ahead")),
        sa.and_(day == _TODAY, _is(place, "behind")),
    )


@dataclass(frozen=True)
class Watched:
    """What is known of a stay's price: the newest, the newest comparable with what was paid, and the next check."""

    latest: HotelPrice | None
    comparable: HotelPrice | None
    next_due_at: datetime | None


def detach_vouchers(session: Session, column: InstrumentedAttribute[int | None], bookings: Sequence[int]) -> list[int]:
    """Takes the vouchers off bookings, which frees them; returns them."""
    freed = sa.update(Voucher).where(column.in_(bookings)).values({column: None}).returning(Voucher.id)
    return sorted(session.scalars(freed, execution_options={"synchronize_session": False}))


def _prices(*conditions: ColumnElement[bool], showing: Any) -> sa.Select[Any]:
    """The newest price of the joined row's stay, seen since its terms last changed."""
    return (
        sa.select(showing)
        .where(
            HotelPrice.hotel_code == HotelStay.hotel_code,
            HotelPrice.check_in_date == HotelStay.check_in_date,
            HotelPrice.check_out_date == HotelStay.check_out_date,
            HotelPrice.captured_at >= HotelStay.compared_since,
            sa.or_(HotelPrice.asker_id.is_(None), HotelPrice.asker_id == HotelStay.account_id),
            *conditions,
        )
        .order_by(HotelPrice.captured_at.desc(), HotelPrice.id.desc())
        .limit(1)
    )


def _is_comparable() -> ColumnElement[bool]:
    """Compares points with an award's, cash with a cash rate of the same currency, and "none" with both."""
    like = sa.or_(
        sa.and_(HotelStay.kind == "award", HotelPrice.points.is_not(None)),
        sa.and_(HotelStay.kind == "cash", HotelPrice.currency == HotelStay.cash_rate_currency),
    )
    offered_value = sa.case((HotelStay.kind == "award", HotelPrice.points), else_=HotelPrice.cash)
    return sa.or_(like, sa.and_(HotelPrice.complete, offered_value.is_(None)))


def prices_of(session: Session, rows: Iterable[HotelStay]) -> dict[int, Watched]:
    """What is known of each stay's price, in one statement."""
    ids = [row.id for row in rows]
    return list_watched(session.execute(select_prices(HotelStay.id.in_(ids)))) if ids else {}


def list_watched(rows: Iterable[Any]) -> dict[int, Watched]:
    """From the rows of `select_prices`, by the stay."""
    return {id: Watched(newest, like, due_at) for id, newest, like, due_at in rows}


def select_prices(which: ColumnElement[bool]) -> sa.Select[*tuple[Any, ...]]:
    latest, comparable = (
        aliased(HotelPrice, _prices(*only, showing=HotelPrice).correlate(HotelStay).lateral())
        for only in ((), (_is_comparable(),))
    )
    run = sa.case((HotelStay.booked, HOTEL_PRICE.run), else_=HOTEL_ALERT.run)
    due = sa.and_(Schedule.kind == run, Schedule.subject_id == HotelStay.id, Schedule.enabled)
    return (
        sa.select(HotelStay.id, latest, comparable, Schedule.next_due_at)
        .select_from(HotelStay)
        .outerjoin(latest, sa.true())
        .outerjoin(comparable, sa.true())
        .outerjoin(Schedule, due)
        .where(which)
    )


def is_cheaper_now() -> ColumnElement[bool]:
    """Whether a future stay is now offered for less than booked."""
    less = sa.case(
        (HotelStay.kind == "award", HotelPrice.points < HotelStay.original_points),
        else_=HotelPrice.cash < HotelStay.original_pay_rate_usd,
    )
    newest = _prices(_is_comparable(), showing=less).correlate(HotelStay).scalar_subquery()
    to_come = is_after_today(HotelStay.check_in_date, HotelStay.hotel_code)
    return sa.and_(HotelStay.cancelled_at.is_(None), to_come, func.coalesce(newest, sa.false()))


MAX_LEGS = 50  # of one booking shown together; no ticket has that many


def find_legs(session: Session, row: FlightBooking) -> list[FlightBooking]:
    """All legs of the same multi-leg booking in flight order; just the leg if there are no others."""
    if row.trip_id is None:
        return [row]
    in_order = (FlightBooking.departure_date, FlightBooking.departure_time.asc().nulls_last(), FlightBooking.id)
    siblings = sa.select(FlightBooking).where(FlightBooking.trip_id == row.trip_id)
    return list(session.scalars(siblings.order_by(*in_order).limit(MAX_LEGS)))


def find_last_fare(session: Session, row: FlightBooking) -> Decimal | None:
    """Like select_last_fares, for one stored leg."""
    return next((price for _, price in session.execute(select_last_fares(FlightBooking.id == row.id))), None)


def select_last_fares(*which: ColumnElement[bool]) -> sa.Select[*tuple[Any, ...]]:
    """The last cash fare seen for exactly the journey of a leg: only its airline, its days, cabin, people and currency.

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
