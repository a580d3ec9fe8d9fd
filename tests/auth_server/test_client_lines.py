"""Lines of a client's form: points and preferences are read as they were written, whatever they hold."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from auth_server.pages.clients import (
    UnreadableLine,
    read_points,
    read_preferences,
    write_points,
    write_preferences,
)

TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-(10**9), 10**9) | TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3),
    max_leaves=6,
)


@given(st.dictionaries(TEXT.filter(str.strip), VALUES, max_size=5))
def test_preferences_are_read_as_they_were_written(preferences: dict[str, Any]) -> None:
    assert read_preferences(write_preferences(preferences)) == preferences


@pytest.mark.parametrize(
    ("value", "line"),
    [
        ("aisle", "seat: aisle"),
        ("true", 'seat: "true"'),
        (True, "seat: true"),
        (2, "seat: 2"),
        ("", "seat: "),
        (["a", "b"], 'seat: ["a", "b"]'),
        ("one\ntwo", 'seat: "one\\ntwo"'),
    ],
)
def test_plain_text_stands_as_it_is_and_the_rest_as_json(value: Any, line: str) -> None:
    assert write_preferences({"seat": value}) == line
    assert read_preferences(line) == {"seat": value}


@pytest.mark.parametrize("text", ["NaN", "1e999", '"\\ud800"', "[" * 10_000, "9" * 5000])
def test_what_could_not_be_stored_is_text(text: str) -> None:
    assert read_preferences(f"seat: {text}") == {"seat": text}


def test_points_are_read_by_the_names_of_their_programmes() -> None:
    lines = write_points({"united-mileageplus": 62340, "Hotel: Club": 5}, {"united-mileageplus": "United MileagePlus"})
    assert lines == "Hotel: Club: 5\nUnited MileagePlus: 62,340"
    assert read_points(f"\n {lines} \n\n") == {"United MileagePlus": "62,340", "Hotel: Club": "5"}
    assert read_points("") == {}


@pytest.mark.parametrize("text", ["United", "United:", ": 5", "United: 5\nUnited: 6"])
def test_a_line_of_points_that_says_too_little_is_named(text: str) -> None:
    with pytest.raises(UnreadableLine):
        read_points(text)


@pytest.mark.parametrize("text", ["aisle", ": aisle", '"seat" aisle', '"seat: aisle', "seat: a\nseat: b"])
def test_a_line_of_preferences_that_says_too_little_is_named(text: str) -> None:
    with pytest.raises(UnreadableLine):
        read_preferences(text)
