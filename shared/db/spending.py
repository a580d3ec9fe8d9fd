"""Imported spending: totals by month and category with the fingerprint of each statement, never a line of one."""

from datetime import date
from decimal import Decimal

import sqlalchemy as sa
from sqlalchemy import ForeignKey, Index, UniqueConstraint
from sqlalchemy.orm import Mapped, mapped_column

from shared.db.base import AccountOwned, Base, currency, pk, stamp


class SpendingStatement(AccountOwned, Base):
    __tablename__ = "spending_statements"
    __table_args__ = (UniqueConstraint("account_id", "fingerprint"),)

    id: Mapped[pk]
    fingerprint: Mapped[str]
    label: Mapped[str | None]
    card_id: Mapped[int | None] = mapped_column(ForeignKey("cards.id", ondelete="SET NULL"), index=True)
    period_start: Mapped[date]
    period_end: Mapped[date]
    transactions: Mapped[int]
    currency: Mapped[currency]
    imported_at: Mapped[stamp]


class SpendingTotal(AccountOwned, Base):
    __tablename__ = "spending_totals"
    __table_args__ = (Index("ix_spending_totals_month", "account_id", "month"),)

    statement_id: Mapped[int] = mapped_column(
        ForeignKey("spending_statements.id", ondelete="CASCADE"), primary_key=True
    )
    month: Mapped[date] = mapped_column(primary_key=True)  # its first day
    category: Mapped[str] = mapped_column(primary_key=True)
    amount: Mapped[Decimal] = mapped_column(sa.Numeric(14, 2))
    transactions: Mapped[int]
