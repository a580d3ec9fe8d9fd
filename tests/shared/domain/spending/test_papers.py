"""Statements in other scripts and encodings, and those whose own totals, period or reversals say how to read them."""

import re
from collections.abc import Iterator
from datetime import date
from decimal import Decimal
from pathlib import Path

from shared.documents.card_statements import read_source
from shared.documents.text_decoding import decode_text
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
