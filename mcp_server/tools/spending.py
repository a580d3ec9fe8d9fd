"""Spending by month and category, added up from card statements; their lines are never stored."""

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from functools import partial
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, Field
from sqlalchemy.orm import Session

from mcp_server.toolkit import Call, Effect, LiveCall, Money, Part, Result, Tier, tool
from mcp_server.toolkit.argument_faults import WrongValue
from mcp_server.toolkit.argument_schema import UNASSUMED
from mcp_server.toolkit.parameters import CardId, Currency, Pairs, open_object
from mcp_server.views.spending import (
    CurrencySpending,
    ImportedMonth,
    RepeatedLines,
    SkippedLine,
    SpendingMonth,
    SpendingStatement,
    UnknownShop,
    average_month,
    describe_contents,
    describe_gaps,
    describe_months,
    describe_repeats,
    rank_currencies,
    to_imported_month,
    to_months,
    to_skipped,
)
from shared.db import spending as rows_of
from shared.db.accounts import lock
from shared.db.cards import Card
from shared.db.profile import Profile
from shared.domain.card_credits import SeenUse
from shared.domain.card_value import CATEGORIES
from shared.domain.plurals import pluralize
from shared.domain.spending.merchants import TaughtShops, name_shop
from shared.domain.spending.model import Hints, StatementReading, UnreadableStatement
from shared.domain.spending.repeats import Repeats
from shared.domain.spending.totals import ZERO, StatementTotals
from shared.errors import ConfirmationRequired, Fault, Invalid, NoData, NotFound
from shared.limits.heavy_work import run_heavy
from shared.reference.spending import build_book
from shared.services import spending
from shared.services.spending import CreditTask, NewLines

MAX_STATEMENTS = 100
MOST_SHOPS = 2000  # of one account


def _check_shops(shops: dict[str, str]) -> dict[str, str]:
    if len(shops) > MOST_SHOPS:
        raise WrongValue("has too many entries", f"up to {MOST_SHOPS:,} shops")
    if any(len(shop) > 200 or not name_shop(shop) for shop in shops):
        raise WrongValue("has a key that names no shop", "shops as their statement names them, up to 200 characters")
    if set(shops.values()) - {*CATEGORIES, ""}:
        raise WrongValue("has a category that is not known", f'for each shop one of {", ".join(CATEGORIES)}, or ""')
    return shops


Shops = Annotated[dict[str, str], Pairs("shop", "category", "string"), AfterValidator(_check_shops)]
Row = Annotated[dict[str, Any], open_object(("date", "description", "amount", "category"), amount="number")]
Rows = Annotated[list[Row], Field(max_length=20_000, description="Spent: amount > 0.")]


class SeenCredit(Part):
    """What the statement shows of a credit of its card in the cycle from `cycle_start`; `marked`: kept as used."""

    credit: str
    name: str
    cycle_start: date
    amount: Money
    currency: str
    last_on: date
    marked: bool


class Imported(Result):
    """`gross` is what was bought, `net` what is left of it after refunds; shops alone leave texts empty, sums at 0."""

    imported: bool
    fingerprint: str
    already_imported: bool
    currency: str
    months: list[ImportedMonth]
    gross: Money
    refunds: Money
    net: Money
    skipped: list[SkippedLine]
    repeated: list[RepeatedLines]
    replaced: list[str]
    uncategorised_share: Money
    unknown_shops: list[UnknownShop]
    credits_seen: list[SeenCredit]


class Summary(Result):
    """Months and sums of one currency; `currencies` lists all there are in this time."""

    months: list[SpendingMonth]
    monthly_average: dict[str, Money]
    statements: list[SpendingStatement]
    currency: str
    gross: Money
    refunds: Money
    net: Money
    currencies: list[CurrencySpending]


class WouldRemove(Part):
    months: int
    statements: int
    categories: int


class RemovedSpending(Part):
    months: int
    statements: int


class DeletedSpending(Result):
    deleted: bool
    would_remove: WouldRemove | None
    removed: RemovedSpending | None


@tool("spending", Tier.PAID, Effect.FILES, "Import a card or bank statement", keeps_files=True)
async def import_spending_statement(
    call: LiveCall,
    statement_text: Annotated[
        str | None, Field(max_length=3_000_000, description="CSV, OFX, QIF, CAMT, MT940.")
    ] = None,
    rows: Rows | None = None,
    card_id: CardId | None = None,
    currency: Annotated[Currency | None, UNASSUMED] = None,
    label: Annotated[str | None, Field(max_length=80)] = None,
    dry_run: bool = False,
    replace: Annotated[bool | None, Field(description="Of earlier copies.")] = None,
    positive_is: Literal["spent", "received"] | None = None,
    date_order: Literal["day_first", "month_first", "year_first"] | None = None,
    shops: Shops | None = None,
) -> Imported:
    """Imports a credit card or bank statement or bill and sorts its transactions by month and category.

    For "Here is my statement for May." Stores totals only. Where it asks: positive_is or date_order. Paid.
    """
    if not statement_text and not rows:
        if shops:
            return await call.in_session(partial(_teach_shops, call.account_id, shops, dry_run))
        raise Invalid(Fault("statement_text", "is missing, and so is rows", "the text of a statement, or its rows"))
    hints, taught = await call.in_session(partial(_read_what_is_known, call, card_id, currency))
    hints = dataclasses.replace(hints, positive_is=positive_is, date_order=date_order)
    taught = taught.learn(shops or {})
    book = dataclasses.replace(build_book(call.reference), taught=taught)
    try:
        reading, summed = await run_heavy(spending.read_statement, statement_text or rows or [], book, hints)
    except UnreadableStatement as fault:
        field = fault.field or ("statement_text" if statement_text else "rows")
        raise Invalid(Fault(field, fault.problem, fault.expected)) from None
    label = (label or "").strip() or None
    task = _Import(reading, summed, hints, card_id, label, dry_run, bool(replace), taught, shops or {}, call)
    while (imported := await _try_to_store(call, task)) is None:
        pass  # another statement of these days was stored in the meantime
    return imported


@dataclass(frozen=True, slots=True)
class _Import:
    """The request, with the lines read."""

    reading: StatementReading
    summed: StatementTotals
    hints: Hints
    card_id: int | None
    label: str | None
    dry_run: bool
    replace: bool
    taught: TaughtShops
    shops: dict[str, str]
    call: LiveCall

    def find_credits(self, session: Session, new: NewLines, *, stores: bool) -> list[SeenUse]:
        """The uses of the card's credits in the lines that no other statement has."""
        repeated = {number for repeat in new.repeats if repeat.is_same_paper for number in repeat.lines}
        lines = [line for line in self.reading.lines if line.number not in repeated]
        terms = CreditTask(new.summed.currency, self.call.today, self.call.now, stores, self.sorts_again)
        return spending.note_credit_uses(session, self.call.reference, self.card_id, lines, terms)

    @property
    def sorts_again(self) -> bool:
        """Whether the same statement is counted again: categories of shops may have changed."""
        return self.replace or bool(self.shops)


def _teach_shops(account_id: int, shops: dict[str, str], dry_run: bool, session: Session) -> Imported:
    if not dry_run:
        _store_shops(session, account_id, shops)
    return Imported(
        message="Nothing is stored in a dry run." if dry_run else _describe_shops(shops),
        imported=False,
        fingerprint="",
        already_imported=False,
        currency="",
        months=[],
        gross=ZERO,
        refunds=ZERO,
        net=ZERO,
        skipped=[],
        repeated=[],
        replaced=[],
        uncategorised_share=ZERO,
        unknown_shops=[],
        credits_seen=[],
    )


def _store_shops(session: Session, account_id: int, shops: dict[str, str]) -> None:
    """Raises Invalid for more than an account may have."""
    lock(session, account_id)
    spending.store_taught_shops(session, account_id, shops)
    if rows_of.count_stored(session).shops > MOST_SHOPS:
        raise Invalid(Fault("shops", "would be more than are kept", f"up to {MOST_SHOPS:,} shops in all"))


def _describe_shops(shops: dict[str, str]) -> str:
    taught = sum(bool(category) for category in shops.values())
    sorted_shops = [f"{pluralize(taught, 'shop')} {'is' if taught == 1 else 'are'} sorted this way from now on."]
    forgotten = f"{pluralize(len(shops) - taught, 'shop')} {'is' if len(shops) - taught == 1 else 'are'} forgotten."
    return " ".join([*sorted_shops * bool(taught), *[forgotten] * (taught < len(shops))])


def _read_what_is_known(
    call: LiveCall, card_id: int | None, currency: str | None, session: Session
) -> tuple[Hints, TaughtShops]:
    """Reads the account's data that help to read a statement."""
    card = None if card_id is None else session.get(Card, card_id)
    if card_id is not None and card is None:
        raise NotFound("card", card_id)
    catalog_card = call.reference.cards.get(card.slug) if card and card.slug else None
    profile = session.get(Profile, call.account_id)
    hints = Hints(
        today=call.today,
        currency=currency,
        card_currency=card.currency if card else None,
        card_country=(card.country if card else None) or (catalog_card.country if catalog_card else None),
        own_currency=profile.currency if profile else None,
        own_country=profile.country if profile else None,
    )
    return hints, spending.read_taught_shops(session, call.account_id)


async def _try_to_store(call: LiveCall, task: _Import) -> Imported | None:
    """Stores it; None if the earlier statements have changed by then."""
    terms = task.summed, task.card_id
    earlier = await call.in_session(lambda session: spending.list_earlier(session, *terms, marks=True))
    find = partial(spending.find_new_lines, replace=task.replace, sort_again=task.sorts_again)
    lines = await run_heavy(find, call.account_id, task.reading, task.summed, task.hints, earlier, task.taught)
    return await call.in_session(partial(_store_statement, call.account_id, task, lines, earlier))


def _store_statement(
    account_id: int, task: _Import, new: NewLines, compared: Sequence[rows_of.SpendingStatement], session: Session
) -> Imported | None:
    lock(session, account_id)
    earlier = spending.list_earlier(session, task.summed, task.card_id, marks=False)
    if not task.sorts_again and any(row.fingerprint == task.summed.fingerprint for row in earlier):
        sentence = f"This statement was imported before; nothing was changed. It has {describe_contents(task.summed)}."
        return _to_imported(task.summed, [sentence, *describe_gaps(task.summed)], new, already=True)
    if [row.fingerprint for row in earlier] != [row.fingerprint for row in compared]:
        return None
    if task.shops and not task.dry_run:
        _store_shops(session, account_id, task.shops)
    summed, repeats = new.summed, new.repeats
    already = not summed.counted and any(r.is_same_paper for r in repeats)
    imported = not (already or task.dry_run)
    if imported:
        for row in earlier:
            if row.fingerprint in new.replaced:
                session.delete(row)
        session.flush()
        spending.store(session, new, task.card_id, task.label)
    uses = [] if already else task.find_credits(session, new, stores=imported)
    sentences = [_describe_import(summed, already, task.dry_run), *_describe_replaced(new.replaced, task.dry_run)]
    sentences += [*describe_repeats(repeats), *describe_gaps(summed)]
    sentences += [_describe_shops(task.shops)] if task.shops and not task.dry_run else []
    sentences += _describe_credits(uses, imported)
    return _to_imported(summed, sentences, new, repeats, uses, already=already, imported=imported)


def _to_imported(
    summed: StatementTotals,
    sentences: Sequence[str],
    new: NewLines,
    repeats: Sequence[Repeats] = (),
    uses: Sequence[SeenUse] = (),
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
        months=[to_imported_month(month, totals) for month, totals in summed.months.items()],
        gross=summed.gross,
        refunds=summed.refunds,
        net=summed.gross - summed.refunds,
        skipped=to_skipped(summed),
        repeated=[
            RepeatedLines(fingerprint=r.earlier.fingerprint[:12], lines=len(r.lines))
            for r in repeats
            if r.is_same_paper
        ],
        replaced=[fingerprint[:12] for fingerprint in new.replaced],
        uncategorised_share=summed.uncategorised_share,
        unknown_shops=[
            UnknownShop(shop=shop, amount=amount, purchases=count) for shop, amount, count in new.unknown_shops
        ],
        credits_seen=[SeenCredit.from_row(use, last_on=use.day, marked=imported and use.is_proved) for use in uses],
    )


def _describe_credits(uses: Sequence[SeenUse], imported: bool) -> list[str]:
    """Describes credits marked as used, and what the person must say: a credit may need activating."""
    proved = [f"{use.name}: {use.describe()}" for use in uses if use.is_proved]
    open_uses = [f"{use.name}: {use.describe()}" for use in uses if not use.is_proved]
    return [
        *([f"{'Marked' if imported else 'Would be marked'} as used: {'; '.join(proved[:3])}."] if proved else []),
        *([f"Used if it was activated, so say so: {'; '.join(open_uses[:3])}."] if open_uses else []),
    ]


def _describe_import(summed: StatementTotals, already: bool, dry_run: bool) -> str:
    if already:
        return "All purchases of this statement were imported before; nothing was changed."
    contents = describe_contents(summed)
    return f"Nothing is stored in a dry run. Read: {contents}." if dry_run else f"Stored the totals of {contents}."


def _describe_replaced(replaced: Sequence[str], dry_run: bool) -> list[str]:
    if not replaced:
        return []
    names = ", ".join(fingerprint[:12] for fingerprint in replaced)
    return [f"It {'would take' if dry_run else 'took'} the place of statement {names}."]


@tool("spending", Tier.FREE, Effect.READS, "Show spending by month and category")
def get_spending_summary(
    call: Call,
    months_back: Annotated[int, Field(ge=1, le=36)] = 12,
    card_id: CardId | None = None,
    currency: Annotated[Currency | None, UNASSUMED] = None,
) -> Summary:
    """Shows spending per month by category (groceries, restaurants, fuel, travel) and by card.

    For "How much do I spend on food? Where does my money go?" From imported statements. Free.
    """
    if card_id is not None and call.db.get(Card, card_id) is None:
        raise NotFound("card", card_id)
    # The first day of the month so many months before today.
    year, month = divmod(call.today.year * 12 + call.today.month - 1 - (months_back - 1), 12)
    since = date(year, month + 1, 1)
    cells = rows_of.read_totals(call.db, since, card_id)
    statements = rows_of.statements_since(call.db, since, card_id, MAX_STATEMENTS)
    if not cells and not statements:
        raise NoData("No spending of this time was imported; import_spending_statement adds it.", ["statements"])
    currencies = rank_currencies(cells, statements)
    main = next((c for c in currencies if currency in (None, c.currency)), None)
    codes = [c.currency for c in currencies]
    if main is None:
        raise NoData(f"No spending in {currency} was imported in this time; there is {', '.join(codes)}.", ["months"])
    months = to_months([cell for cell in cells if cell.currency == main.currency])
    return Summary.from_row(
        main,
        message=describe_months(main, months, sorted(code for code in codes if code != main.currency)),
        months=months,
        monthly_average=average_month(months),
        statements=[
            SpendingStatement.from_row(row, fingerprint=row.fingerprint[:12])
            for row in statements
            if currency in (None, row.currency)
        ],
        refunds=main.gross - main.net,
        currencies=currencies,
    )


@tool("spending", Tier.FREE, Effect.CHANGES, "Delete spending data")
def delete_spending_data(call: Call, confirm: bool = False) -> DeletedSpending:
    """Erases all spending data: every card statement and bill ever imported.

    For "Forget everything I spent." Without confirm true it only says what would go. Free.
    """
    lock(call.db, call.account_id)
    stored = rows_of.count_stored(call.db)
    what = f"{pluralize(stored.statements, 'statement')} with the totals of {pluralize(stored.months, 'month')}"
    what += f" and what you said of {pluralize(stored.shops, 'shop')}" if stored.shops else ""
    if not confirm:
        raise ConfirmationRequired(
            f"Nothing was deleted. Confirm true deletes {what} for good; card advice then uses no spending.",
            f"This deletes {what} for good, and card advice then uses no spending. Delete them?",
            deleted=False,
            would_remove=WouldRemove.from_row(stored),
            removed=None,
        )
    rows_of.erase(call.db)
    return DeletedSpending(
        message=f"Deleted {what}. Card advice uses no spending until a statement is imported again.",
        deleted=stored.statements + stored.shops > 0,
        would_remove=None,
        removed=RemovedSpending(months=stored.months, statements=stored.statements),
    )
