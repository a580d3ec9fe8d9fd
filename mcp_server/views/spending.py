"""Imported spending for results: months, statements, and sentences about what was counted."""

from collections import Counter
from collections.abc import Sequence
from datetime import date, datetime
from decimal import ROUND_HALF_UP, Decimal

from mcp_server.toolkit.results import Money, Part
from shared.db import spending as rows_of
from shared.db.spending import Cell
from shared.domain.card_value import CATEGORIES
from shared.domain.dates import format_days
from shared.domain.plurals import pluralize
from shared.domain.spending.categories import describe_uncategorised
from shared.domain.spending.repeats import Repeats
from shared.domain.spending.totals import CENT, ZERO, StatementTotals, Total

MAX_SKIPPED = 50  # lines listed; the message counts all of them


class ImportedMonth(Part):
    """`totals` are gross; `refunds` came back by category, `net` is what is left of all."""

    month: str
    totals: dict[str, Money]
    refunds: dict[str, Money]
    net: Money
    transactions: int


class SkippedLine(Part):
    line: int
    reason: str


class RepeatedLines(Part):
    """Lines of the statement that an earlier one has counted already."""

    fingerprint: str
    lines: int


class UnknownShop(Part):
    """A shop of this statement that has no category, and what was spent there; its name is not kept."""

    shop: str
    amount: Money
    purchases: int


class SpendingMonth(Part):
    """`totals` and `total` are gross; `net` is without what came back."""

    month: str
    totals: dict[str, Money]
    total: Money
    refunds: dict[str, Money]
    net: Money


class CurrencySpending(Part):
    """What is kept in one currency in the time asked for."""

    currency: str
    gross: Money
    net: Money
    statements: int
    without_card: int


class SpendingStatement(Part):
    fingerprint: str
    label: str | None
    card_id: int | None
    currency: str
    period_start: date
    period_end: date
    transactions: int
    imported_at: datetime


def to_imported_month(month: date, totals: dict[str, Total]) -> ImportedMonth:
    refunds = {category: total.refunds for category, total in totals.items() if total.refunds}
    return ImportedMonth(
        month=f"{month:%Y-%m}",
        totals={category: total.amount for category, total in totals.items() if total.transactions},
        refunds=refunds,
        net=sum((total.amount - total.refunds for total in totals.values()), ZERO),
        transactions=sum(total.transactions for total in totals.values()),
    )


def to_skipped(summed: StatementTotals) -> list[SkippedLine]:
    return [SkippedLine(line=line, reason=reason) for line, reason in summed.skipped[:MAX_SKIPPED]]


def describe_contents(summed: StatementTotals) -> str:
    """Describes what was read: purchases and days, and with refunds also gross, refunds and net."""
    days = format_days(summed.start, summed.end)
    contents = f"{pluralize(summed.transactions, 'purchase')} from {days} in {summed.currency}"
    if not summed.refunds:
        return contents
    net = summed.gross - summed.refunds
    return f"{contents}: {summed.gross:,.2f} gross, {summed.refunds:,.2f} refunded, {net:,.2f} net"


def describe_gaps(summed: StatementTotals) -> list[str]:
    sentences = []
    if summed.skipped:
        reasons = Counter(reason for _, reason in summed.skipped).most_common(6)
        gap_counts = ", ".join(f"{count:,} with {reason}" for reason, count in reasons)
        sentences.append(f"Not counted as purchases: {gap_counts}.")
        if len(summed.skipped) > MAX_SKIPPED:
            sentences.append(f"The field skipped lists the first {MAX_SKIPPED}.")
    if summed.is_rounded:
        sentences.append("Amounts with more than two decimals were added as written and each total rounded once.")
    cells = ((category, total.amount) for month in summed.months.values() for category, total in month.items())
    return [*sentences, *describe_uncategorised(cells)]


def describe_repeats(repeats: Sequence[Repeats]) -> list[str]:
    """Describes lines skipped as already counted, chance matches, and statements that cannot be compared."""
    sentences = []
    for repeat in repeats:
        name = f"statement {repeat.earlier.fingerprint[:12]}"
        count = len(repeat.lines)
        if repeat.is_same_paper:
            lines = f"{pluralize(count, 'line')} {'is' if count == 1 else 'are'}"
            sentences.append(f"{lines} in {name} already and not counted again.")
        elif repeat.earlier.marks is None:
            sentences.append(f"Its days overlap with {name}; lines in both count twice.")
        elif count:
            sentences.append(f"{pluralize(count, 'line')} with day and amount of {name} may be the same and count.")
        else:
            sentences.append(f"Its days overlap with {name}; no line is in both.")
    if repeats:
        sentences.append("If this is a corrected copy, import it with replace true.")
    return sentences


def rank_currencies(cells: Sequence[Cell], statements: Sequence[rows_of.SpendingStatement]) -> list[CurrencySpending]:
    """The currency with the most purchases first. Amounts in different currencies are never added."""
    purchases = Counter({row.currency: 0 for row in statements})
    for cell in cells:
        purchases[cell.currency] += cell.transactions
    return [
        CurrencySpending(
            currency=code,
            gross=sum((cell.amount for cell in cells if cell.currency == code), ZERO),
            net=sum((cell.net for cell in cells if cell.currency == code), ZERO),
            statements=sum(row.currency == code for row in statements),
            without_card=sum(row.currency == code and row.card_id is None for row in statements),
        )
        for code, _ in purchases.most_common()
    ]


def to_months(cells: Sequence[Cell]) -> list[SpendingMonth]:
    by_month: dict[date, list[Cell]] = {}
    for cell in cells:
        by_month.setdefault(cell.month, []).append(cell)
    return [
        SpendingMonth(
            month=f"{month:%Y-%m}",
            totals=_order_totals({cell.category: cell.amount for cell in of_month if cell.transactions}),
            total=sum((cell.amount for cell in of_month), ZERO),
            refunds=_order_totals({cell.category: cell.refunds for cell in of_month if cell.refunds}),
            net=sum((cell.net for cell in of_month), ZERO),
        )
        for month, of_month in by_month.items()
    ]


def _order_totals(totals: dict[str, Decimal]) -> dict[str, Decimal]:
    return {category: totals[category] for category in CATEGORIES if category in totals}


def average_month(months: Sequence[SpendingMonth]) -> dict[str, Decimal]:
    """The average over the months that have spending; months without a statement do not count."""
    sums: Counter[str] = Counter()
    spent_in = [month for month in months if month.totals]
    for month in spent_in:
        sums.update(month.totals)
    each = {
        category: (Decimal(total) / len(spent_in)).quantize(CENT, ROUND_HALF_UP) for category, total in sums.items()
    }
    return _order_totals(each)


def describe_months(chosen: CurrencySpending, months: Sequence[SpendingMonth], others: Sequence[str]) -> str:
    message = f"{chosen.gross:,.2f} {chosen.currency} in {pluralize(len(months), 'month')} with spending"
    if chosen.gross != chosen.net:
        message += f" gross, {chosen.gross - chosen.net:,.2f} refunded, {chosen.net:,.2f} net"
    if others:
        message += f". Spending in {', '.join(others)} is kept too and not converted; currency shows it"
    cells = (cell for month in months for cell in month.totals.items())
    return " ".join([f"{message}.", *describe_uncategorised(cells)])
