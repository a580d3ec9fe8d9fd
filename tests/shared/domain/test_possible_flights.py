"""Flights that can be and flights that cannot: real airports of the reference, with times a schedule could have."""

import random
from collections.abc import Iterator
from datetime import UTC, date, datetime, time, timedelta
from zoneinfo import ZoneInfo

import pytest

from shared.domain.possible_flights import Leg, Route, find_clashes, find_limits, judge_times
from shared.reference.load import reference

# Scheduled non-stop flights at the edges: hops, propellers, jet streams, detours, the longest, over the date line.
SCHEDULED = [
    ("WRY", "PPW", "2027-06-01T09:00", "2027-06-01T09:02"),
    ("SBH", "SXM", "2027-03-02T10:00", "2027-03-02T10:12"),
    ("LHR", "CDG", "2027-03-09T07:05", "2027-03-09T09:20"),
    ("JFK", "PHL", "2027-07-12T17:00", "2027-07-12T18:33"),
    ("HNL", "OGG", "2027-07-12T17:00", "2027-07-12T17:38"),
    ("NRT", "HNL", "2027-01-15T21:00", "2027-01-15T08:10"),
    ("HND", "LAX", "2027-01-15T00:05", "2027-01-14T16:55"),
    ("HEL", "ICN", "2027-06-15T17:30", "2027-06-16T13:25"),
    ("LHR", "HND", "2027-06-15T11:40", "2027-06-16T10:00"),
    ("SIN", "JFK", "2027-02-15T23:35", "2027-02-16T05:30"),
    ("JFK", "SIN", "2027-02-15T22:30", "2027-02-17T06:10"),
    ("LHR", "SYD", "2027-11-15T12:00", "2027-11-16T18:30"),
    ("PER", "LHR", "2027-07-15T18:55", "2027-07-16T05:05"),
    ("AKL", "HNL", "2027-05-04T23:55", "2027-05-04T10:25"),
    ("APW", "PPG", "2027-05-04T10:00", "2027-05-03T11:35"),
    ("SYD", "LHR", "2027-03-10T16:15", "2027-03-11T06:45"),  # one number, with a stop
    ("LAX", "SYD", "2027-12-30T22:30", "2028-01-01T08:30"),
    ("JFK", "LHR", "2027-03-13T22:00", "2027-03-14T09:10"),  # the clocks of New York go on in that night
    ("LIS", "MAD", "2027-10-31T00:30", "2027-10-31T02:50"),  # this hour is there twice in Madrid
    ("KEF", "GOH", "2027-06-15T17:00", "2027-06-15T18:15"),
    ("DEL", "BOM", "2027-06-15T06:00", "2027-06-15T08:15"),
]
# What a person or a letter gets wrong.
IMPOSSIBLE = [
    ("LHR", "CDG", "2027-03-09T08:05", "2027-03-09T08:20"),  # London to Paris, minus 45 minutes
    ("LHR", "CDG", "2027-03-09T08:00", "2027-03-09T09:20"),  # 20 minutes
    ("LHR", "JFK", "2027-05-04T08:25", "2027-05-05T14:25"),  # 35 hours
    ("LHR", "JFK", "2027-05-04T08:25", "2027-05-04T19:15"),  # an arrival on London's clock
    ("SYD", "NCL", "2027-03-09T09:00", "2027-03-09T09:45"),  # Newcastle in England for that in Australia
    ("MAD", "SCL", "2027-03-09T09:00", "2027-03-09T10:15"),
    ("JFK", "LHR", "2027-05-04T08:25", "2027-05-04T11:15"),  # the way there with the times of the way back
]


def route(origin: str, destination: str) -> Route:
    found = reference().route(origin, destination)
    assert found
    return found


def judge(origin: str, destination: str, departs: str, arrives: str, *, stated: bool = True) -> str:
    start, end = datetime.fromisoformat(departs), datetime.fromisoformat(arrives)
    day = end.date() if stated else None
    landing = judge_times(route(origin, destination), (start.date(), start.time()), end.time(), day)
    if landing.verdict == "possible":
        assert landing.day == end.date()
    return landing.verdict


@pytest.mark.parametrize("flight", SCHEDULED, ids="-".join)
@pytest.mark.parametrize("stated", [True, False], ids=["day", "no day"])
def test_a_scheduled_flight_is_possible_and_lands_on_its_day(flight: tuple[str, str, str, str], stated: bool) -> None:
    assert judge(*flight, stated=stated) == "possible"


@pytest.mark.parametrize("flight", IMPOSSIBLE, ids="-".join)
def test_times_that_no_flight_has_are_contradicted(flight: tuple[str, str, str, str]) -> None:
    assert judge(*flight) == "contradicted"


def test_a_contradiction_says_what_the_times_make_of_the_flight_and_what_can_be() -> None:
    landing = judge_times(route("LHR", "CDG"), (date(2027, 3, 9), time(8)), time(9, 20))
    reason = "The arrival makes the flight from LHR to CDG take 20 min"
    assert landing.reason == f"{reason} (expected 28 min to 2 h 22 min, by the clocks of both places)."
    wrong_day = judge_times(route("LHR", "SIN"), (date(2027, 3, 9), time(22)), time(18), date(2027, 3, 9))
    assert (wrong_day.verdict, wrong_day.day) == ("contradicted", date(2027, 3, 10))
    assert "take -12 h" in wrong_day.problem


def test_without_known_airports_nothing_is_said_of_times() -> None:
    assert judge_times(None, (date(2027, 3, 9), time(8)), time(8, 1)).verdict == "unknown"
    nowhere = Route("LHR", "XXX", "Europe/London", "Mars/Base", 200)
    assert judge_times(nowhere, (date(2027, 3, 9), time(8)), time(8, 1)).verdict == "unknown"
    for day in (date.min, date.max):
        assert judge_times(route("LHR", "JFK"), (day, time(8)), time(11)).day != day


# Pairs of airports drawn from all that have flights, with a block time drawn between what schedules show.

DAYS = [date(2027, 3, 14), date(2027, 3, 28), date(2027, 10, 31), date(2027, 11, 7), date(2027, 12, 31)]
MOST_MILES = 9_200  # SCHEDULED has the few flights beyond


def draw_flights(count: int) -> Iterator[tuple[Route, datetime, datetime]]:
    """Cruising at 430 to 570 mph, and a quarter to a whole hour on the ground; half of all on days clocks change."""
    draw = random.Random(20270314)
    codes = sorted(code for code in reference().airports if reference().count_flights(code))
    while count:
        pair = route(*draw.sample(codes, 2))
        if not 60 < pair.miles <= MOST_MILES:
            continue
        day = draw.choice(DAYS) if draw.random() < 0.5 else date(2027, 1, 1) + timedelta(days=draw.randrange(365))
        clock = time(draw.randrange(24), draw.randrange(0, 60, 5))
        leaves = datetime.combine(day, clock, ZoneInfo(pair.leaves)).astimezone(UTC)
        block = pair.miles * 60 / draw.uniform(430, 570) + draw.uniform(15, 60)
        yield pair, leaves, leaves + timedelta(minutes=round(block))
        count -= 1


def to_clocks(pair: Route, leaves: datetime, lands: datetime) -> tuple[tuple[date, time], tuple[date, time]]:
    start, end = leaves.astimezone(ZoneInfo(pair.leaves)), lands.astimezone(ZoneInfo(pair.lands))
    return (start.date(), start.time()), (end.date(), end.time())


def test_no_flight_at_a_schedules_speed_is_contradicted_and_each_lands_on_its_day() -> None:
    for pair, leaves, lands in draw_flights(2_000):
        departs, (day, clock) = to_clocks(pair, leaves, lands)
        for stated in (day, None):
            landing = judge_times(pair, departs, clock, stated)
            assert (landing.verdict, landing.day) == ("possible", day), (pair, departs, day, clock)


def test_times_read_for_another_route_are_contradicted_wherever_they_leave_the_limits() -> None:
    """Swapped ends, another city, a clock of another zone: each is found when it makes the flight too short or long."""
    draw = random.Random(7)
    found = missed = 0
    flights = list(draw_flights(1_200))
    for pair, leaves, lands in flights:
        departs, (day, clock) = to_clocks(pair, leaves, lands)
        other = draw.choice(flights)[0]
        swapped = pair._replace(leaves=pair.lands, lands=pair.leaves)
        elsewhere = route(pair.origin, other.destination) if other.destination != pair.origin else swapped
        zoneless = pair._replace(lands=pair.leaves)
        for wrong in (swapped, elsewhere, zoneless):
            least, most = find_limits(wrong.miles)
            start = datetime.combine(*departs, ZoneInfo(wrong.leaves))
            taken = (datetime.combine(day, clock, ZoneInfo(wrong.lands)).timestamp() - start.timestamp()) / 60
            verdict = judge_times(wrong, departs, clock, day).verdict
            if taken < least - 61 or taken > most + 61:  # by more than a clock that is set back leaves open
                assert verdict == "contradicted", (wrong, departs, day, clock)
                found += 1
            missed += verdict == "possible"
    assert found > missed


def test_limits_grow_with_the_way() -> None:
    limits = [find_limits(miles) for miles in range(0, 12_500, 50)]
    assert limits == sorted(limits)
    assert all(least < most for least, most in limits)


def leg(name: str, ends: str, departs: str, arrives: str | None = None) -> Leg:
    start = datetime.fromisoformat(departs)
    end = datetime.fromisoformat(arrives) if arrives else None
    landing = (end.date(), end.time()) if end else (None, None)
    return Leg(name, route(*ends.split("-")), (start.date(), start.time()), landing)


def test_two_flights_at_one_time_clash() -> None:
    out = leg("BA117", "LHR-JFK", "2027-05-04T08:25", "2027-05-04T11:15")
    early = leg("AA1", "JFK-LAX", "2027-05-04T10:30", "2027-05-04T13:45")
    late = leg("AA3", "JFK-LAX", "2027-05-04T12:30")
    assert list(find_clashes([early, out])) == [(out, early)]
    assert list(find_clashes([late, out])) == []
    assert list(find_clashes([out, out, late])) == []  # one flight told twice
    untimed = leg("AA5", "JFK-LAX", "2027-05-04T12:30")._replace(departs=(date(2027, 5, 4), None))
    assert list(find_clashes([out, untimed])) == []
