"""Gaps of a trip: nights without a bed and broken ways are named; what may be in order is not."""

from datetime import date

import pytest

from shared.domain.trip_gaps import BookedFlight, BookedNights, Gap, find_gaps


def day(number: int) -> date:
    return date(2027, 5, number)


def same_place(one: str, other: str) -> bool:
    return one == other or {one, other} == {"HND", "NRT"}


OUT = BookedFlight("FRA", "HND", day(1), day(2))
BACK = BookedFlight("NRT", "FRA", day(10), day(10))


def name_gaps(flights: list[BookedFlight], stays: list[BookedNights], *span: date) -> list[tuple[str, date, date]]:
    start, end = span or (None, None)
    gaps: list[Gap] = find_gaps(start, end, flights, stays, same_place)
    return [(g.kind, g.first, g.last) for g in gaps]


@pytest.mark.parametrize(
    ("stays", "gaps"),
    [
        ([BookedNights(day(2), day(10))], []),
        ([BookedNights(day(2), day(5)), BookedNights(day(7), day(10))], [("night", day(5), day(7))]),
        ([BookedNights(day(3), day(9))], [("night", day(2), day(3)), ("night", day(9), day(10))]),
        ([], []),  # no stay at all: still being planned
    ],
)
def test_nights_without_a_stay_are_named(stays: list[BookedNights], gaps: list[tuple[str, date, date]]) -> None:
    assert name_gaps([OUT, BACK], stays) == gaps


def test_a_night_on_board_is_no_gap() -> None:
    assert name_gaps([OUT, BACK], [BookedNights(day(2), day(10))], day(1), day(10)) == []
    unknown = BookedFlight("FRA", "HND", day(1), None)
    assert name_gaps([unknown, BACK], [BookedNights(day(2), day(10))], day(1), day(10)) == []


def test_a_way_that_no_flight_connects_is_named() -> None:
    onward = BookedFlight("KIX", "FRA", day(10), day(10))
    assert name_gaps([OUT, onward], []) == [("flight", day(2), day(10))]
    assert name_gaps([OUT, BACK], []) == []  # two airports of one city


def test_the_ways_of_each_member_are_looked_at_apart() -> None:
    hers = [BookedFlight("LIS", "HND", day(1), day(2), "Anna"), BookedFlight("HND", "LIS", day(10), day(10), "Anna")]
    assert name_gaps([OUT, *hers, BACK], []) == []
    lost = BookedFlight("KIX", "LIS", day(10), day(10), "Anna")
    (gap,) = find_gaps(None, None, [OUT, hers[0], lost, BACK], [], same_place)
    assert gap.text == "Nothing is filed for Anna from HND (2 May 2027) to KIX (10 May 2027)."
