"""What statements are read with here: the book of the reference data and no hint but the day."""

from collections.abc import Callable
from datetime import date
from typing import Any

import pytest

from shared.domain.spending import pasted_text, table
from shared.domain.spending.model import Hints, StatementReading
from shared.reference.load import reference
from shared.reference.spending import build_book

TODAY = date(2026, 11, 21)
Read = Callable[..., StatementReading]


@pytest.fixture
def read() -> Read:
    """read(text, currency=...) -> the lines of a table or a text."""

    def run(text: str, **hints: Any) -> StatementReading:
        existing = build_book(reference())
        beside = Hints(TODAY, **hints)
        result = table.read_table(text, existing, beside) or pasted_text.read_pasted_text(text, existing, beside)
        assert result is not None
        return result

    return run
