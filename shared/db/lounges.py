"""Visits to airport lounges."""

from datetime import date, datetime
from decimal import Decimal

import sqlalchemy as sa
from sqlalchemy import ForeignKey, Index, func
from sqlalchemy.orm import Mapped, mapped_column

from shared.db.base import AccountOwned, Base, currency, iata, pk, stamp


class LoungeVisit(AccountOwned, Base):
    __tablename__ = "lounge_visits"
    __table_args__ = (
        Index("ix_lounge_visits_newest", "account_id", "visited_on", "id"),
        sa.CheckConstraint(
            "access_method in ('card', 'status', 'ticket', 'membership', 'paid', 'guest', 'other')",
            name="access_method",
        ),
        sa.CheckConstraint("rating between 1 and 5", name="rating"),
        sa.CheckConstraint("guests between 0 and 20", name="guests"),
    )

    id: Mapped[pk]
    lounge_name: Mapped[str]
    airport: Mapped[iata]
    visited_on: Mapped[date]
    access_method: Mapped[str]
    card_id: Mapped[int | None] = mapped_column(ForeignKey("cards.id", ondelete="SET NULL"), index=True)
    program: Mapped[str | None]
    guests: Mapped[int] = mapped_column(server_default="0")
    amount_paid: Mapped[Decimal | None]
    currency: Mapped[currency]
    rating: Mapped[int | None]
    notes: Mapped[str | None]
    created_at: Mapped[stamp]
    updated_at: Mapped[datetime] = mapped_column(server_default=func.now(), onupdate=func.now())
