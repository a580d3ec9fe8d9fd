"""Totals of a statement by month and category, and the hash that recognises it again."""

import hashlib
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from decimal import Decimal

from shared.domain.card_value import CATEGORIES
from shared.domain.spending.categories import OTHER
from shared.domain.spending.model import EXCLUDED, Hints, Skipped, StatementLine, StatementReading, Unreadable

MAX_MONTHS = 120
_MAX_MONTH_TOTAL = Decimal(10) ** 12  # of a month's category
_REASONS = {
    "payment": "a payment",
    "refund": "a refund or credit",
    "fee_interest": "a fee or interest",
    "cash_advance": "cash",
    "transfer": "a transfer",
}


@dataclass(frozen=True)
class Total:
    amount: Decimal
    transactions: int


@dataclass(frozen=True)
class StatementTotals:
    """A statement as it is stored, and the lines that were not counted."""

    layout: str
    currency: str
    fingerprint: str
    start: date
    end: date
    months: dict[date, dict[str, Total]]  # by the first day of the month
    skipped: list[Skipped]

    @property
    def transactions(self) -> int:
        return sum(total.transactions for month in self.months.values() for total in month.values())

    @property
    def uncategorised_share(self) -> Decimal:
        """Share of the spending without a known category."""
        spent = sum((t.amount for month in self.months.values() for t in month.values()), Decimal(0))
        unknown = sum((month[OTHER].amount for month in self.months.values() if OTHER in month), Decimal(0))
        return (unknown / spent).quantize(Decimal("0.0001")) if spent else Decimal(0)


def sum_up(reading: StatementReading, hints: Hints) -> StatementTotals:
    """Totals by month and category. Raises Unreadable without any line, or beyond the limits."""
    lines = reading.lines
    if not lines:
        why = f": line {reading.skipped[0].line} has {reading.skipped[0].reason}" if reading.skipped else ""
        raise Unreadable(f"has no line that can be read{why}", "lines with a date, a description and an amount")
    currency = _find_currency(reading, hints)
    months: dict[date, dict[str, Total]] = {}
    left_out = list(reading.skipped)
    for line in lines:
        if (reason := _explain_exclusion(line, currency)) is not None:
            left_out.append(Skipped(line.number, reason))
            continue
        month = months.setdefault(line.day.replace(day=1), {})
        before = month.get(line.category, Total(Decimal(0), 0))
        month[line.category] = Total(before.amount + line.amount, before.transactions + 1)
    _check_bounds(months)
    return StatementTotals(
        layout=reading.layout,
        currency=currency,
        fingerprint=hash_lines(lines),
        start=min(line.day for line in lines),
        end=max(line.day for line in lines),
        months={month: _sort_categories(months[month]) for month in sorted(months)},
        skipped=left_out,
    )


def _sort_categories(totals: dict[str, Total]) -> dict[str, Total]:
    return {category: totals[category] for category in CATEGORIES if category in totals}


def _check_bounds(months: dict[date, dict[str, Total]]) -> None:
    if len(months) > MAX_MONTHS:
        raise Unreadable(f"covers more than {MAX_MONTHS} months", "a statement of fewer months; split it")
    if any(total.amount >= _MAX_MONTH_TOTAL for month in months.values() for total in month.values()):
        raise Unreadable("has amounts too large to be real", "amounts in whole units of the currency")


def _find_currency(reading: StatementReading, hints: Hints) -> str:
    """That of the lines, else of the upload, the layout, the card, the account."""
    printed = Counter(line.currency for line in reading.lines if line.currency)
    stated = printed.most_common(1)[0][0] if printed else None
    candidates = (stated, hints.currency, reading.currency, hints.card_currency, hints.own_currency)
    return next(code for code in (*candidates, "USD") if code)


def _explain_exclusion(line: StatementLine, currency: str) -> str | None:
    """Why a line is not counted; None for spending."""
    if line.category.startswith(EXCLUDED):
        return _REASONS[line.category.removeprefix(EXCLUDED)]
    if line.amount <= 0:
        return _REASONS["refund"] if line.amount else "an amount of zero"
    return "another currency" if line.currency not in (None, currency) else None


def hash_lines(lines: Sequence[StatementLine]) -> str:
    """SHA-256 of the sorted lines: the same in any order, encoding or layout of columns."""
    written = sorted(f"{line.day.isoformat()}|{line.amount:.2f}|{line.description}" for line in lines)
    return hashlib.sha256("\n".join(written).encode("utf-8", "surrogatepass")).hexdigest()
