"""What statements are read with here: the book of the reference data and no hint but the day."""

from collections.abc import Callable
from datetime import date
from typing import Any

import pytest

from shared.domain.spending import plain, table
from shared.domain.spending.model import Hints, Reading
from shared.reference.load import reference
from shared.reference.spending import book

TODAY = date(2026, 11, 21)
Read = Callable[..., Reading]


@pytest.fixture
def read() -> Read:
    """read(text, currency=...) -> the lines of a table or a text."""

    def run(text: str, **hints: Any) -> Reading:
        known = book(reference())
        beside = Hints(TODAY, **hints)
        found = table.read(text, known, beside) or plain.read(text, known, beside)
        assert found is not None
        return found

    return run
