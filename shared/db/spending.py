"""Imported spending: totals by month and category with the fingerprint of each statement, never a line of one.

Marks cannot be read back: a line is recognised by a keyed hash of its day and amount, a shop by that of its name.
"""

from datetime import date
from decimal import Decimal
from typing import NamedTuple

import sqlalchemy as sa
from sqlalchemy import ForeignKey, Index, UniqueConstraint
from sqlalchemy.orm import Mapped, Session, mapped_column, undefer

from shared.db.base import AccountOwned, Base, Numbered, currency, stamp
from shared.db.card_credits import CardCreditUse


class SpendingStatement(AccountOwned, Numbered):
    __tablename__ = "spending_statements"
    __table_args__ = (UniqueConstraint("account_id", "fingerprint"),)

    fingerprint: Mapped[str]
    label: Mapped[str | None]
    card_id: Mapped[int | None] = mapped_column(ForeignKey("cards.id", ondelete="SET NULL"), index=True)
    period_start: Mapped[date]
    period_end: Mapped[date]
    transactions: Mapped[int]
    currency: Mapped[currency]
    imported_at: Mapped[stamp]
    line_marks: Mapped[bytes | None] = mapped_column(sa.LargeBinary, deferred=True)  # of MARK_BYTES each


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
    refunds: Mapped[Decimal] = mapped_column(sa.Numeric(14, 2), server_default=sa.text("0"))


class TaughtShop(AccountOwned, Numbered):
    """The category that the person gave a shop. Only a mark of the shop is stored, never its name."""

    __tablename__ = "taught_shops"
    __table_args__ = (UniqueConstraint("account_id", "mark"),)

    mark: Mapped[bytes] = mapped_column(sa.LargeBinary)
    category: Mapped[str]
    taught_at: Mapped[stamp]


class Cell(NamedTuple):
    """What was spent on one category in one month; `amount` is gross, `refunds` the part returned."""

    currency: str
    month: date
    category: str
    amount: Decimal
    transactions: int
    refunds: Decimal = Decimal(0)

    @property
    def net(self) -> Decimal:
        """The spending less refunds, on which card rewards are paid."""
        return self.amount - self.refunds


def list_overlapping(
    session: Session,
    fingerprint: str,
    card_id: int | None,
    money: str,
    start: date,
    end: date,
    most: int,
    *,
    marks: bool,
) -> list[SpendingStatement]:
    """The same statement, and overlapping ones of the same card, or where one of the two names no card."""
    overlap = [
        SpendingStatement.currency == money,
        SpendingStatement.period_start <= end,
        SpendingStatement.period_end >= start,
    ]
    if card_id is not None:
        overlap.append(sa.or_(SpendingStatement.card_id == card_id, SpendingStatement.card_id.is_(None)))
    same = SpendingStatement.fingerprint == fingerprint
    statements = sa.select(SpendingStatement).where(sa.or_(same, sa.and_(*overlap)))
    statements = statements.order_by(same.desc(), SpendingStatement.id).limit(most)
    return list(session.scalars(statements.options(undefer(SpendingStatement.line_marks)) if marks else statements))


def list_taught_shops(session: Session) -> list[TaughtShop]:
    return list(session.scalars(sa.select(TaughtShop).order_by(TaughtShop.id)))


def read_totals(session: Session, since: date | None, card_id: int | None) -> list[Cell]:
    """Totals by currency, month and category, the earliest month first."""
    columns = (SpendingStatement.currency, SpendingTotal.month, SpendingTotal.category)
    statement = (
        sa.select(
            *columns,
            sa.func.sum(SpendingTotal.amount),
            sa.func.sum(SpendingTotal.transactions),
            sa.func.sum(SpendingTotal.refunds),
        )
        .join(SpendingStatement, SpendingTotal.statement_id == SpendingStatement.id)
        .group_by(*columns)
        .order_by(*columns)
    )
    if since is not None:
        statement = statement.where(SpendingTotal.month >= since)
    if card_id is not None:
        statement = statement.where(SpendingStatement.card_id == card_id)
    return [Cell(*row) for row in session.execute(statement)]


def statements_since(session: Session, since: date, card_id: int | None, most: int) -> list[SpendingStatement]:
    """Statements that reach into this time, the latest first."""
    statements = sa.select(SpendingStatement).where(SpendingStatement.period_end >= since)
    if card_id is not None:
        statements = statements.where(SpendingStatement.card_id == card_id)
    order = (SpendingStatement.period_end.desc(), SpendingStatement.id.desc())
    return list(session.scalars(statements.order_by(*order).limit(most)))


class StoredCounts(NamedTuple):
    months: int
    statements: int
    categories: int
    shops: int


def count_stored(session: Session) -> StoredCounts:
    """Counts the imported months, statements, categories and taught shops."""
    statements = sa.select(sa.func.count()).select_from(SpendingStatement).scalar_subquery()
    counted = (sa.func.count(sa.distinct(SpendingTotal.month)), sa.func.count(sa.distinct(SpendingTotal.category)))
    shops = sa.select(sa.func.count()).select_from(TaughtShop).scalar_subquery()
    row = session.execute(sa.select(counted[0], statements, counted[1], shops).select_from(SpendingTotal)).one()
    return StoredCounts(*row)


def erase(session: Session) -> None:
    """Deletes all imported spending. Marks of used credits stay, without the proof from statements."""
    session.execute(sa.delete(SpendingStatement))
    session.execute(sa.update(CardCreditUse).values(proof=None))
    session.execute(sa.delete(TaughtShop))
