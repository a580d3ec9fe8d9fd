"""Totals of a statement by month and category, and the hash that recognises it again."""

import hashlib
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from decimal import ROUND_HALF_UP, Decimal

from shared.domain.card_value import CATEGORIES, OTHER
from shared.domain.spending.credits import judge_credits
from shared.domain.spending.model import EXCLUDED, Hints, Skipped, StatementLine, StatementReading, UnreadableStatement

MAX_MONTHS = 120
CENT = Decimal("0.01")
ZERO = Decimal(0)
_MAX_MONTH_TOTAL = Decimal(10) ** 12  # of a month's category
_REASONS = {
    "payment": "a payment",
    "refund": "a refund or credit",
    "fee_interest": "a fee or interest",
    "cash_advance": "cash",
    "transfer": "a transfer",
    "income": "money in that is no known refund",
}


@dataclass(frozen=True)
class Total:
    """The purchases, their number, and refunds; amounts above zero."""

    amount: Decimal
    transactions: int
    refunds: Decimal = ZERO


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
    counted: Sequence[StatementLine]  # purchases and refunds
    is_rounded: bool  # amounts of more than two decimals were added and the sums rounded

    @property
    def transactions(self) -> int:
        return sum(total.transactions for month in self.months.values() for total in month.values())

    @property
    def gross(self) -> Decimal:
        return sum((total.amount for month in self.months.values() for total in month.values()), ZERO)

    @property
    def refunds(self) -> Decimal:
        return sum((total.refunds for month in self.months.values() for total in month.values()), ZERO)

    @property
    def uncategorised_share(self) -> Decimal:
        """Share of the spending without a known category."""
        unknown = sum((month[OTHER].amount for month in self.months.values() if OTHER in month), ZERO)
        return (unknown / self.gross).quantize(Decimal("0.0001")) if self.gross else ZERO


def sum_up(reading: StatementReading, hints: Hints, counted_before: Mapping[int, str] | None = None) -> StatementTotals:
    """Totals by month and category. Raises UnreadableStatement without any line, or beyond the limits.

    `counted_before`: numbers of lines that other statements hold already, with what to say of them.
    """
    if not reading.lines:
        why = f": line {reading.skipped[0].line} has {reading.skipped[0].reason}" if reading.skipped else ""
        raise UnreadableStatement(
            f"has no line that can be read{why}", "lines with a date, a description and an amount"
        )
    currency = _find_currency(reading, hints)
    lines = judge_credits(reading.lines)
    left_out, counted = list(reading.skipped), []
    for line in lines:
        reason = (counted_before or {}).get(line.number) or _explain_exclusion(line, currency)
        if reason is not None:
            left_out.append(Skipped(line.number, reason))
        else:
            counted.append(line)
            left_out += [Skipped(line.number, _REASONS["refund"])] if line.is_refund else []
    months = _sum_months(counted)
    _check_bounds(months)
    return StatementTotals(
        layout=reading.layout,
        currency=currency,
        fingerprint=hash_lines(reading.lines),
        start=min(line.day for line in lines),
        end=max(line.day for line in lines),
        months={month: _round_totals(months[month]) for month in sorted(months)},
        skipped=sorted(left_out, key=lambda skipped: skipped.line),
        counted=counted,
        is_rounded=any(line.amount != line.amount.quantize(CENT) for line in counted),
    )


def _sum_months(counted: Sequence[StatementLine]) -> dict[date, dict[str, Total]]:
    months: dict[date, dict[str, Total]] = {}
    for line in counted:
        month = months.setdefault(line.day.replace(day=1), {})
        before = month.get(line.category, Total(ZERO, 0))
        if line.is_refund:
            month[line.category] = Total(before.amount, before.transactions, before.refunds - line.amount)
        else:
            month[line.category] = Total(before.amount + line.amount, before.transactions + 1, before.refunds)
    return months


def _round_totals(totals: dict[str, Total]) -> dict[str, Total]:
    """Totals in the order of the categories; sums are rounded once, lines never."""
    return {
        category: Total(_round_cents(total.amount), total.transactions, _round_cents(total.refunds))
        for category in CATEGORIES
        if (total := totals.get(category)) is not None
    }


def _round_cents(amount: Decimal) -> Decimal:
    exponent = amount.as_tuple().exponent
    return amount.quantize(CENT, ROUND_HALF_UP) if isinstance(exponent, int) and exponent < -2 else amount


def _check_bounds(months: dict[date, dict[str, Total]]) -> None:
    if len(months) > MAX_MONTHS:
        raise UnreadableStatement(f"covers more than {MAX_MONTHS} months", "a statement of fewer months; split it")
    totals = [total for month in months.values() for total in month.values()]
    if any(max(total.amount, total.refunds) >= _MAX_MONTH_TOTAL for total in totals):
        raise UnreadableStatement("has amounts too large to be real", "amounts in whole units of the currency")


def _find_currency(reading: StatementReading, hints: Hints) -> str:
    """The currency of the file, else of the upload, card, issuer's header or account; else asks for it.

    Raises UnreadableStatement where nothing says it, or where the issuer and the account say different ones.
    """
    printed = Counter(line.currency for line in reading.lines if line.currency)
    currency = printed.most_common(1)[0][0] if printed else reading.currency
    sure = next((code for code in (currency, hints.currency, hints.card_currency) if code), None)
    if sure:
        return sure
    candidates = {code for code in (reading.issuer_currency, hints.own_currency) if code}
    if len(candidates) == 1:
        return candidates.pop()
    problem = "is needed: neither the statement nor a card says in which currency the amounts are"
    raise UnreadableStatement(problem, "three letters such as USD, GBP or EUR, or card_id of the card", "currency")


def _explain_exclusion(line: StatementLine, currency: str) -> str | None:
    """Why a line is not counted; None for a purchase or a refund."""
    if line.category.startswith(EXCLUDED):
        return _REASONS[line.category.removeprefix(EXCLUDED)]
    if not line.amount:
        return "an amount of zero"
    return "another currency" if line.currency not in (None, currency) else None


def hash_lines(lines: Collection[StatementLine]) -> str:
    """SHA-256 of the sorted lines: the same in any order, encoding or layout of columns."""
    written = sorted(f"{line.day.isoformat()}|{line.amount:.2f}|{line.description}" for line in lines)
    return hashlib.sha256("\n".join(written).encode("utf-8", "surrogatepass")).hexdigest()
