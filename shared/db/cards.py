"""Cards a person owns."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal
from functools import lru_cache
from typing import Any, NamedTuple

import sqlalchemy as sa
from sqlalchemy import func
from sqlalchemy.orm import Mapped, Session, mapped_column

from shared.db.base import AccountOwned, Base, currency, pk, stamp
from shared.db.card_spending import CardSpending, group_card_spending, select_card_spending
from shared.db.members import HOLDER, member
from shared.db.reading import Read


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


class CardPage(NamedTuple):
    """`total` counts the cards that fit; the wallet is of all.

    `spending` is what statements show since the first of the cards with an open bonus was opened, by card.
    """

    rows: list[Card]
    total: int
    wallet: Wallet
    spending: dict[int, CardSpending]


_TODAY = sa.bindparam("today", type_=sa.Date)
_IS_OPEN = sa.or_(Card.closed_on.is_(None), Card.closed_on > _TODAY)
_OPEN_SLUGS = Read(slugs=sa.select(Card.slug).where(_IS_OPEN, Card.member == HOLDER, Card.slug.is_not(None)))
_OPEN_SLUGS_OF = Read(slugs=_OPEN_SLUGS.parts["slugs"].where(Card.account_id == sa.bindparam("account")))
_FILTERS: Mapping[str, sa.ColumnElement[bool]] = {
    "card_id": Card.id == sa.bindparam("card_id"),
    "open_only": sa.and_(sa.bindparam("open_only", type_=sa.Boolean), _IS_OPEN),
    "bonus_status": func.coalesce(Card.bonus_status, "unknown") == sa.bindparam("bonus_status"),
}


def list_open_slugs(session: Session, today: date, account_id: int | None = None) -> frozenset[str]:
    """The account holder's open cards that are in the catalogue; a session of everyone's rows names the account."""
    if account_id is None:
        return frozenset(_OPEN_SLUGS(session, today=today)["slugs"])
    return frozenset(_OPEN_SLUGS_OF(session, today=today, account=account_id)["slugs"])


def load_card_page(session: Session, today: date, only: Mapping[str, Any], page: int, per_page: int) -> CardPage:
    """Cards in the order they were added. `only`: card_id, open_only (true), bonus_status (unknown: none was set)."""
    filters = {name: value for name, value in only.items() if value is not None}
    read = _read_cards(frozenset(filters))
    parts = read(session, **filters, today=today, offset=(page - 1) * per_page, per_page=per_page)
    counts = parts["wallet"]
    wallet = Wallet(
        open=sum(r[3] for r in counts),
        closed=sum(r[4] - r[3] for r in counts),
        open_fees=[OpenFee(*r[:4]) for r in counts if r[3]],
        bonuses_pending=sum(r[5] for r in counts),
    )
    return CardPage(parts["rows"], parts["total"][0], wallet, group_card_spending(parts["spending"]))


@lru_cache(maxsize=8)
def _read_cards(filters: frozenset[str]) -> Read:
    fits = [_FILTERS[name] for name in sorted(filters)]
    by = (Card.slug, Card.annual_fee, Card.currency)
    pending = func.count().filter(Card.bonus_status == "pending")
    rows = sa.select(Card).where(*fits).order_by(Card.id)
    rows = rows.offset(sa.bindparam("offset")).limit(sa.bindparam("per_page"))
    page = rows.with_only_columns(Card.opened_on, Card.spend_requirement, Card.bonus_status).subquery()
    has_bonus = page.c.spend_requirement != 0, page.c.bonus_status.is_distinct_from("earned")
    opened = sa.select(func.date_trunc("month", func.min(page.c.opened_on)).cast(sa.Date)).where(*has_bonus)
    return Read(
        rows=rows,
        spending=select_card_spending(opened.scalar_subquery()),
        total=sa.select(func.count()).select_from(Card).where(*fits),
        wallet=sa.select(*by, func.count().filter(_IS_OPEN), func.count(), pending)
        .group_by(*by)
        .order_by(Card.currency, Card.slug, Card.annual_fee),
    )
