"""Short forms of ids: they say the same as the long ones, and nothing else is taken for one."""

from datetime import date
from uuid import UUID, uuid4

import pytest

from shared.domain.short_ids import number_cell, read_cell, read_uuid, shorten_uuid


@pytest.mark.parametrize("id", [UUID(int=0), UUID(int=2**128 - 1), uuid4()])
def test_a_random_id_is_read_from_both_forms(id: UUID) -> None:
    short = shorten_uuid(id)
    assert len(short) == 22
    assert read_uuid(short) == read_uuid(str(id)) == read_uuid(str(id).upper()) == id


@pytest.mark.parametrize(
    "text", ["", "x", "A" * 21, "A" * 23, "é" * 22, "=" * 22, "+/" * 10 + "==", "424242", "0" * 31]
)
def test_other_texts_are_no_random_id(text: str) -> None:
    assert read_uuid(text) is None


@pytest.mark.parametrize(
    "cell",
    [
        ("AAA", "AAA", date(2026, 1, 1), "economy"),
        ("ZZZ", "ZZ9", date(2070, 11, 9), "first"),
        ("LHR", "JFK", date(2027, 2, 28), "premium_economy"),
        ("00A", "NRT", date(2028, 2, 29), "business"),
    ],
)
def test_a_route_day_and_cabin_are_read_back_from_six_bytes(cell: tuple[str, str, date, str]) -> None:
    number = number_cell(cell)
    assert number is not None
    assert number < 2**48
    assert read_cell(number) == cell


@pytest.mark.parametrize(
    "cell",
    [
        ("LH", "RJFK", date(2027, 1, 1), "economy"),
        ("lhr", "JFK", date(2027, 1, 1), "economy"),
        ("L_R", "JFK", date(2027, 1, 1), "economy"),
        ("LHR", "JFK", date(2025, 12, 31), "economy"),
        ("LHR", "JFK", date(2071, 1, 1), "economy"),
    ],
)
def test_what_is_no_route_and_day_of_these_decades_has_no_number(cell: tuple[str, str, date, str]) -> None:
    assert number_cell(cell) is None


def test_a_number_that_stands_for_no_route_is_not_read() -> None:
    assert read_cell(2**48 - 1) is None
