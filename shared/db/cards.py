"""Cards a person owns."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from typing import NamedTuple

import sqlalchemy as sa
from sqlalchemy.orm import Mapped, Session, mapped_column

from shared.db.base import AccountOwned, Numbered, Timestamped, currency
from shared.db.card_spending import CardSpending, read_card_spending
from shared.db.members import HOLDER, member


class Card(Timestamped, AccountOwned, Numbered):
    __tablename__ = "cards"
    __table_args__ = (
        sa.CheckConstraint("bonus_status in ('pending', 'earned', 'missed')", name="bonus_status"),
        sa.CheckConstraint("spend_window_months in (1, 2, 3, 6, 12)", name="spend_window_months"),
    )

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
    spend_so_far: Mapped[Decimal | None]  # as told by the person on the day in the next column
    spend_so_far_on: Mapped[date | None]
    spend_deadline_on: Mapped[date | None]
    spend_window_months: Mapped[int | None]
    notes: Mapped[str | None]


class OpenFee(NamedTuple):
    """Open cards of one catalogue entry with the same stored fee; without one the catalogue's applies."""

    slug: str | None
    annual_fee: Decimal | None
    currency: str
    cards: int


@dataclass(frozen=True)
class Wallet:
    """Totals over all cards of one account."""

    open: int
    closed: int
    open_fees: list[OpenFee]
    bonuses_pending: int


class CardPage(NamedTuple):
    """`total` counts the matching cards; the wallet covers all.

    `spending` is each card's spending by statements, since the first card with an open bonus was opened.
    """

    rows: list[Card]
    total: int
    wallet: Wallet
    spending: dict[int, CardSpending]


_TODAY = sa.bindparam("today", type_=sa.Date)
_OPEN = sa.or_(Card.closed_on.is_(None), Card.closed_on > _TODAY)
_OPEN_SLUGS = sa.select(Card.slug).where(_OPEN, Card.member == HOLDER, Card.slug.is_not(None))
_OPEN_SLUGS_OF = _OPEN_SLUGS.where(Card.account_id == sa.bindparam("account"))
_CARDS = sa.select(Card).order_by(Card.id)


def list_open_slugs(session: Session, today: date, account_id: int | None = None) -> frozenset[str]:
    """The account holder's open cards that are in the catalogue; a session that sees everyone must name the account."""
    which = _OPEN_SLUGS if account_id is None else _OPEN_SLUGS_OF
    slugs = session.scalars(which, {"today": today, "account": account_id})
    return frozenset(slug for slug in slugs if slug is not None)


def load_card_page(
    session: Session,
    today: date,
    *,
    card_id: int | None = None,
    open_only: bool = False,
    bonus_status: str | None = None,
    page: int = 1,
    per_page: int = 1,
) -> CardPage:
    """Cards in the order they were added. `bonus_status` unknown: not set.

    Reads all cards, because the wallet totals them and no one has many.
    """
    every = session.scalars(_CARDS).all()
    still_open = [row for row in every if row.closed_on is None or row.closed_on > today]
    fits = [
        row
        for row in (still_open if open_only else every)
        if card_id in (None, row.id) and bonus_status in (None, row.bonus_status or "unknown")
    ]
    rows = fits[(page - 1) * per_page : page * per_page]
    return CardPage(rows, len(fits), _add_up(every, still_open), read_bonus_spending(session, rows))


def _add_up(every: Sequence[Card], still_open: Sequence[Card]) -> Wallet:
    fees = Counter((row.currency, row.slug, row.annual_fee) for row in still_open)
    in_order = sorted(fees, key=lambda fee: (fee[0], fee[1] is None, fee[1] or "", fee[2] is None, fee[2] or 0))
    return Wallet(
        open=len(still_open),
        closed=len(every) - len(still_open),
        open_fees=[OpenFee(slug, fee, code, fees[code, slug, fee]) for code, slug, fee in in_order],
        bonuses_pending=sum(row.bonus_status == "pending" for row in every),
    )


def read_bonus_spending(session: Session, rows: Iterable[Card]) -> dict[int, CardSpending]:
    """Reads spending since the first card with an open bonus was opened; nothing without one."""
    opened = [r.opened_on for r in rows if r.opened_on and r.spend_requirement and r.bonus_status != "earned"]
    return read_card_spending(session, min(opened).replace(day=1)) if opened else {}
