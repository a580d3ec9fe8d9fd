"""The value of an account's points, one row a day, for the chart on the home page."""

from collections.abc import Mapping
from datetime import date
from decimal import Decimal

import sqlalchemy as sa
from sqlalchemy.orm import Mapped, Session, mapped_column

from shared.db.base import AccountOwned, Base


class WorthDay(AccountOwned, Base):
    __tablename__ = "worth_days"
    __table_args__ = (sa.Index("ix_worth_days_day", "day"),)

    account_id: Mapped[int] = mapped_column(sa.ForeignKey("accounts.id", ondelete="CASCADE"), primary_key=True)
    day: Mapped[date] = mapped_column(primary_key=True)
    usd: Mapped[Decimal] = mapped_column(sa.Numeric(14, 2))


# One statement for all accounts: a day is written whole or not at all.
_NOTE_ALL = sa.text(
    """
    insert into worth_days (account_id, day, usd)
    select b.account_id, :day, round(sum(b.balance * coalesce(b.own_cents, v.cents)) / 100, 2)
    from points_balances b
    join unnest(cast(:programs as text[]), cast(:cents as numeric[])) as v (program, cents) on v.program = b.program
    where not exists (select from worth_days w where w.day = :day)
    group by b.account_id
    """
)


def note_worth(session: Session, day: date, cents: Mapping[str, Decimal]) -> int:
    """Writes the worth of every account that has balances, once a day; `cents` are US cents a point by programme."""
    values = {"day": day, "programs": list(cents), "cents": list(cents.values())}
    result: sa.CursorResult[tuple[int]] = session.execute(_NOTE_ALL, values)  # type: ignore[assignment]
    return result.rowcount


def list_worth(session: Session, account_id: int) -> list[tuple[date, Decimal]]:
    """The value of the account's points by day, in US dollars, the oldest first."""
    rows = sa.select(WorthDay.day, WorthDay.usd).where(WorthDay.account_id == account_id).order_by(WorthDay.day)
    return [(day, usd) for day, usd in session.execute(rows)]
