"""Gaps of a trip: nights without a bed and broken ways are named; what may be in order is not."""

from collections import Counter
from datetime import UTC, date, datetime, time, timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

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
        ([], [("night", day(2), day(10))]),
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
    stay = BookedNights(day(2), day(10))
    assert name_gaps([OUT, onward], [stay]) == [("flight", day(2), day(10))]
    assert name_gaps([OUT, BACK], [stay]) == []  # two airports of one city, days apart
    rides = [(day(5), "Train to Osaka"), (day(12), "Taxi home")]
    (gap,) = find_gaps(None, None, [OUT, onward], [stay], same_place, rides)
    way = "from HND (2 May 2027) to KIX (10 May 2027)"
    assert (gap.kind, gap.text) == ("flight", f"No flight is filed {way}, but Train to Osaka (5 May 2027).")


def test_the_ways_of_each_member_are_looked_at_apart() -> None:
    hers = [BookedFlight("LIS", "HND", day(1), day(2), "Anna"), BookedFlight("HND", "LIS", day(10), day(10), "Anna")]
    stay = BookedNights(day(2), day(10))
    assert name_gaps([OUT, *hers, BACK], [stay]) == []
    lost = BookedFlight("KIX", "LIS", day(10), day(10), "Anna")
    (gap,) = find_gaps(None, None, [OUT, hers[0], lost, BACK], [stay], same_place)
    assert gap.text == "Nothing is filed for Anna from HND (2 May 2027) to KIX (10 May 2027)."


def at(number: int, hour: int) -> datetime:
    return datetime(2027, 5, number, hour, tzinfo=UTC)


def fly(origin: str, destination: str, leaves: datetime, lands: datetime, *codes: str) -> BookedFlight:
    days = (leaves.date(), lands.date())
    return BookedFlight(origin, destination, *days, leaves=leaves, lands=lands, codes=frozenset(codes))


@pytest.mark.parametrize(
    ("hour", "origin", "code", "kinds"),
    [
        (11, "LHR", "B", ["connection"]),
        (9, "LHR", "B", ["connection"]),  # before the first lands
        (13, "LHR", "B", []),
        (11, "LHR", "A", []),
        (13, "LGW", "B", ["airport"]),
        (11, "LGW", "A", ["airport"]),
    ],
)
def test_a_short_connection_of_two_tickets_and_another_airport_are_named(
    hour: int, origin: str, code: str, kinds: list[str]
) -> None:
    flights = [fly("MAN", "LHR", at(1, 8), at(1, 10), "A"), fly(origin, "HND", at(1, hour), at(2, 8), code)]

    def in_london(one: str, other: str) -> bool:
        return one == other or {one, other} == {"LHR", "LGW"}

    assert [gap.kind for gap in find_gaps(None, None, flights, [], in_london)] == kinds


def test_flights_of_unknown_bookings_are_not_called_a_short_connection() -> None:
    flights = [fly("MAN", "LHR", at(1, 8), at(1, 10), "A"), fly("LHR", "HND", at(1, 11), at(2, 8))]
    assert find_gaps(None, None, flights, [], same_place) == []


def test_the_order_of_flights_of_one_day_is_that_of_their_times() -> None:
    flights = [fly("LHR", "HND", at(1, 14), at(2, 8), "B"), fly("MAN", "LHR", at(1, 8), at(1, 10), "A")]
    assert find_gaps(None, None, flights, [], same_place) == []


@settings(max_examples=30, deadline=None)
@given(st.lists(st.sampled_from(["slept", "missing", "double"]), min_size=2, max_size=12), st.booleans())
def test_the_gaps_that_are_found_are_those_that_were_made(nights: list[str], is_short: bool) -> None:
    home = day(2) + timedelta(days=len(nights))
    stays = []
    for n, kind in enumerate(nights):
        night = BookedNights(day(2) + timedelta(days=n), day(3) + timedelta(days=n), f"hotel {n}")
        stays += [night] * {"slept": 1, "missing": 0, "double": 2}[kind]
    leaves = datetime.combine(home, time(10), UTC)
    hop = fly("HND", "KIX", leaves, leaves + timedelta(hours=1), "A")
    onward = leaves + timedelta(hours=2 if is_short else 5)
    flights = [OUT, hop, fly("KIX", "FRA", onward, onward + timedelta(hours=1), "B")]
    gaps = find_gaps(day(1), home, flights, stays, same_place)
    found = Counter[date]()
    for gap in gaps:
        if gap.kind == "night":
            found.update(gap.first + timedelta(days=n) for n in range((gap.last - gap.first).days))
    assert found == Counter(day(2) + timedelta(days=n) for n, kind in enumerate(nights) if kind == "missing")
    doubles = [gap.first for gap in gaps if gap.kind == "double_night"]
    assert doubles == [day(2) + timedelta(days=n) for n, kind in enumerate(nights) if kind == "double"]
    assert [gap.kind for gap in gaps if gap.kind not in ("night", "double_night")] == ["connection"] * is_short
