"""Credits of a statement: payments of the card, refunds of purchases, and other money that came in."""

import re
from collections.abc import Sequence

from shared.domain.card_value import OTHER
from shared.domain.spending.categories import exclude_kind
from shared.domain.spending.line_words import INCOME
from shared.domain.spending.model import EXCLUDED, StatementLine

# On a credit these words say that the card was paid; on a purchase they say how.
_PAID = re.compile(
    r"\b(payments?|thank you|thanks|direct debit|zahlung|zahlungseingang|dankesch(ö|oe)n|danke|lastschrift|einzug|"
    r"bankeinzug|(ü|ue)berweisung|ausgleich|paiement|pr(é|e)l(è|e)vement|merci|virement|pago|gracias|recibo|"
    r"domiciliaci(ó|o)n|pagamento|grazie|addebito diretto|betaling|bedankt|incasso|bet(a|al)t|innbetaling|"
    r"inbetalning|indbetaling|wp(ł|l)ata)\b|繳款|还款|還款"
)
_CAME_BACK = re.compile(
    r"\b(refund(ed)?|returns?|returned|reversal|reversed|chargeback|merchandise credit|credit voucher|cash ?back|"
    r"(r(ü|ue)ck)?erstattung|gutschrift|storno|retoure|remboursement|avoir|retour|annulation|devoluci(ó|o)n|reembolso|"
    r"anulaci(ó|o)n|rimborso|terugbetaling|estorno|zwrot|refusion)\b|退款|退貨|退货|返金|환불"
)
# What these pay back is seldom a purchase taken back.
_OFTEN_INCOME = (OTHER, "insurance_tax_gov", "rent", "tax", "business_services")


def is_called_refund(description: str) -> bool:
    return _CAME_BACK.search(description) is not None


def may_pay_card(description: str) -> bool:
    """Whether the words can be those of money paid to the card, which they are on a credit."""
    return _PAID.search(description) is not None


def judge_credits(lines: Sequence[StatementLine]) -> list[StatementLine]:
    """Gives every credit its kind; a refund has the category of its purchase, if known.

    A credit is a refund where the issuer or its words say so, where its merchant sold something on the same statement,
    or where its merchant is of a known kind. Other money in, such as a salary, is no spending and no refund.
    """
    bought = {line.description: line.category for line in lines if line.amount > 0 and _is_open(line)}
    return [_judge_line(line, bought) for line in lines]


def _is_open(line: StatementLine) -> bool:
    return not line.category.startswith(EXCLUDED)


def _judge_line(line: StatementLine, bought: dict[str, str]) -> StatementLine:
    if line.is_refund and _is_open(line):
        return _make_refund(line, bought)
    if line.amount >= 0 or not _is_open(line):
        return line
    came_back = is_called_refund(line.description)
    is_income = INCOME.search(line.description) is not None
    if not (came_back or is_income) and line.description not in bought and may_pay_card(line.description):
        return line._replace(category=exclude_kind("payment"))
    if came_back or line.description in bought or (line.category not in _OFTEN_INCOME and not is_income):
        return _make_refund(line, bought)
    return line._replace(category=exclude_kind("income"))


def _make_refund(line: StatementLine, bought: dict[str, str]) -> StatementLine:
    category = bought.get(line.description, line.category) if line.category == OTHER else line.category
    return line._replace(category=category, amount=-abs(line.amount), is_refund=True)
