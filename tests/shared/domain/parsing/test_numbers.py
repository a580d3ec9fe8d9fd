"""A typed number is the one its writer means, or it is refused; it is never a part of what was typed."""

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared.domain.parsing.amounts import parse_amount, parse_number, uses_decimal_comma
from shared.domain.parsing.numbers import UnreadNumber, read_number
from tests.support.number_writings import WRITINGS

# How the world groups and where it puts the decimals: the mark of groups, the decimal mark, and the sizes of groups.
HABITS = st.sampled_from(
    [(",", ".", 3), (".", ",", 3), (" ", ",", 3), ("\u00a0", ",", 3), ("\u202f", ",", 3), ("'", ".", 3), (",", ".", 2)]
)


def read(text: str, *, is_whole: bool) -> int | Decimal | str:
    """What it says, or why it is refused."""
    try:
        number: int | Decimal = read_number(text, is_whole=is_whole)
    except UnreadNumber as fault:
        return str(fault)
    return number


def group(number: int, mark: str, size: int) -> str:
    digits = str(number)
    head, groups = digits[:-3], [digits[-3:]]
    while head:
        head, groups = head[:-size], [head[-size:], *groups]
    return mark.join(groups)


@pytest.mark.parametrize(("text", "whole", "amount"), WRITINGS)
def test_each_writing_is_read_or_refused(text: str, whole: int | None, amount: Decimal | None) -> None:
    for wanted, is_whole in ((whole, True), (amount, False)):
        got = read(text, is_whole=is_whole)
        assert isinstance(got, str) if wanted is None else got == wanted


def test_two_readings_are_both_named() -> None:
    with pytest.raises(UnreadNumber) as two:
        read_number("1.299", is_whole=False)
    assert (str(two.value), two.value.expected) == ("can mean 1,299 or 1.299", "1299 or 1.30")


@given(st.integers(0, 10**12), HABITS)
def test_a_whole_number_in_any_habit_is_itself(number: int, habit: tuple[str, str, int]) -> None:
    mark, _, size = habit
    assert read(group(number, mark, size), is_whole=True) == number


@given(st.integers(0, 10**9), st.integers(0, 99), HABITS)
def test_an_amount_with_cents_in_any_habit_is_itself(whole: int, cents: int, habit: tuple[str, str, int]) -> None:
    mark, point, size = habit
    text = f"{group(whole, mark, size)}{point}{cents:02}"
    assert read(text, is_whole=False) == Decimal(f"{whole}.{cents:02}")
    assert parse_number(text) == Decimal(f"{whole}.{cents:02}")


@given(st.integers(0, 10**9), HABITS)
def test_an_amount_without_cents_is_itself_or_asked(whole: int, habit: tuple[str, str, int]) -> None:
    mark, _, size = habit
    got = read(group(whole, mark, size), is_whole=False)
    assert got == whole or (1000 <= whole < 10**6 and mark in ".," and str(got).startswith(f"can mean {whole:,} or "))


@given(st.text(alphabet="0123456789.,' \u00a0-+e%$€x_٤²\n", max_size=14))
def test_no_digit_is_dropped(text: str) -> None:
    for is_whole in (True, False):
        got = read(text, is_whole=is_whole)
        if isinstance(got, str):
            continue
        typed, said = ("".join(c for c in t if c in "123456789") for t in (text, f"{got:f}" if got else ""))
        assert typed == said
        assert all(c in "0123456789.,' \u00a0-\n" for c in text)


@pytest.mark.parametrize(
    ("cells", "first"),
    [
        (["42.000", "950"], "42000"),
        (["42,000", "950"], "42000"),
        (["1.299", "12,50"], "1299"),
        (["1,299", "12.50"], "1299"),
        (["1.299", "12.5"], "1.299"),
        (["0.125", "1.500"], "0.125"),
    ],
)
def test_a_column_of_amounts_says_what_its_mark_means(cells: list[str], first: str) -> None:
    assert parse_amount(cells[0], uses_decimal_comma(cells)) == Decimal(first)


def test_thousandths_of_a_dinar_are_no_groups() -> None:
    cells = ["42.000", "7.500"]
    assert parse_amount(cells[0], uses_decimal_comma(cells, thousandths=True)) == 42
