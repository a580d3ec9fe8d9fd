"""Flights and stays a person booked, one row per leg and per stay, and the prices seen for a stay."""

from datetime import date, datetime, time
from decimal import Decimal
from uuid import UUID

import sqlalchemy as sa
from sqlalchemy import ForeignKey, Index, func
from sqlalchemy.orm import Mapped, mapped_column

from shared.db.base import AccountOwned, Base, ModeOwned, currency, iata, pk, stamp


class FlightBooking(AccountOwned, Base):
    """One leg, paid with points or with cash. Times are local to their airport, as a ticket prints them."""

    __tablename__ = "flight_bookings"
    __table_args__ = (
        Index("ix_flight_bookings_newest", "account_id", "departure_date", "id"),
        sa.CheckConstraint("kind in ('award', 'cash')", name="kind"),
        sa.CheckConstraint("cabin_class in ('economy', 'premium_economy', 'business', 'first')", name="cabin_class"),
    )

    id: Mapped[pk]
    airline: Mapped[str]
    flight_number: Mapped[str | None]
    origin: Mapped[iata]
    destination: Mapped[iata]
    departure_date: Mapped[date]
    departure_time: Mapped[time | None]  # from a confirmation
    arrival_date: Mapped[date | None]
    arrival_time: Mapped[time | None]
    return_date: Mapped[date | None]
    cabin_class: Mapped[str]
    kind: Mapped[str]
    program: Mapped[str | None]
    points_spent: Mapped[int | None] = mapped_column(sa.BigInteger)
    cash_paid: Mapped[Decimal | None]
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
    cancelled_at: Mapped[datetime | None]
    created_at: Mapped[stamp]
    updated_at: Mapped[datetime] = mapped_column(server_default=func.now(), onupdate=func.now())


class HotelBooking(AccountOwned, Base):
    """One stay. Its price is looked at daily until it begins or is cancelled."""

    __tablename__ = "hotel_bookings"
    __table_args__ = (
        Index("ix_hotel_bookings_newest", "account_id", "check_in_date", "id"),
        Index("ix_hotel_bookings_stay", "hotel_code", "check_in_date", "check_out_date"),
        sa.CheckConstraint("kind in ('award', 'cash')", name="kind"),
        sa.CheckConstraint("check_out_date > check_in_date", name="nights"),
    )

    id: Mapped[pk]
    hotel_code: Mapped[str]  # htl_..., as get_hotel gives it
    hotel_name: Mapped[str]  # as it was called when the stay was stored
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
    cancelled_at: Mapped[datetime | None]
    created_at: Mapped[stamp]
    updated_at: Mapped[datetime] = mapped_column(server_default=func.now(), onupdate=func.now())


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
