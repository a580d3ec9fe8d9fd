"""Statements in other scripts and encodings, and those whose own totals, period or reversals say how to read them."""

import re
from collections.abc import Iterator
from datetime import date
from decimal import Decimal
from pathlib import Path

import pytest

from shared.documents.card_statements import read_source
from shared.documents.text_decoding import decode_text
from shared.domain.spending.credits import may_pay_card
from shared.domain.spending.line_words import UNPROVED
from shared.domain.spending.model import Hints, UnreadableStatement
from shared.reference.load import reference
from shared.reference.spending import build_book

TODAY = date(2026, 11, 28)


def _list_papers() -> Iterator[tuple[str, dict[str, str], str, list[tuple[str, Decimal]]]]:
    """Name, headers, text and lines of each paper; an amount is positive where it was spent."""
    for block in re.split(r"^#### ", (Path(__file__).parent / "papers.txt").read_text(), flags=re.MULTILINE)[1:]:
        head, rest = block.split("=== text\n")
        text, lines = rest.split("=== expect\n")
        name, *headers = head.strip().split("\n")
        pairs = (line.split() for line in lines.strip().split("\n"))
        yield name, dict(h.split(": ") for h in headers), text, [(day, Decimal(amount)) for day, amount in pairs]


def test_each_paper_is_read_as_it_was_meant() -> None:
    book, faults = build_book(reference()), []
    for name, head, text, lines in _list_papers():
        content = decode_text(text.encode(head.get("Encoding", "utf-8")))
        made = read_source(content, book, Hints(TODAY, currency=head["Currency"]))
        if isinstance(made, UnreadableStatement):
            faults.append((name, made.problem))
            continue
        found = sorted((line.day.isoformat(), line.amount) for line in made[0].lines)
        faults += [(name, found)] if found != sorted(lines) else []
    assert faults == []


@pytest.mark.parametrize("words", ["PAYMENT", "PAGO TARJETA", "PAGAMENTO EFETUADO", "PAIEMENT 4411"])
def test_what_may_have_paid_the_card_in_a_file_without_signs_is_named_and_not_counted(words: str) -> None:
    text = (
        "Date,Description,Amount\n2026-10-02,ZORBLATT,20.00\n"
        f"2026-10-04,{words},310.25\n2026-10-05,QUINT,31.50\n2026-10-07,MIRABEL,12.10\n"
    )
    made = read_source(decode_text(text.encode()), build_book(reference()), Hints(TODAY, "EUR", positive_is="spent"))
    assert not isinstance(made, UnreadableStatement)
    assert [line.description for line in made[0].lines] == ["zorblatt", "quint", "mirabel"]
    assert [(skip.line, skip.reason) for skip in made[0].skipped] == [(3, UNPROVED)]


def test_fees_of_which_nothing_says_whether_the_amounts_hold_them_are_not_guessed_at() -> None:
    text = "Date,Merchant,Amount,Fee\n2026-10-03,ZORBLATT,-40.00,-0.80\n2026-10-05,QUINT,-10.00,0.00\n"
    made = read_source(decode_text(text.encode()), build_book(reference()), Hints(TODAY, currency="EUR"))
    assert isinstance(made, UnreadableStatement)
    assert "fees" in made.problem


@pytest.mark.parametrize("fee", ["0.00", ""])
def test_a_column_of_fees_that_has_none_changes_nothing(fee: str) -> None:
    text = f"Date,Merchant,Amount,Fee\n2026-10-03,ZORBLATT,-40.00,{fee}\n2026-10-05,QUINT,-10.00,{fee}\n"
    made = read_source(decode_text(text.encode()), build_book(reference()), Hints(TODAY, currency="EUR"))
    assert not isinstance(made, UnreadableStatement)
    assert [line.amount for line in made[0].lines] == [Decimal("40.00"), Decimal("10.00")]


@pytest.mark.parametrize("words", ["信用卡還款", "信用卡还款"])
def test_words_that_stand_among_letters_without_blanks_are_found(words: str) -> None:
    assert may_pay_card(words)
