"""Hubs on the way and connections between two tickets, by the clocks of their airports."""

from datetime import date, timedelta
from decimal import Decimal

import pytest

from shared.domain.hybrids import HybridLeg, find_best_pair, find_hubs, is_award_first, pair_legs, parse_local_time
from shared.reference.load import reference

DAY = date(2027, 3, 28)  # the night before, clocks in Europe go forward


def leg(
    leaves: str | None = None, lands: str | None = None, cost: int | None = 100, day: date = DAY, zone: str = "UTC"
) -> HybridLeg[str]:
    return HybridLeg(
        "x", day, parse_local_time(leaves, zone), parse_local_time(lands, zone), None if cost is None else Decimal(cost)
    )


def test_hubs_lie_near_the_direct_way_and_never_at_its_ends() -> None:
    facts = reference()
    hubs = {h for a in facts.airlines.values() for h in a.hubs if h in facts.airports}
    result = find_hubs("MAN", "BKK", hubs, facts.miles)
    assert 0 < len(result) <= 5
    direct = facts.miles("MAN", "BKK")
    detours = [facts.miles("MAN", h) + facts.miles(h, "BKK") for h in result]
    assert detours == sorted(detours)
    assert detours[-1] <= direct * 1.25
    assert not {"MAN", "BKK"} & set(result)
    assert not {"LHR", "LGW", "LCY"} & set(find_hubs("LHR", "JFK", hubs, facts.miles))


def test_points_go_to_the_longer_leg() -> None:
    miles = reference().miles
    assert is_award_first("SEA", "OPO", "LIS", miles)
    assert not is_award_first("MAN", "AMS", "BKK", miles)


@pytest.mark.parametrize("text", [None, "", "tomorrow", "2027-03-28T25:00", "2027-13-01T10:00"])
def test_a_time_that_cannot_be_read_is_not_known(text: str | None) -> None:
    assert parse_local_time(text, "Europe/Paris") is None
    assert parse_local_time("2027-03-28T10:00", "Not/AZone") is None


@pytest.mark.parametrize(
    ("lands", "leaves", "minutes"),
    [
        ("2027-03-28T10:00", "2027-03-28T12:59", None),
        ("2027-03-28T10:00", "2027-03-28T13:00", 180),
        ("2027-03-28T10:00", "2027-03-29T10:00", 1440),
        ("2027-03-28T10:00", "2027-03-29T10:01", None),
        ("2027-03-28T10:00", "2027-03-28T09:00", None),
    ],
)
def test_a_connection_leaves_three_hours_and_at_most_a_day(lands: str, leaves: str, minutes: int | None) -> None:
    result = pair_legs(leg(lands=lands), leg(leaves=leaves))
    assert (result.layover if result else None) == (None if minutes is None else timedelta(minutes=minutes))


def test_an_hour_lost_to_summer_time_is_no_time_to_connect() -> None:
    here = "Europe/Paris"
    assert pair_legs(leg(lands="2027-03-28T00:30", zone=here), leg(leaves="2027-03-28T04:00", zone=here)) is None
    result = pair_legs(leg(lands="2027-03-28T00:30", zone=here), leg(leaves="2027-03-28T04:30", zone=here))
    assert result is not None
    assert result.layover == timedelta(hours=3)


def test_without_times_the_days_must_allow_the_connection() -> None:
    late = leg(lands="2027-03-28T22:00")
    assert pair_legs(late, leg(day=DAY)) is None
    result = pair_legs(late, leg(day=DAY + timedelta(days=1)))
    assert result is not None
    assert result.layover is None
    assert pair_legs(leg(), leg(day=DAY - timedelta(days=1))) is None


def test_the_best_pair_is_the_cheapest_that_can_be_flown() -> None:
    firsts = [leg(lands="2027-03-28T20:00", cost=10), leg(lands="2027-03-28T08:00", cost=60)]
    seconds = [leg(leaves="2027-03-28T12:00", cost=30), leg(leaves="2027-03-28T13:00", cost=None)]
    best = find_best_pair(firsts, seconds)
    assert best is not None
    assert (best.cost, best.layover) == (90, timedelta(hours=4))
    assert find_best_pair(firsts[:1], seconds) is None
    unknown = find_best_pair(firsts, seconds[1:])
    assert unknown is not None
    assert unknown.cost is None


def test_known_times_come_before_a_cheaper_pair_without() -> None:
    seconds = [leg(leaves="2027-03-28T12:00", cost=30), leg(cost=5)]
    best = find_best_pair([leg(lands="2027-03-28T08:00", cost=60)], seconds)
    assert best is not None
    assert best.layover == timedelta(hours=4)
