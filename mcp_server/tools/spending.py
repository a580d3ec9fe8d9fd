"""Spending by month and category, added up from card statements; their lines are never stored."""

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from typing import Annotated, Any, Literal

from pydantic import Field, WithJsonSchema

from mcp_server.toolkit.context import Call
from mcp_server.toolkit.parameters import CardId, Currency
from mcp_server.toolkit.registry import Effect, Tier, tool
from mcp_server.toolkit.results import Money, Part, Result
from mcp_server.views import spending as views
from shared.db import spending as rows_of
from shared.db.accounts import lock
from shared.db.cards import Card
from shared.db.profile import Profile
from shared.domain.plurals import pluralize
from shared.domain.spending.model import Hints, StatementReading, UnreadableStatement
from shared.domain.spending.repeats import Repeats
from shared.domain.spending.totals import StatementTotals, sum_up
from shared.errors import ConfirmationRequired, Fault, Invalid, NoData, NotFound
from shared.reference.spending import build_book
from shared.services import spending

MAX_STATEMENTS = 100
Row = Annotated[dict[str, Any], WithJsonSchema({"type": "object"})]
Rows = Annotated[list[Row], Field(max_length=20_000, description="date, description, amount (spent > 0), category")]


class Imported(Result):
    """`gross` is what was bought, `net` what is left of it after refunds."""

    imported: bool
    fingerprint: str
    already_imported: bool
    currency: str
    months: list[views.ImportedMonth]
    gross: Money
    refunds: Money
    net: Money
    skipped: list[views.SkippedLine]
    repeated: list[views.RepeatedLines]
    replaced: list[str]
    uncategorised_share: Money


class Summary(Result):
    """Months and sums of one currency; `currencies` lists all there are in this time."""

    months: list[views.SpendingMonth]
    monthly_average: dict[str, Money]
    statements: list[views.SpendingStatement]
    currency: str
    gross: Money
    refunds: Money
    net: Money
    currencies: list[views.CurrencySpending]


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


@tool(
    area="spending",
    tier=Tier.PAID,
    effect=Effect.FILES,
    title="Import a card or bank statement",
)
def import_spending_statement(
    call: Call,
    statement_text: Annotated[
        str | None, Field(max_length=3_000_000, description="CSV, OFX, QIF or plain text.")
    ] = None,
    rows: Rows | None = None,
    card_id: CardId | None = None,
    currency: Annotated[Currency | None, Field(description="Where the statement names none.")] = None,
    label: Annotated[str | None, Field(max_length=80)] = None,
    dry_run: bool = False,
    replace: Annotated[bool, Field(description="Replaces earlier copies.")] = False,
    positive_is: Literal["spent", "received"] | None = None,
    date_order: Literal["day_first", "month_first", "year_first"] | None = None,
) -> Imported:
    """Imports a pasted or exported card statement or bill and sorts what was spent by month and category.

    Adds up its transactions, what the month cost. Where it asks, send positive_is or date_order. Paid.
    """
    hints = _build_hints(call, card_id, currency)
    hints = dataclasses.replace(hints, positive_is=positive_is, date_order=date_order)
    if not statement_text and not rows:
        raise Invalid(Fault("statement_text", "is missing, and so is rows", "the text of a statement, or its rows"))
    book = build_book(call.reference)
    try:
        reading, summed = spending.read_statement(statement_text or rows or [], book, hints)
    except UnreadableStatement as fault:
        field = fault.field or ("statement_text" if statement_text else "rows")
        raise Invalid(Fault(field, fault.problem, fault.expected)) from None
    task = _Import(reading, hints, card_id, (label or "").strip() or None, dry_run, replace)
    return _store_statement(call, task, summed)


@dataclass(frozen=True, slots=True)
class _Import:
    """What was asked for, with the lines that were read."""

    reading: StatementReading
    hints: Hints
    card_id: int | None
    label: str | None
    dry_run: bool
    replace: bool


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


def _store_statement(call: Call, task: _Import, summed: StatementTotals) -> Imported:
    lock(call.db, call.account_id)
    same = rows_of.find_statement(call.db, summed.fingerprint)
    if same is not None:
        sentence = f"This statement was imported before; nothing was changed. It has {views.describe_contents(summed)}."
        return _to_imported(summed, [sentence, *views.describe_gaps(summed)], [], [], already=True)
    statements, repeats = spending.find_repeats(call.db, call.account_id, summed, task.card_id)
    replaced = [r.earlier.fingerprint for r in repeats if task.replace and r.is_replaceable]
    repeats = [r for r in repeats if r.earlier.fingerprint not in replaced]
    summed = _leave_out(task, summed, repeats)
    already = not summed.counted and any(r.is_same_paper for r in repeats)
    imported = not (already or task.dry_run)
    if imported:
        for row in statements:
            if row.fingerprint in replaced:
                call.db.delete(row)
        call.db.flush()
        spending.store(call.db, call.account_id, summed, task.card_id, task.label)
    sentences = [_describe_import(summed, already, task.dry_run), *_describe_replaced(replaced, task.dry_run)]
    sentences += [*views.describe_repeats(repeats), *views.describe_gaps(summed)]
    return _to_imported(summed, sentences, repeats, replaced, already=already, imported=imported)


def _leave_out(task: _Import, summed: StatementTotals, repeats: Sequence[Repeats]) -> StatementTotals:
    """The totals without the lines that an earlier statement counts already."""
    numbers = {
        number: f"statement {repeat.earlier.fingerprint[:12]}, which has it already"
        for repeat in repeats
        if repeat.is_same_paper
        for number in repeat.lines
    }
    return sum_up(task.reading, task.hints, numbers) if numbers else summed


def _to_imported(
    summed: StatementTotals,
    sentences: Sequence[str],
    repeats: Sequence[Repeats],
    replaced: Sequence[str],
    *,
    already: bool,
    imported: bool = False,
) -> Imported:
    return Imported(
        message=" ".join(sentences),
        imported=imported,
        fingerprint=summed.fingerprint[:12],
        already_imported=already,
        currency=summed.currency,
        months=[views.to_imported_month(month, totals) for month, totals in summed.months.items()],
        gross=summed.gross,
        refunds=summed.refunds,
        net=summed.gross - summed.refunds,
        skipped=views.to_skipped(summed),
        repeated=[
            views.RepeatedLines(fingerprint=r.earlier.fingerprint[:12], lines=len(r.lines))
            for r in repeats
            if r.is_same_paper
        ],
        replaced=[fingerprint[:12] for fingerprint in replaced],
        uncategorised_share=summed.uncategorised_share,
    )


def _describe_import(summed: StatementTotals, already: bool, dry_run: bool) -> str:
    if already:
        return "All purchases of this statement were imported before; nothing was changed."
    contents = views.describe_contents(summed)
    return f"Nothing is stored in a dry run. Read: {contents}." if dry_run else f"Stored the totals of {contents}."


def _describe_replaced(replaced: Sequence[str], dry_run: bool) -> list[str]:
    if not replaced:
        return []
    names = ", ".join(fingerprint[:12] for fingerprint in replaced)
    return [f"It {'would take' if dry_run else 'took'} the place of statement {names}."]


@tool(
    area="spending",
    tier=Tier.FREE,
    effect=Effect.READS,
    title="Show spending by month and category",
)
def get_spending_summary(
    call: Call,
    months_back: Annotated[int, Field(ge=1, le=36)] = 12,
    card_id: CardId | None = None,
    currency: Annotated[Currency | None, Field(description="Absent: the one with most purchases.")] = None,
) -> Summary:
    """Shows how much the user spends per month by category, on groceries, restaurants, fuel, travel, and on which card.

    Also which statements were imported. Points spent on flights: list_flight_bookings. Free.
    """
    if card_id is not None and call.db.get(Card, card_id) is None:
        raise NotFound("card", card_id)
    since = _find_first_month(call.today, months_back - 1)
    cells = rows_of.read_totals(call.db, since, card_id)
    statements = rows_of.statements_since(call.db, since, card_id, MAX_STATEMENTS)
    if not cells and not statements:
        raise NoData("No spending of this time was imported; import_spending_statement adds it.", ["statements"])
    currencies = views.rank_currencies(cells, statements)
    main = next((c for c in currencies if currency in (None, c.currency)), None)
    codes = [c.currency for c in currencies]
    if main is None:
        raise NoData(f"No spending in {currency} was imported in this time; there is {', '.join(codes)}.", ["months"])
    months = views.to_months([cell for cell in cells if cell.currency == main.currency])
    return Summary(
        message=views.describe_months(main, months, sorted(code for code in codes if code != main.currency)),
        months=months,
        monthly_average=views.average_month(months),
        statements=[views.to_statement(row) for row in statements if currency in (None, row.currency)],
        currency=main.currency,
        gross=main.gross,
        refunds=main.gross - main.net,
        net=main.net,
        currencies=currencies,
    )


def _find_first_month(today: date, months: int) -> date:
    """The first day of the month so many months before today."""
    year, month = divmod(today.year * 12 + today.month - 1 - months, 12)
    return date(year, month + 1, 1)


@tool(
    area="spending",
    tier=Tier.FREE,
    effect=Effect.CHANGES,
    title="Wipe or erase everything about my spending and shopping, all statements and bills I ever uploaded",
)
def delete_spending_data(call: Call, confirm: bool = False) -> DeletedSpending:
    """Deletes all imported statements and spending data for good; without confirm true it only says what would go.

    Free.
    """
    lock(call.db, call.account_id)
    stored = rows_of.count_stored(call.db)
    what = f"{pluralize(stored.statements, 'statement')} with the totals of {pluralize(stored.months, 'month')}"
    if not confirm:
        raise ConfirmationRequired(
            f"Nothing was deleted. Confirm true deletes {what} for good; card advice then uses no spending.",
            f"This deletes {what} for good, and card advice then uses no spending. Delete them?",
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
