"""Drawings of pages besides charts: the year of what ends, and the nights of a trip."""

from datetime import date, timedelta
from decimal import Decimal
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from auth_server.web.nights import draw_nights
from auth_server.web.year_of_dots import LARGEST, SMALLEST, WIDTH, Ending, draw_year
from shared.domain.look_bars import draw_looks
from shared.domain.party_prices import format_money

TODAY = date(2026, 11, 29)
endings = st.builds(
    Ending,
    day=st.dates(TODAY - timedelta(days=40), TODAY + timedelta(days=500)),
    worth=st.floats(0, 50_000),
    words=st.integers(0, 24).map("W".__mul__),
)


@given(st.lists(endings, max_size=12))
def test_dots_stay_in_the_year_and_words_never_lie_on_words(rows: list[Ending]) -> None:
    year = draw_year(rows, TODAY)
    if year is None:
        return
    assert all(0 <= dot.x <= WIDTH and SMALLEST <= dot.radius <= LARGEST for dot in year.dots)
    for row in {label.y for label in year.labels}:
        spans = sorted((v.x - 3.4 * len(v.words), v.x + 3.4 * len(v.words)) for v in year.labels if v.y == row)
        assert all(left[1] <= right[0] for left, right in pairwise(spans))


def test_a_year_says_in_a_sentence_what_its_dots_show() -> None:
    rows = [Ending(date(2026, 12, 23), 618, "Aeroplan $618"), Ending(date(2027, 5, 7), 2228, "Bonvoy $2,228")]
    year = draw_year(rows, TODAY)
    assert year is not None
    assert year.sentence == "Ends within twelve months: Aeroplan $618 on 23 Dec 2026, Bonvoy $2,228 on 7 May 2027."
    assert [dot.kind for dot in year.dots] == ["hot", "cool"]
    assert year.dots[0].radius < year.dots[1].radius
    assert draw_year([Ending(TODAY, 0.0)], TODAY) is None


def stay(first: int, last: int, state: str = "upcoming") -> dict[str, Any]:
    days = {
        "check_in_date": str(TODAY + timedelta(days=first)),
        "check_out_date": str(TODAY + timedelta(days=last)),
    }
    return days | {"state": state, "hotel": {"city": "Tokyo", "name": "Alder Lodge"}}


@given(st.lists(st.tuples(st.integers(0, 20), st.integers(1, 8)), max_size=4), st.integers(1, 30))
def test_every_night_is_in_bed_in_the_air_or_open(stays: list[tuple[int, int]], length: int) -> None:
    rows = [stay(first, first + nights) for first, nights in stays]
    nights = draw_nights(TODAY, TODAY + timedelta(days=length), [], rows)
    assert nights is not None
    covered = {day for first, count in stays for day in range(first, first + count) if day < length}
    assert (nights.total, nights.open) == (length, length - len(covered))
    assert all(left.x + left.width <= right.x for left, right in pairwise(nights.runs))


def test_a_night_in_the_air_is_not_without_a_bed() -> None:
    flight = {"state": "upcoming", "departure_date": str(TODAY), "arrival_date": str(TODAY + timedelta(days=1))}
    nights = draw_nights(TODAY, TODAY + timedelta(days=4), [flight], [stay(1, 3), stay(3, 4, "cancelled")])
    assert nights is not None
    assert nights.sentence == "Nights: in the air; Tokyo, 2 nights; open, 1 night."
    assert draw_nights(TODAY, TODAY, [], []) is None


@pytest.mark.parametrize(
    ("amount", "currency", "written"),
    [
        (17446.38, "USD", "$17,446"),
        (9.5, "USD", "$9.50"),
        (20, "USD", "$20"),
        (-3, "USD", "-$3"),
        (2180, "EUR", "2,180 EUR"),
        (84.4, "GBP", "84.40 GBP"),
        (61000, "JPY", "61,000 JPY"),
        (Decimal("100.99"), "USD", "$101"),
    ],
)
def test_money_is_written_one_way(amount: float, currency: str, written: str) -> None:
    assert format_money(amount, currency) == written


def test_looks_stand_at_the_end_of_their_row_and_are_counted_in_words() -> None:
    words = {"find": "new seats", "fail": "without an answer"}
    looks = draw_looks(["fail", "find", "find"], "check", words, places=5)
    assert looks is not None
    assert [bar.kind for bar in looks.bars] == ["due", "due", "fail", "find", "find"]
    assert looks.sentence == "The last 3 checks: 2 new seats, 1 without an answer."
    newest = draw_looks(["fail", "find", "find"], "check", words, places=2)
    assert newest is not None
    assert newest.legend == (("find", "new seats"),)
    assert draw_looks([], "check", words) is None
