"""Spending statements, as text or rows: read, summed up by category, and stored once."""

from sqlalchemy.orm import Session

from shared.db.spending import SpendingStatement, SpendingTotal, list_overlapping
from shared.documents.card_statements import Rows, read_source
from shared.domain.spending.model import Hints, StatementBook, StatementReading, UnreadableStatement
from shared.domain.spending.repeats import (
    EarlierStatement,
    Repeats,
    compare_statement,
    join_marks,
    mark_lines,
    split_marks,
)
from shared.domain.spending.totals import StatementTotals
from shared.processes.bounded_process import Budget, ReaderEnded, read_bounded
from shared.settings import settings

MOST_OVERLAPPING = 100
# Up to here the worst texts take 0.1 s of the thread that answers; longer ones go to a process, which costs 15 ms more.
MOST_CHARACTERS_HERE, MOST_ROWS_HERE = 64_000, 1_000
READING_BUDGET = Budget(processor_seconds=10, seconds=40, memory_bytes=512 << 20)


def read_statement(source: str | Rows, book: StatementBook, hints: Hints) -> tuple[StatementReading, StatementTotals]:
    """The lines of a text or of rows, and their totals. Raises UnreadableStatement."""
    most = MOST_CHARACTERS_HERE if isinstance(source, str) else MOST_ROWS_HERE
    try:
        if len(source) <= most:
            read = read_source(source, book, hints)
        else:
            read = read_bounded(READING_BUDGET, read_source, source, book, hints)
    except ReaderEnded as ended:
        raise UnreadableStatement(f"could not be read: {ended}", "a statement of fewer lines; split it") from None
    if isinstance(read, UnreadableStatement):
        raise read
    return read


def find_repeats(
    session: Session, account_id: int, summed: StatementTotals, card_id: int | None
) -> tuple[list[SpendingStatement], list[Repeats]]:
    """Statements of the same card with some of the same days, and what each has in common with this one."""
    statements = list_overlapping(session, card_id, summed.currency, summed.start, summed.end, MOST_OVERLAPPING)
    keys = [f"{key}:{account_id}" for key in settings().encryption_keys] if statements else []
    marks = [mark for key in keys for mark in mark_lines(summed.counted, key)]
    earlier = [
        EarlierStatement(s.fingerprint, s.period_start, s.period_end, s.transactions, split_marks(s.line_marks))
        for s in statements
    ]
    return statements, [compare_statement(summed.counted, marks, (summed.start, summed.end), e) for e in earlier]


def store(session: Session, account_id: int, summed: StatementTotals, card_id: int | None, label: str | None) -> None:
    """The statement and its totals, in one go; who calls has seen that it is not there yet."""
    key = f"{settings().encryption_keys[0]}:{account_id}"
    statement = SpendingStatement(
        fingerprint=summed.fingerprint,
        label=label,
        card_id=card_id,
        period_start=summed.start,
        period_end=summed.end,
        transactions=summed.transactions,
        currency=summed.currency,
        line_marks=join_marks(mark_lines(summed.counted, key)),
    )
    session.add(statement)
    session.flush()
    session.add_all(
        SpendingTotal(
            statement_id=statement.id,
            month=month,
            category=category,
            amount=total.amount,
            refunds=total.refunds,
            transactions=total.transactions,
        )
        for month, totals in summed.months.items()
        for category, total in totals.items()
    )
    session.flush()
