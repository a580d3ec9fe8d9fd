"""Programmes that a person saves by name because their facts are unknown here, or other than the person's."""

from datetime import datetime
from decimal import Decimal
from typing import Any

import sqlalchemy as sa
from sqlalchemy import UniqueConstraint, func
from sqlalchemy.orm import Mapped, Session, mapped_column

from shared.db.accounts import lock
from shared.db.base import AccountOwned, Numbered

MOST_PROGRAMS = 50  # of one account


class OwnProgram(AccountOwned, Numbered):
    """`transfers`: where its points can go, each with `program`, `sent` and `received`, as the person entered it."""

    __tablename__ = "own_programs"
    __table_args__ = (UniqueConstraint("account_id", "slug"),)

    slug: Mapped[str]
    name: Mapped[str]
    cents: Mapped[Decimal | None]  # a point in hundredths of the currency
    currency: Mapped[str | None] = mapped_column(sa.String(3))
    transfers: Mapped[list[dict[str, Any]]] = mapped_column(server_default=sa.text("'[]'"))
    updated_at: Mapped[datetime] = mapped_column(server_default=func.now(), onupdate=func.now())


def list_own_programs(session: Session, account_id: int | None = None) -> list[OwnProgram]:
    """The programmes of the session's account, or of this one."""
    its = () if account_id is None else (OwnProgram.account_id == account_id,)
    return list(session.scalars(sa.select(OwnProgram).where(*its).order_by(OwnProgram.slug)))


def find_or_add(session: Session, slug: str, name: str) -> OwnProgram | None:
    """The account's programme with this slug, made if missing; None if it has the maximum already.

    Calls of one account wait for each other, so that two concurrent calls make one.
    """
    lock(session, session.info["account_id"])
    rows = list_own_programs(session)
    row = next((row for row in rows if row.slug == slug), None)
    if row is None and len(rows) < MOST_PROGRAMS:
        row = OwnProgram(slug=slug, name=name, transfers=[])
        session.add(row)
        session.flush()
    return row
