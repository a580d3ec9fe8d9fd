"""Imported spending of each card, by month and category."""

from collections import defaultdict
from dataclasses import dataclass, field
from datetime import date

import sqlalchemy as sa
from sqlalchemy.orm import Session

from shared.db.spending import Cell, SpendingStatement, SpendingTotal


@dataclass
class CardSpending:
    """`until` is the last day that a statement of the card covers."""

    until: date
    cells: list[Cell] = field(default_factory=list)


def read_card_spending(session: Session, since: date) -> dict[int, CardSpending]:
    """What statements of each card say of the months from `since` on, by the card's id."""
    columns = (SpendingStatement.card_id, SpendingStatement.currency, SpendingTotal.month, SpendingTotal.category)
    statement = (
        sa.select(
            *columns,
            sa.func.sum(SpendingTotal.amount),
            sa.func.sum(SpendingTotal.transactions),
            sa.func.sum(SpendingTotal.refunds),
            sa.func.max(SpendingStatement.period_end),
        )
        .join(SpendingStatement, SpendingTotal.statement_id == SpendingStatement.id)
        .where(SpendingStatement.card_id.is_not(None), SpendingTotal.month >= since)
        .group_by(*columns)
        .order_by(*columns)
    )
    spending: dict[int, CardSpending] = defaultdict(lambda: CardSpending(date.min))
    for card_id, currency, month, category, amount, transactions, refunds, until in session.execute(statement):
        own = spending[card_id or 0]
        own.until = max(own.until, until)
        own.cells.append(Cell(currency, month, category, amount, transactions, refunds))
    return dict(spending)
