"""Spending statements, as text or rows: read, totalled by category, and stored once."""

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal
from typing import NamedTuple

from sqlalchemy.orm import Session

from shared.db.card_credits import CardCreditUse, store_credit_use
from shared.db.cards import Card
from shared.db.spending import SpendingStatement, SpendingTotal, TaughtShop, list_overlapping, list_taught_shops
from shared.documents.card_statements import Rows, read_source
from shared.domain.card_credits import SeenUse, find_uses
from shared.domain.card_value import OTHER
from shared.domain.spending.merchants import TaughtShops, name_shop
from shared.domain.spending.model import Hints, StatementBook, StatementLine, StatementReading, UnreadableStatement
from shared.domain.spending.repeats import (
    EarlierStatement,
    Repeats,
    compare_statement,
    join_marks,
    mark_lines,
    split_marks,
)
from shared.domain.spending.totals import StatementTotals, sum_up
from shared.processes.bounded_process import Budget, ReaderEnded, read_bounded
from shared.reference.cards import list_credits
from shared.reference.reference import Reference
from shared.settings import settings

MOST_OVERLAPPING = 100
# Up to this size a text takes 0.03 s; longer ones go to a process, 15 ms slower, that can be ended.
MOST_CHARACTERS_HERE, MOST_ROWS_HERE = 64_000, 1_000
MOST_UNKNOWN = 20  # shops shown; those with the largest sums
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


def list_earlier(
    session: Session, summed: StatementTotals, card_id: int | None, *, marks: bool
) -> list[SpendingStatement]:
    """The same statement, and overlapping ones of its card; `marks` can be read without the session."""
    about = summed.fingerprint, card_id, summed.currency, summed.start, summed.end
    return list_overlapping(session, *about, MOST_OVERLAPPING, marks=marks)


class CreditTask(NamedTuple):
    """The comparison of a statement's lines with credits: currency, time, and whether it stores or replaces."""

    currency: str
    today: date
    now: datetime
    stores: bool
    replaces: bool


@dataclass(frozen=True, slots=True)
class NewLines:
    """The new lines of a statement; `replaced` are fingerprints of those it replaces."""

    summed: StatementTotals
    repeats: list[Repeats]
    replaced: list[str]
    marks: bytes
    unknown_shops: list["UnknownShop"]


class UnknownShop(NamedTuple):
    """A shop without a category, only for the person who sent the statement: it is never stored."""

    shop: str
    amount: Decimal
    purchases: int


def find_new_lines(
    account_id: int,
    reading: StatementReading,
    summed: StatementTotals,
    hints: Hints,
    rows: Sequence[SpendingStatement],
    taught: TaughtShops,
    *,
    replace: bool,
    sort_again: bool = False,
) -> NewLines:
    """Compares the lines with earlier statements: 0.3 s for 20,000 lines, so outside any transaction.

    `sort_again`: the same statement replaces the stored one.
    """
    earlier = [
        EarlierStatement(s.fingerprint, s.period_start, s.period_end, s.transactions, split_marks(s.line_marks))
        for s in rows
    ]
    keys = _derive_keys(account_id)
    unknown = _find_unknown_shops(summed, taught)
    marks = [mark for key in keys for mark in mark_lines(summed.counted, key)] if earlier else []
    repeats = [compare_statement(summed.counted, marks, (summed.start, summed.end), e) for e in earlier]
    again = summed.fingerprint if sort_again else None
    replaced = [
        e.fingerprint for r in repeats if (e := r.earlier).fingerprint == again or (replace and r.is_replaceable)
    ]
    repeats = [r for r in repeats if r.earlier.fingerprint not in replaced]
    numbers = {
        number: f"statement {repeat.earlier.fingerprint[:12]}, which has it already"
        for repeat in repeats
        if repeat.is_same_paper
        for number in repeat.lines
    }
    summed = sum_up(reading, hints, numbers) if numbers else summed
    return NewLines(summed, repeats, replaced, join_marks(mark_lines(summed.counted, keys[0])), unknown)


def _derive_keys(account_id: int) -> list[str]:
    return [f"{key}:{account_id}" for key in settings().encryption_keys]


def _find_unknown_shops(summed: StatementTotals, taught: TaughtShops) -> list[UnknownShop]:
    purchases, amounts = Counter[str](), defaultdict[str, Decimal](Decimal)
    for line in summed.counted:
        if line.category == OTHER and not line.is_refund:
            amounts[line.description] += line.amount
            purchases[line.description] += 1
    by_shop: dict[str, UnknownShop] = {}
    for description, amount in amounts.items():
        if (shop := name_shop(description)) and taught.find(description) is None:
            before = by_shop.get(shop, UnknownShop(shop, Decimal(0), 0))
            by_shop[shop] = UnknownShop(shop, before.amount + amount, before.purchases + purchases[description])
    return sorted(by_shop.values(), key=lambda unknown: -unknown.amount)[:MOST_UNKNOWN]


def read_taught_shops(session: Session, account_id: int) -> TaughtShops:
    """The person's categories of shops, by marks that cannot be reversed."""
    return TaughtShops(tuple(_derive_keys(account_id)), {row.mark: row.category for row in list_taught_shops(session)})


def store_taught_shops(session: Session, account_id: int, shops: Mapping[str, str]) -> None:
    """Stores what the person said of these; the caller has the account's lock."""
    rows = {row.mark: row for row in list_taught_shops(session)}
    taught = read_taught_shops(session, account_id).learn(shops).categories
    for mark, row in rows.items():
        if mark in taught:
            row.category = taught[mark]
        else:
            session.delete(row)
    session.add_all(TaughtShop(mark=mark, category=category) for mark, category in taught.items() if mark not in rows)
    session.flush()


def note_credit_uses(
    session: Session, reference: Reference, card_id: int | None, lines: Sequence[StatementLine], task: CreditTask
) -> list[SeenUse]:
    """Finds uses of the card's credits in the lines; stores the proved ones, if requested.

    The person's own entry is never reduced; a replacing statement counts nothing twice.
    """
    card = None if card_id is None else session.get(Card, card_id)
    if card is None or not card.slug:
        return []
    uses = find_uses(list_credits(reference, card.slug, task.today), lines, task.currency, card.opened_on)
    for use in uses if task.stores else ():
        row = session.get(CardCreditUse, (card.id, use.credit, use.cycle_start))
        before = row.amount if row else Decimal(0)
        limit = next(c.amount for c in list_credits(reference, card.slug, task.today) if c.credit == use.credit)
        adds = row is not None and row.proof is not None and not task.replaces
        amount = max(before, min(before + use.amount, limit) if adds else use.amount)
        if use.is_proved and amount > before:
            store_credit_use(session, card.id, use.credit, use.cycle_start, amount, task.now, use.describe())
    return uses


def store(session: Session, new: NewLines, card_id: int | None, label: str | None) -> None:
    """Stores the statement and its totals at once; the caller has checked that it is new."""
    summed = new.summed
    statement = SpendingStatement(
        fingerprint=summed.fingerprint,
        label=label,
        card_id=card_id,
        period_start=summed.start,
        period_end=summed.end,
        transactions=summed.transactions,
        currency=summed.currency,
        line_marks=new.marks,
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
