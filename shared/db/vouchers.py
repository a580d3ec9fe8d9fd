"""Vouchers a person holds, free or applied to one booking."""

from datetime import date, datetime

import sqlalchemy as sa
from sqlalchemy import ForeignKey, func
from sqlalchemy.orm import Mapped, mapped_column

from shared.db.base import AccountOwned, Base, pk, stamp


class Voucher(AccountOwned, Base):
    __tablename__ = "vouchers"
    __table_args__ = (sa.CheckConstraint("flight_booking_id is null or hotel_booking_id is null", name="one_booking"),)

    id: Mapped[pk]
    voucher_slug: Mapped[str]
    expires_on: Mapped[date | None]
    reference: Mapped[str | None]
    notes: Mapped[str | None]
    flight_booking_id: Mapped[int | None] = mapped_column(
        ForeignKey("flight_bookings.id", ondelete="SET NULL"), index=True
    )
    hotel_booking_id: Mapped[int | None] = mapped_column(
        ForeignKey("hotel_bookings.id", ondelete="SET NULL"), index=True
    )
    created_at: Mapped[stamp]
    updated_at: Mapped[datetime] = mapped_column(server_default=func.now(), onupdate=func.now())
