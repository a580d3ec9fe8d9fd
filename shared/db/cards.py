"""Cards a person owns."""

from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal
from typing import NamedTuple

import sqlalchemy as sa
from sqlalchemy import func
from sqlalchemy.orm import Mapped, Session, mapped_column

from shared.db.base import AccountOwned, Base, currency, pk, stamp
from shared.db.members import HOLDER, member
from shared.db.pagination import page_of


class Card(AccountOwned, Base):
    __tablename__ = "cards"
    __table_args__ = (
        sa.CheckConstraint("bonus_status in ('pending', 'earned', 'missed')", name="bonus_status"),
        sa.CheckConstraint("spend_window_months in (1, 2, 3, 6, 12)", name="spend_window_months"),
    )

    id: Mapped[pk]
    member: Mapped[member]
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


class OpenFee(NamedTuple):
    """Open cards of one catalogue entry with the same stored fee; without one the catalogue's counts."""

    slug: str | None
    annual_fee: Decimal | None
    currency: str
    cards: int


@dataclass(frozen=True)
class Wallet:
    """All cards of one account, added up."""

    open: int
    closed: int
    open_fees: list[OpenFee]
    bonuses_pending: int


def count_wallet(session: Session, today: date) -> Wallet:
    is_open = sa.or_(Card.closed_on.is_(None), Card.closed_on > today)
    rows = session.execute(
        sa.select(
            Card.slug,
            Card.annual_fee,
            Card.currency,
            func.count().filter(is_open),
            func.count(),
            func.count().filter(Card.bonus_status == "pending"),
        )
        .group_by(Card.slug, Card.annual_fee, Card.currency)
        .order_by(Card.currency, Card.slug, Card.annual_fee)
    ).all()
    return Wallet(
        open=sum(r[3] for r in rows),
        closed=sum(r[4] - r[3] for r in rows),
        open_fees=[OpenFee(*r[:4]) for r in rows if r[3]],
        bonuses_pending=sum(r[5] for r in rows),
    )


def list_open_slugs(session: Session, today: date, account_id: int | None = None) -> frozenset[str]:
    """The account holder's open cards that are in the catalogue; a session of everyone's rows names the account."""
    is_open = sa.or_(Card.closed_on.is_(None), Card.closed_on > today)
    whose = sa.true() if account_id is None else Card.account_id == account_id
    slugs = sa.select(Card.slug).where(is_open, whose, Card.member == HOLDER)
    return frozenset(slug for slug in session.scalars(slugs) if slug)


def page_of_cards(
    session: Session, today: date, *, include_closed: bool, bonus_status: str | None, page: int, per_page: int
) -> tuple[list[Card], int]:
    """Cards in the order they were added, and how many fit; the status `unknown` means none was set."""
    fits: list[sa.ColumnElement[bool]] = [sa.true()]
    if not include_closed:
        fits.append(sa.or_(Card.closed_on.is_(None), Card.closed_on > today))
    if bonus_status is not None:
        fits.append(Card.bonus_status.is_(None) if bonus_status == "unknown" else Card.bonus_status == bonus_status)
    return page_of(session, Card, fits, Card.id, page=page, per_page=per_page)
