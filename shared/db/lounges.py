"""Visits to airport lounges, and how many there were."""

from collections import Counter
from dataclasses import dataclass
from datetime import date
from decimal import Decimal

import sqlalchemy as sa
from sqlalchemy import ForeignKey, Index, func
from sqlalchemy.orm import Mapped, Session, mapped_column

from shared.db.base import AccountOwned, Numbered, Timestamped, currency, iata


class LoungeVisit(Timestamped, AccountOwned, Numbered):
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


@dataclass(frozen=True)
class VisitCounts:
    """Visits added up."""

    total: int
    by_access_method: dict[str, int]
    by_card: dict[int, int]
    guests: int


def count_visits(session: Session, *fits: sa.ColumnElement[bool]) -> VisitCounts:
    """Counts visits in one statement, with a row for each access method and card."""
    rows = session.execute(
        sa.select(LoungeVisit.access_method, LoungeVisit.card_id, func.count(), func.sum(LoungeVisit.guests))
        .where(*fits)
        .group_by(LoungeVisit.access_method, LoungeVisit.card_id)
        .order_by(LoungeVisit.access_method, LoungeVisit.card_id)
    ).all()
    methods, cards = Counter[str](), Counter[int]()
    for method, card_id, visits, _ in rows:
        methods[method] += visits
        if card_id is not None:
            cards[card_id] += visits
    return VisitCounts(sum(r[2] for r in rows), dict(methods), dict(cards), sum(r[3] for r in rows))


def page_of_visits(
    session: Session, *fits: sa.ColumnElement[bool], page: int = 1, per_page: int = 20
) -> list[LoungeVisit]:
    """The latest visits first."""
    newest = sa.select(LoungeVisit).where(*fits).order_by(LoungeVisit.visited_on.desc(), LoungeVisit.id.desc())
    return list(session.scalars(newest.offset((page - 1) * per_page).limit(per_page)))
