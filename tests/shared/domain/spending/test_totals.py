"""What is kept of a statement: what counts as spending, in which currency, and the fingerprint."""

from dataclasses import replace
from datetime import date
from decimal import Decimal
from itertools import permutations

import pytest

from shared.domain.spending.model import Hints, Skipped, StatementLine, StatementReading, Unreadable
from shared.domain.spending.totals import StatementTotals, hash_lines, sum_up

DAY = date(2026, 3, 14)
HINTS = Hints(date(2026, 11, 21))


def line(
    amount: str, category: str = "dining", *, day: date = DAY, currency: str | None = None, what: str = "x"
) -> StatementLine:
    return StatementLine(1, day, Decimal(amount), what, category, currency)


def sum_statement(*lines: StatementLine, layout: str | None = None, hints: Hints = HINTS) -> StatementTotals:
    return sum_up(StatementReading("table", layout, lines, []), hints)


def test_charges_add_up_by_month_and_category() -> None:
    later = date(2026, 4, 1)
    result = sum_statement(line("10.10"), line("0.05"), line("7", "fuel"), line("3", day=later))
    assert {f"{m:%Y-%m}": {c: str(t.amount) for c, t in totals.items()} for m, totals in result.months.items()} == {
        "2026-03": {"dining": "10.15", "fuel": "7"},
        "2026-04": {"dining": "3"},
    }
    assert (result.transactions, result.start, result.end) == (4, DAY, later)


def test_credits_payments_and_fees_are_no_spending_and_named() -> None:
    kinds = ["payment", "fee_interest", "cash_advance", "transfer"]
    result = sum_statement(line("5"), line("-2"), line("0"), *(line("9", f"excluded:{kind}") for kind in kinds))
    assert result.transactions == 1
    assert [s.reason for s in result.skipped] == [
        *("a refund or credit", "an amount of zero", "a payment"),
        *("a fee or interest", "cash", "a transfer"),
    ]


def test_a_line_in_another_currency_is_not_added_to_the_first() -> None:
    result = sum_statement(line("5", currency="GBP"), line("6", currency="GBP"), line("9", currency="EUR"))
    assert (result.currency, result.transactions, [s.reason for s in result.skipped]) == (
        "GBP",
        2,
        ["another currency"],
    )


def test_the_currency_is_the_statements_then_what_was_said_then_layout_card_and_profile() -> None:
    hints = replace(HINTS, currency="CHF", card_currency="CAD", own_currency="AUD")
    assert sum_statement(line("5", currency="GBP"), layout="USD", hints=hints).currency == "GBP"
    assert sum_statement(line("5"), layout="EUR", hints=hints).currency == "CHF"
    hints = replace(hints, currency=None)
    assert sum_statement(line("5"), layout="EUR", hints=hints).currency == "EUR"
    assert sum_statement(line("5"), hints=hints).currency == "CAD"
    assert sum_statement(line("5"), hints=replace(hints, card_currency=None)).currency == "AUD"
    assert sum_statement(line("5")).currency == "USD"


def test_the_share_of_unknown_shops_is_a_share_of_the_amount() -> None:
    assert sum_statement(line("75"), line("25", "other")).uncategorised_share == Decimal("0.25")
    assert sum_statement(line("-5")).uncategorised_share == 0


def test_the_fingerprint_knows_the_lines_and_neither_their_order_nor_their_layout() -> None:
    lines = [line("5"), line("6", what="y"), line("6.00", what="y"), line("-5", "excluded:payment")]
    assert len({hash_lines(order) for order in permutations(lines)}) == 1
    others = [lines[:3], [line("5.01"), *lines[1:]], [line("5", what="z"), *lines[1:]], [*lines, lines[0]]]
    assert len({hash_lines(lines), *map(hash_lines, others)}) == 5


def test_nothing_to_add_up_and_too_much_of_it_are_refused() -> None:
    with pytest.raises(Unreadable, match=r"no line that can be read: line 7 has no date"):
        sum_up(StatementReading("table", None, [], [Skipped(7, "no date that can be read")]), HINTS)
    months = [line("1", day=date(1990 + n // 12, n % 12 + 1, 1)) for n in range(121)]
    with pytest.raises(Unreadable, match="more than 120 months"):
        sum_statement(*months)
    with pytest.raises(Unreadable, match="too large"):
        sum_statement(*[line("999999999")] * 1001)
