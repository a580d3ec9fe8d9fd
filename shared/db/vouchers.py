"""Vouchers a person holds, free or applied to one booking."""

from collections.abc import Sequence
from datetime import date, timedelta

import sqlalchemy as sa
from sqlalchemy import ForeignKey
from sqlalchemy.orm import Mapped, Session, mapped_column

from shared.db.base import AccountOwned, Numbered, Timestamped
from shared.db.pagination import page_of


class Voucher(Timestamped, AccountOwned, Numbered):
    __tablename__ = "vouchers"
    __table_args__ = (sa.CheckConstraint("flight_booking_id is null or hotel_booking_id is null", name="one_booking"),)

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


def on_bookings(session: Session, booking_type: str, booking_ids: Sequence[int]) -> dict[int, list[Voucher]]:
    """The vouchers on each booking, the oldest first. Every requested id has an entry."""
    link = Voucher.flight_booking_id if booking_type == "flight" else Voucher.hotel_booking_id
    vouchers: dict[int, list[Voucher]] = {number: [] for number in booking_ids}
    for row in session.scalars(sa.select(Voucher).where(link.in_(booking_ids)).order_by(Voucher.id)):
        vouchers[getattr(row, link.key)].append(row)
    return vouchers


def on_any(
    session: Session, flights: Sequence[int], stays: Sequence[int]
) -> tuple[dict[int, list[int]], dict[int, list[int]]]:
    """The ids of the vouchers on these legs and on these stays, in one statement."""
    vouchers: tuple[dict[int, list[int]], dict[int, list[int]]] = ({}, {})
    is_on_one = sa.or_(Voucher.flight_booking_id.in_(flights), Voucher.hotel_booking_id.in_(stays))
    for row in session.scalars(sa.select(Voucher).where(is_on_one).order_by(Voucher.id)):
        for booking, ids_of in zip((row.flight_booking_id, row.hotel_booking_id), vouchers, strict=True):
            if booking is not None:
                ids_of.setdefault(booking, []).append(row.id)
    return vouchers


def list_held_vouchers(session: Session, today: date) -> Sequence[Voucher]:
    """Those on no booking whose last day has not passed, the first to end first."""
    is_free = sa.func.num_nonnulls(Voucher.flight_booking_id, Voucher.hotel_booking_id) == 0
    ended = sa.func.coalesce(Voucher.expires_on < today, False)
    rows = sa.select(Voucher).where(is_free, ~ended).order_by(Voucher.expires_on.asc().nulls_last(), Voucher.id)
    return session.scalars(rows).all()


def page_of_vouchers(
    session: Session, today: date, *, state: str | None, within_days: int | None, page: int, per_page: int
) -> tuple[list[Voucher], int]:
    """Vouchers by their last day, those without one last, and the number of matches."""
    applied = sa.func.num_nonnulls(Voucher.flight_booking_id, Voucher.hotel_booking_id) > 0
    ended = sa.func.coalesce(Voucher.expires_on < today, False)
    states = {"applied": applied, "expired": ~applied & ended, "held": ~applied & ~ended}
    fits = [states[state]] if state in states else []
    if within_days is not None:
        fits.append(Voucher.expires_on.between(today, today + timedelta(days=within_days)))
    soonest = Voucher.expires_on.asc().nulls_last(), Voucher.id
    return page_of(session, Voucher, fits, *soonest, page=page, per_page=per_page)
