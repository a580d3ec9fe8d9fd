"""Cards a person owns."""

from datetime import date, datetime
from decimal import Decimal

import sqlalchemy as sa
from sqlalchemy import func
from sqlalchemy.orm import Mapped, mapped_column

from shared.db.base import AccountOwned, Base, currency, pk, stamp


class Card(AccountOwned, Base):
    __tablename__ = "cards"
    __table_args__ = (
        sa.CheckConstraint("bonus_status in ('pending', 'earned', 'missed')", name="bonus_status"),
        sa.CheckConstraint("spend_window_months in (1, 2, 3, 6, 12)", name="spend_window_months"),
    )

    id: Mapped[pk]
    slug: Mapped[str | None]  # of the card catalogue; None for free text
    name: Mapped[str]
    custom: Mapped[bool]
    nickname: Mapped[str | None]
    opened_on: Mapped[date | None]
    closed_on: Mapped[date | None]
    annual_fee: Mapped[Decimal | None]
    currency: Mapped[currency]
    country: Mapped[str | None] = mapped_column(sa.String(2))  # None = the catalogue's
    bonus_amount: Mapped[int | None] = mapped_column(sa.BigInteger)
    bonus_currency: Mapped[str | None]
    bonus_status: Mapped[str | None]
    bonus_earned_on: Mapped[date | None]
    spend_requirement: Mapped[Decimal | None]
    spend_deadline_on: Mapped[date | None]
    spend_window_months: Mapped[int | None]
    notes: Mapped[str | None]
    created_at: Mapped[stamp]
    updated_at: Mapped[datetime] = mapped_column(server_default=func.now(), onupdate=func.now())
