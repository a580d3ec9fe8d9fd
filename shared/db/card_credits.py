"""A person's use of their cards' credits, by cycle."""

from collections import defaultdict
from collections.abc import Iterable
from datetime import date, datetime
from decimal import Decimal

from sqlalchemy import ForeignKey
from sqlalchemy.orm import Mapped, Session, mapped_column

from shared.db.base import AccountOwned, Base, stamp


class CardCreditUse(AccountOwned, Base):
    """`cycle_start` is the first day of the cycle; `amount` its total use, in the currency of the credit.

    `proof`: what a statement showed, in our words; None if the person said it.
    """

    __tablename__ = "card_credit_uses"

    card_id: Mapped[int] = mapped_column(ForeignKey("cards.id", ondelete="CASCADE"), primary_key=True)
    credit: Mapped[str] = mapped_column(primary_key=True)  # of the catalogue's credits
    cycle_start: Mapped[date] = mapped_column(primary_key=True)
    amount: Mapped[Decimal]
    updated_at: Mapped[stamp]
    proof: Mapped[str | None]


Uses = dict[tuple[int, str], dict[date, Decimal]]  # (card, credit) -> amount by the first day of its cycle


def index_uses(rows: Iterable[CardCreditUse]) -> Uses:
    uses: Uses = defaultdict(dict)
    for row in rows:
        uses[row.card_id, row.credit][row.cycle_start] = row.amount
    return dict(uses)


def store_credit_use(
    session: Session,
    card_id: int,
    credit: str,
    cycle_start: date,
    amount: Decimal,
    now: datetime,
    proof: str | None = None,
) -> bool:
    """Sets the amount used in a cycle, which may be zero; returns whether it changed."""
    row = session.get(CardCreditUse, (card_id, credit, cycle_start))
    if amount == (row.amount if row else 0):
        return False
    if row is None:
        session.add(CardCreditUse(card_id=card_id, credit=credit, cycle_start=cycle_start, amount=amount, proof=proof))
    else:
        row.amount, row.updated_at, row.proof = amount, now, proof
    return True
