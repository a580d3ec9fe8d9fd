"""Imported spending of each card, by month and category."""

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import date
from typing import Any

import sqlalchemy as sa
from sqlalchemy.orm import Session

from shared.db.spending import Cell, SpendingStatement, SpendingTotal


@dataclass
class CardSpending:
    """`until` is the last day that a statement of the card covers."""

    until: date
    cells: list[Cell] = field(default_factory=list)


def read_card_spending(session: Session, since: date) -> dict[int, CardSpending]:
    """Each card's spending by statements from `since`, by the card's id."""
    return group_card_spending(session.execute(select_card_spending(since)))


def select_card_spending(since: date | sa.ColumnElement[date]) -> sa.Select[*tuple[Any, ...]]:
    columns = (SpendingStatement.card_id, SpendingStatement.currency, SpendingTotal.month, SpendingTotal.category)
    return (
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


def group_card_spending(rows: Iterable[Any]) -> dict[int, CardSpending]:
    """From the rows of `select_card_spending`, by the card's id."""
    spending: dict[int, CardSpending] = defaultdict(lambda: CardSpending(date.min))
    for card_id, currency, month, category, amount, transactions, refunds, until in rows:
        own = spending[card_id or 0]
        own.until = max(own.until, until)
        own.cells.append(Cell(currency, month, category, amount, transactions, refunds))
    return dict(spending)
