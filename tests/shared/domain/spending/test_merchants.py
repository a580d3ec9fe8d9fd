"""Names of shops as a person would call them, and what was said of them once."""

import random

from hypothesis import given, settings
from hypothesis import strategies as st

from shared.domain.spending.categories import clean_description
from shared.domain.spending.merchants import TaughtShops, name_shop

_BEFORE = ("", "SQ *", "POS ", "visa purchase ", "SUMUP *", "Kauf ")
_AFTER = ("", " #0042", " 0815 LEEDS GB", " 4111111111111111", "   London", " F123", "/Berlin", " 12.50")
_NAMES = ("Quux", "Café Zorg", "Blåbær Bakeri", "スーパー玉", "Кофе Дом", "7-Quux", "B&Q Zorg", "L'Épi d'Or", "दुकान")


@settings(max_examples=50)
@given(st.text(max_size=80))
def test_the_name_of_a_name_is_itself(text: str) -> None:
    assert name_shop(name_shop(text)) == name_shop(text)


def test_a_shop_that_was_named_once_is_known_under_whatever_its_line_adds() -> None:
    draw, faults = random.Random(5), []
    for name in _NAMES:
        old = TaughtShops(("old",)).learn({name: "dining"})
        taught = TaughtShops(("new", "old"), old.categories)  # the key of the service was changed since
        for before in _BEFORE:
            for after in _AFTER:
                case = draw.choice((str.upper, str.lower, str))
                line = clean_description(case(before + name) + after)
                if taught.find(line) != "dining":
                    faults.append(line)
        if taught.learn({name.upper(): ""}).categories:
            faults.append(f"{name} is not forgotten")
    assert faults == []


def test_another_shop_is_not_sorted_and_the_longest_name_wins() -> None:
    taught = TaughtShops(("key",)).learn({"quux": "dining", "quux fuel": "fuel", "zorg": "groceries"})
    lines = {"quux fuel 12": "fuel", "quux london": "dining", "quuxotic": None, "old zorg": None, "": None}
    assert {line: taught.find(line) for line in lines} == lines
