"""What is kept of a statement: what counts as spending, in which currency, and the fingerprint."""

from dataclasses import replace
from datetime import date
from decimal import Decimal
from itertools import permutations

import pytest

from shared.domain.spending.model import Hints, Skipped, StatementLine, StatementReading, UnreadableStatement
from shared.domain.spending.totals import StatementTotals, hash_lines, sum_up

DAY = date(2026, 3, 14)
HINTS = Hints(date(2026, 11, 21), currency="USD")


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


def test_the_currency_is_the_files_then_what_was_said_then_the_cards_then_the_accounts() -> None:
    hints = replace(HINTS, currency="CHF", card_currency="CAD", own_currency="AUD")
    assert sum_statement(line("5", currency="GBP"), layout="USD", hints=hints).currency == "GBP"
    assert sum_statement(line("5"), layout="EUR", hints=hints).currency == "EUR"
    assert sum_statement(line("5"), hints=hints).currency == "CHF"
    hints = replace(hints, currency=None)
    assert sum_statement(line("5"), hints=hints).currency == "CAD"
    assert sum_statement(line("5"), hints=replace(hints, card_currency=None)).currency == "AUD"


@pytest.mark.parametrize(("issuer", "own"), [(None, None), ("USD", "EUR")])
def test_a_currency_that_nothing_tells_or_two_tell_otherwise_is_asked_for(issuer: str | None, own: str | None) -> None:
    reading = StatementReading("table", None, [line("5")], [], issuer)
    with pytest.raises(UnreadableStatement) as refused:
        sum_up(reading, replace(HINTS, currency=None, own_currency=own))
    assert (refused.value.field, "such as USD, GBP or EUR" in refused.value.expected) == ("currency", True)
    assert sum_up(reading, replace(HINTS, currency=None, own_currency="USD")).currency == "USD"


def test_amounts_are_added_exactly_and_rounded_once() -> None:
    result = sum_statement(line("1.0049"), line("1.0049"), line("1.0049"))
    assert (result.months[date(2026, 3, 1)]["dining"].amount, result.is_rounded) == (Decimal("3.01"), True)
    assert not sum_statement(line("1.05")).is_rounded


@pytest.mark.parametrize(
    ("credit", "refunds", "reason"),
    [
        (line("-5", "retail", what="nordstrom"), {"retail": Decimal(5)}, "a refund or credit"),
        (line("-5", "other", what="zed ltd"), {"dining": Decimal(5)}, "a refund or credit"),
        (line("-5", "other", what="zorblatt gutschrift"), {"other": Decimal(5)}, "a refund or credit"),
        (line("-900", "other", what="salary march"), {}, "money in that is no known refund"),
        (line("-900", "insurance_tax_gov", what="hmrc"), {}, "money in that is no known refund"),
        (line("-900", "other", what="zahlung dankeschoen"), {}, "a payment"),
        (line("-900", "other", what="paiement recu merci"), {}, "a payment"),
    ],
)
def test_a_credit_is_a_refund_a_payment_or_other_money_in(
    credit: StatementLine, refunds: dict[str, Decimal], reason: str
) -> None:
    result = sum_statement(line("20", "dining", what="zed ltd"), credit)
    (month,) = result.months.values()
    assert {category: total.refunds for category, total in month.items() if total.refunds} == refunds
    assert (result.gross, result.refunds) == (20, sum(refunds.values()))
    assert [s.reason for s in result.skipped] == [reason]


def test_the_share_of_unknown_shops_is_a_share_of_the_amount() -> None:
    assert sum_statement(line("75"), line("25", "other")).uncategorised_share == Decimal("0.25")
    assert sum_statement(line("-5")).uncategorised_share == 0


def test_the_fingerprint_knows_the_lines_and_neither_their_order_nor_their_layout() -> None:
    lines = [line("5"), line("6", what="y"), line("6.00", what="y"), line("-5", "excluded:payment")]
    assert len({hash_lines(order) for order in permutations(lines)}) == 1
    others = [lines[:3], [line("5.01"), *lines[1:]], [line("5", what="z"), *lines[1:]], [*lines, lines[0]]]
    assert len({hash_lines(lines), *map(hash_lines, others)}) == 5


def test_nothing_to_add_up_and_too_much_of_it_are_refused() -> None:
    with pytest.raises(UnreadableStatement, match=r"no line that can be read: line 7 has no date"):
        sum_up(StatementReading("table", None, [], [Skipped(7, "no date that can be read")]), HINTS)
    months = [line("1", day=date(1990 + n // 12, n % 12 + 1, 1)) for n in range(121)]
    with pytest.raises(UnreadableStatement, match="more than 120 months"):
        sum_statement(*months)
    with pytest.raises(UnreadableStatement, match="too large"):
        sum_statement(*[line("999999999")] * 1001)
