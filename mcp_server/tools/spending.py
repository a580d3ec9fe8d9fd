"""Spending by month and category, added up from card statements; their lines are never stored."""

from collections import Counter
from collections.abc import Sequence
from datetime import date, datetime
from decimal import ROUND_HALF_UP, Decimal
from typing import Annotated, Any

from pydantic import Field, WithJsonSchema

from mcp_server.toolkit.context import Call
from mcp_server.toolkit.parameters import Currency, RowId
from mcp_server.toolkit.registry import Effect, Tier, tool
from mcp_server.toolkit.results import Money, Part, Result
from shared.db import spending as rows_of
from shared.db.accounts import lock
from shared.db.cards import Card
from shared.db.profile import Profile
from shared.db.spending import Cell
from shared.domain.card_value import CATEGORIES
from shared.domain.dates import format_days
from shared.domain.plurals import pluralize
from shared.domain.spending.model import Hints, Unreadable
from shared.domain.spending.totals import StatementTotals
from shared.errors import Fault, Invalid, NoData, NotFound
from shared.reference.spending import build_book
from shared.services import spending

CENT = Decimal("0.01")
MAX_SKIPPED = 50  # lines listed; the message counts all of them
MAX_STATEMENTS = 100
Row = Annotated[dict[str, Any], WithJsonSchema({"type": "object"})]
Rows = Annotated[list[Row], Field(max_length=20_000, description="date, description, amount (spent > 0), category")]


class ImportedMonth(Part):
    month: str
    totals: dict[str, Money]
    transactions: int


class SkippedLine(Part):
    line: int
    reason: str


class Imported(Result):
    imported: bool
    fingerprint: str
    already_imported: bool
    months: list[ImportedMonth]
    skipped: list[SkippedLine]
    uncategorised_share: Money


class SpendingMonth(Part):
    month: str
    totals: dict[str, Money]
    total: Money


class SpendingStatement(Part):
    fingerprint: str
    label: str | None
    card_id: int | None
    currency: str
    period_start: date
    period_end: date
    transactions: int
    imported_at: datetime


class Summary(Result):
    months: list[SpendingMonth]
    monthly_average: dict[str, Money]
    statements: list[SpendingStatement]
    currency: str


class WouldRemove(Part):
    months: int
    statements: int
    categories: int


class Removed(Part):
    months: int
    statements: int


class DeletedSpending(Result):
    deleted: bool
    would_remove: WouldRemove | None
    removed: Removed | None


@tool(area="spending", tier=Tier.PAID, effect=Effect.FILES)
def import_spending_statement(
    call: Call,
    statement_text: Annotated[
        str | None, Field(max_length=3_000_000, description="CSV, OFX or plain text of one statement.")
    ] = None,
    rows: Rows | None = None,
    card_id: RowId | None = None,
    currency: Annotated[Currency | None, Field(description="Where the statement names none.")] = None,
    label: Annotated[str | None, Field(max_length=80)] = None,
    dry_run: bool = False,
) -> Imported:
    """Adds up a card statement by month and category and keeps those totals only, never its lines. Paid."""
    hints = _build_hints(call, card_id, currency)
    if not statement_text and not rows:
        raise Invalid(Fault("statement_text", "is missing, and so is rows", "the text of a statement, or its rows"))
    try:
        if statement_text:
            summed = spending.of_text(statement_text, build_book(call.reference), hints)
        else:
            summed = spending.of_rows(rows or [], build_book(call.reference), hints)
    except Unreadable as fault:
        raise Invalid(Fault("statement_text" if statement_text else "rows", fault.problem, fault.expected)) from None
    return _store_statement(call, summed, card_id, (label or "").strip() or None, dry_run)


def _build_hints(call: Call, card_id: int | None, currency: str | None) -> Hints:
    card = None if card_id is None else call.db.get(Card, card_id)
    if card_id is not None and card is None:
        raise NotFound("card", card_id)
    catalog_card = call.reference.cards.get(card.slug) if card and card.slug else None
    profile = call.db.get(Profile, call.account_id)
    return Hints(
        today=call.today,
        currency=currency,
        card_currency=card.currency if card else None,
        card_country=(card.country if card else None) or (catalog_card.country if catalog_card else None),
        own_currency=profile.currency if profile else None,
        own_country=profile.country if profile else None,
    )


def _store_statement(
    call: Call, summed: StatementTotals, card_id: int | None, label: str | None, dry_run: bool
) -> Imported:
    lock(call.db, call.account_id)
    stored_before = rows_of.stored_or_overlapping(
        call.db, summed.fingerprint, card_id, summed.currency, summed.start, summed.end
    )
    already = stored_before is not None and stored_before.fingerprint == summed.fingerprint
    imported = not (already or dry_run)
    if imported:
        spending.store(call.db, summed, card_id, label)
    sentences = [_describe_import(summed, already, dry_run)]
    if stored_before is not None and not already:
        sentences.append(
            f"Its days overlap with statement {stored_before.fingerprint[:12]}; lines in both count twice."
        )
    return Imported(
        message=" ".join([*sentences, *_describe_gaps(summed)]),
        imported=imported,
        fingerprint=summed.fingerprint[:12],
        already_imported=already,
        months=[
            ImportedMonth(
                month=f"{month:%Y-%m}",
                totals={category: total.amount for category, total in totals.items()},
                transactions=sum(total.transactions for total in totals.values()),
            )
            for month, totals in summed.months.items()
        ],
        skipped=[SkippedLine(line=line, reason=reason) for line, reason in summed.skipped[:MAX_SKIPPED]],
        uncategorised_share=summed.uncategorised_share,
    )


def _describe_import(summed: StatementTotals, already: bool, dry_run: bool) -> str:
    days = format_days(summed.start, summed.end)
    contents = f"{pluralize(summed.transactions, 'purchase')} from {days} in {summed.currency}"
    if already:
        return f"This statement was imported before; nothing was changed. It has {contents}."
    return f"Nothing is stored in a dry run. Read: {contents}." if dry_run else f"Stored the totals of {contents}."


def _describe_gaps(summed: StatementTotals) -> list[str]:
    sentences = []
    if summed.skipped:
        reasons = Counter(reason for _, reason in summed.skipped).most_common(6)
        sentences.append(f"Not counted: {', '.join(f'{count:,} with {reason}' for reason, count in reasons)}.")
        if len(summed.skipped) > MAX_SKIPPED:
            sentences.append(f"The field skipped lists the first {MAX_SKIPPED}.")
    if summed.uncategorised_share:
        sentences.append(f"{summed.uncategorised_share:.0%} of the amount fits no known category.")
    return sentences


@tool(area="spending", tier=Tier.FREE, effect=Effect.READS)
def get_spending_summary(
    call: Call,
    months_back: Annotated[int, Field(ge=1, le=36)] = 12,
    card_id: RowId | None = None,
) -> Summary:
    """Shows imported spending by month and category with the monthly average, for all cards or one. Free."""
    if card_id is not None and call.db.get(Card, card_id) is None:
        raise NotFound("card", card_id)
    since = _find_first_month(call.today, months_back - 1)
    cells = rows_of.read_totals(call.db, since, card_id)
    statements = rows_of.statements_since(call.db, since, card_id, MAX_STATEMENTS)
    if not cells and not statements:
        raise NoData("No spending of this time was imported; import_spending_statement adds it.", ["statements"])
    currency, others = _rank_currencies(cells, statements)
    months = _to_months([cell for cell in cells if cell.currency == currency])
    return Summary(
        message=_describe_months(months, currency, others),
        months=months,
        monthly_average=_average_month(months),
        statements=[_to_statement(row) for row in statements],
        currency=currency,
    )


def _find_first_month(today: date, months: int) -> date:
    """The first day of the month so many months before today."""
    year, month = divmod(today.year * 12 + today.month - 1 - months, 12)
    return date(year, month + 1, 1)


def _rank_currencies(cells: Sequence[Cell], statements: Sequence[rows_of.SpendingStatement]) -> tuple[str, list[str]]:
    """The currency with the most purchases, and the others. Amounts of two currencies are never added up."""
    purchases = Counter({row.currency: 0 for row in statements})
    for cell in cells:
        purchases[cell.currency] += cell.transactions
    first, *others = [code for code, _ in purchases.most_common()]
    return first, sorted(others)


def _to_months(cells: Sequence[Cell]) -> list[SpendingMonth]:
    by_month: dict[date, dict[str, Decimal]] = {}
    for cell in cells:
        by_month.setdefault(cell.month, {})[cell.category] = cell.amount
    return [
        SpendingMonth(month=f"{month:%Y-%m}", totals=_order_totals(totals), total=sum(totals.values(), Decimal(0)))
        for month, totals in by_month.items()
    ]


def _order_totals(totals: dict[str, Decimal]) -> dict[str, Decimal]:
    return {category: totals[category] for category in CATEGORIES if category in totals}


def _average_month(months: Sequence[SpendingMonth]) -> dict[str, Decimal]:
    """The average over the months that have spending; months without a statement do not count."""
    sums: Counter[str] = Counter()
    for month in months:
        sums.update(month.totals)
    each = {category: (Decimal(total) / len(months)).quantize(CENT, ROUND_HALF_UP) for category, total in sums.items()}
    return _order_totals(each)


def _to_statement(row: rows_of.SpendingStatement) -> SpendingStatement:
    return SpendingStatement(
        fingerprint=row.fingerprint[:12],
        label=row.label,
        card_id=row.card_id,
        currency=row.currency,
        period_start=row.period_start,
        period_end=row.period_end,
        transactions=row.transactions,
        imported_at=row.imported_at,
    )


def _describe_months(months: Sequence[SpendingMonth], currency: str, others: Sequence[str]) -> str:
    total = sum((month.total for month in months), Decimal(0))
    message = f"{total:,.2f} {currency} in {pluralize(len(months), 'month')} with spending."
    if others:
        message += f" Spending in {', '.join(others)} is kept too and not converted; card_id shows one card's."
    return message


@tool(area="spending", tier=Tier.FREE, effect=Effect.CHANGES)
def delete_spending_data(call: Call, confirm: bool = False) -> DeletedSpending:
    """Deletes all imported spending for good; without confirm true it only says what would go. Free."""
    lock(call.db, call.account_id)
    stored = rows_of.count_stored(call.db)
    what = f"{pluralize(stored.statements, 'statement')} with the totals of {pluralize(stored.months, 'month')}"
    if not confirm:
        return DeletedSpending(
            status="confirmation_required",
            message=f"Nothing was deleted. Confirm true deletes {what} for good; card advice then uses no spending.",
            deleted=False,
            would_remove=WouldRemove(months=stored.months, statements=stored.statements, categories=stored.categories),
            removed=None,
        )
    rows_of.erase(call.db)
    return DeletedSpending(
        message=f"Deleted {what}. Card advice uses no spending until a statement is imported again.",
        deleted=stored.statements > 0,
        would_remove=None,
        removed=Removed(months=stored.months, statements=stored.statements),
    )
