"""Grouped alternatives find something exactly where the written pattern does."""

import re

import pytest

from shared.domain.confirmations import passenger_words, price_words
from shared.domain.parsing.alternatives import compile_any

WORDS = rf"{passenger_words.PERSON}|{passenger_words.CUSTOMER}|{passenger_words.NAME}|{passenger_words.CHILD}"
PATTERNS = [
    r"total|to(?:tal|day)|tax|(?<!sub)total|\btip\b",
    r"a|ab|a*b|[ab|c]d|\|e|x\(|x",
    r"[]|]z|[^]|]q|y",
    "",
    "a||b",
    WORDS,
    price_words.TOTAL.pattern,
    price_words.TAXES.pattern,
]
TEXTS = [
    "",
    "subtotal",
    "today",
    "tip",
    "tips",
    "a",
    "b|",
    "cd",
    "|e",
    "x(",
    "|z",
    "pq",
    "y",
    "3 travellers",
    "tasas",
    "名",
]


@pytest.mark.parametrize("pattern", PATTERNS)
def test_grouped_alternatives_find_what_the_pattern_finds(pattern: str) -> None:
    grouped, written = compile_any(pattern), re.compile(pattern)
    assert [bool(grouped.search(text)) for text in TEXTS] == [bool(written.search(text)) for text in TEXTS]


def test_each_first_letter_stands_once() -> None:
    assert compile_any("passenger|guest|pasajero|guests?|g+").pattern == "p(?:assenger|asajero)|g(?:uest|uests?)|g+"
