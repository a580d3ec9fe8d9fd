"""Points balances, one row per account and programme."""

from datetime import date, datetime
from decimal import Decimal

import sqlalchemy as sa
from sqlalchemy import UniqueConstraint, func
from sqlalchemy.orm import Mapped, Session, mapped_column

from shared.db.base import AccountOwned, Base, big, pk


class PointsBalance(AccountOwned, Base):
    __tablename__ = "points_balances"
    __table_args__ = (
        UniqueConstraint("account_id", "program"),
        sa.CheckConstraint("balance >= 0", name="balance"),
    )

    id: Mapped[pk]
    program: Mapped[str]
    balance: Mapped[big]
    expires_on: Mapped[date | None]
    as_of: Mapped[date]
    notes: Mapped[str | None]
    own_cents: Mapped[Decimal | None]  # US cents: the person's own value of a point
    source: Mapped[str] = mapped_column(server_default="manual")
    updated_at: Mapped[datetime] = mapped_column(server_default=func.now(), onupdate=func.now())


def read_own_values(session: Session) -> dict[str, Decimal]:
    """What the person says one point of a programme is worth, in US cents."""
    rows = session.execute(sa.select(PointsBalance.program, PointsBalance.own_cents)).all()
    return {program: cents for program, cents in rows if cents is not None}
