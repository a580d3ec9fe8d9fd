"""Points balances, one row per account and programme."""

from collections.abc import Mapping
from datetime import date, datetime
from decimal import Decimal
from typing import Any, NamedTuple

import sqlalchemy as sa
from sqlalchemy import UniqueConstraint, func
from sqlalchemy.orm import Mapped, Session, mapped_column

from shared.db.accounts import lock
from shared.db.base import AccountOwned, Numbered, big, transaction
from shared.db.members import HOLDER, member
from shared.db.profile import Profile


class PointsBalance(AccountOwned, Numbered):
    __tablename__ = "points_balances"
    __table_args__ = (
        UniqueConstraint("account_id", "program", "member"),
        sa.CheckConstraint("balance >= 0", name="balance"),
    )

    program: Mapped[str]
    member: Mapped[member]
    balance: Mapped[big]
    expires_on: Mapped[date | None]
    as_of: Mapped[date]
    notes: Mapped[str | None]
    own_cents: Mapped[Decimal | None]  # US cents: the person's own value of a point
    source: Mapped[str] = mapped_column(server_default="manual")
    updated_at: Mapped[datetime] = mapped_column(server_default=func.now(), onupdate=func.now())


def select_holder_balances() -> sa.Select[PointsBalance]:
    """The account holder's balances: the ones that searches and plans may spend."""
    return sa.select(PointsBalance).where(PointsBalance.member == HOLDER).order_by(PointsBalance.program)


def read_held_programs(account_id: int) -> set[str]:
    """The programmes in which anyone of the household holds points."""
    with transaction(account_id) as session:
        return set(session.scalars(sa.select(PointsBalance.program).where(PointsBalance.balance > 0).distinct()))


def read_own_values(session: Session) -> dict[str, Decimal]:
    """The person's own value of a point of each programme, in US cents."""
    rows = session.scalars(select_holder_balances())
    return {row.program: row.own_cents for row in rows if row.own_cents is not None}


_ONE = (
    sa.select(PointsBalance)
    .where(PointsBalance.program == sa.bindparam("program"), PointsBalance.member == sa.bindparam("member"))
    .with_for_update()
)


def find_balance(session: Session, program: str, member: str) -> PointsBalance | None:
    """The account's row, locked until the transaction ends."""
    return session.scalars(_ONE, {"program": program, "member": member}).one_or_none()


def set_balance(
    session: Session, program: str, member: str, values: Mapping[str, Any]
) -> tuple[PointsBalance, tuple[int, date] | None]:
    """Sets these columns in the account's row, or adds one; returns its earlier balance and day, None for a new one.

    Where there is none yet, calls of one account wait for each other: one adds the row, the others change it.
    """
    row = find_balance(session, program, member)
    if row is None:
        lock(session, session.info["account_id"])
        row = find_balance(session, program, member)
    before = (row.balance, row.as_of) if row else None
    if row is None:
        row = PointsBalance(program=program, member=member)
        session.add(row)
    for name, value in values.items():
        setattr(row, name, value)
    session.flush()
    return row, before


class Balances(NamedTuple):
    """`zone` is the time zone the person chose; not read if there are no rows."""

    rows: list[PointsBalance]
    zone: str | None


_BALANCES = sa.select(PointsBalance, sa.select(Profile.timezone).scalar_subquery()).order_by(
    PointsBalance.program, PointsBalance.member
)


def load_balances(session: Session) -> Balances:
    """All balances of the account, the holder's before other members'."""
    rows = session.execute(_BALANCES).all()
    return Balances([row for row, _ in rows], rows[0][1] if rows else None)
