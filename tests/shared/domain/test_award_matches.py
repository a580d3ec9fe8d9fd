"""The crossing rule: what is told, what stays silent, and what is told again."""

from dataclasses import dataclass, replace
from datetime import date
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared.domain.award_matches import MatchKey, MonitorTerms, find_best, find_crossings, group_flight_days, rank_value

MARCH = MonitorTerms(date(2027, 3, 1), date(2027, 3, 31))


@dataclass(frozen=True)
class Offer:
    airline: str = "BA"
    program: str = "british-airways-club"
    date: date = date(2027, 3, 4)
    cabin: str = "business"
    points: int = 60000
    taxes: Decimal | None = Decimal(200)
    seats: int | None = 2
    stops: int | None = 0
    origin: str = "LHR"
    destination: str = "JFK"
    flight_numbers: tuple[str, ...] = ("BA117",)


A, B, C = (MatchKey.of(Offer(airline=code)) for code in ("BA", "QR", "CX"))


def everything(_key: MatchKey) -> bool:
    return True


@pytest.mark.parametrize(
    ("terms", "offer", "wanted"),
    [
        (MARCH, Offer(), True),
        (MARCH, Offer(date=date(2027, 3, 31)), True),
        (MARCH, Offer(date=date(2027, 4, 1)), False),
        (MARCH, Offer(date=date(2027, 2, 28)), False),
        (replace(MARCH, cabin="business"), Offer(), True),
        (replace(MARCH, cabin="first"), Offer(), False),
        (replace(MARCH, airlines=frozenset({"BA"})), Offer(), True),
        (replace(MARCH, airlines=frozenset({"QR"})), Offer(), False),
        (replace(MARCH, max_points=60000), Offer(), True),
        (replace(MARCH, max_points=59999), Offer(), False),
        (replace(MARCH, passengers=2), Offer(), True),
        (replace(MARCH, passengers=3), Offer(), False),
        (replace(MARCH, passengers=3), Offer(seats=None), True),
        (replace(MARCH, nonstop_only=True), Offer(), True),
        (replace(MARCH, nonstop_only=True), Offer(stops=1), False),
        (replace(MARCH, nonstop_only=True), Offer(stops=None), False),
        (replace(MARCH, weekdays=frozenset({"thu"})), Offer(), True),
        (replace(MARCH, weekdays=frozenset({"fri", "sat"})), Offer(), False),
    ],
)
@pytest.mark.spec("s2.5.max_points_cap")
@pytest.mark.spec("s2.5.airlines_filter")
@pytest.mark.spec("s2.5.window_required")
def test_terms_bound_what_is_told(terms: MonitorTerms, offer: Offer, wanted: bool) -> None:
    assert terms.match(offer) is wanted


def test_the_best_value_is_the_fewest_points_then_the_lowest_taxes_then_the_earliest_day() -> None:
    best = Offer(points=50_000, taxes=Decimal(90), date=date(2027, 3, 9))
    ranked = [best, Offer(points=50_000, taxes=Decimal(200)), Offer(points=50_000, taxes=None), Offer(points=80_000)]
    shuffled = [ranked[at] for at in (2, 0, 3, 1)]
    assert sorted(shuffled, key=rank_value) == ranked


def test_prices_of_one_flight_on_one_day_belong_together_the_best_first() -> None:
    cheap, dear = Offer(points=50_000), Offer(points=60_000, program="alaska")
    later, other = replace(cheap, points=55_000, date=date(2027, 3, 5)), replace(dear, flight_numbers=("BA115",))
    assert group_flight_days([dear, other, later, cheap]) == [[cheap, dear], [later], [other]]


def test_of_several_offers_of_one_key_the_cheapest_is_told() -> None:
    dear, cheap = Offer(points=80000), Offer(points=50000)
    assert find_best(MARCH, [dear, cheap, Offer(cabin="first")]) == {
        MatchKey.of(cheap): cheap,
        MatchKey.of(Offer(cabin="first")): Offer(cabin="first"),
    }


def test_at_the_first_answered_check_every_match_is_fresh() -> None:
    assert find_crossings({}, [A, B], everything) == ([A, B], {A: True, B: True})


def test_what_stays_open_is_told_once() -> None:
    assert find_crossings({A: True}, [A], everything) == ([], {A: True})


def test_what_vanished_and_returned_is_told_again() -> None:
    fresh, gone = find_crossings({A: True}, [], everything)
    assert (fresh, gone) == ([], {A: False})
    assert find_crossings(gone, [A], everything) == ([A], {A: True})


def test_a_source_that_failed_changes_nothing() -> None:
    assert find_crossings({A: True, B: False}, [], lambda key: False) == ([], {})
    assert find_crossings({A: True}, [B], lambda key: key == B) == ([B], {B: True})


def test_a_failure_between_two_sightings_is_not_a_disappearance() -> None:
    states = {A: True}
    states |= find_crossings(states, [], lambda key: False)[1]
    assert find_crossings(states, [A], everything)[0] == []


def test_a_key_keeps_its_form_on_the_way_through_the_database() -> None:
    assert str(A) == "BA|british-airways-club|2027-03-04|business"
    assert MatchKey.parse(str(A)) == A


@given(st.lists(st.tuples(st.sets(st.sampled_from([A, B, C])), st.sets(st.sampled_from([A, B, C]))), max_size=12))
def test_each_rise_among_answered_checks_fires_exactly_once(checks: list[tuple[set[MatchKey], set[MatchKey]]]) -> None:
    """Against a plain model: per key the sequence of answers, and one firing per change from closed to open."""
    states: dict[MatchKey, bool] = {}
    model: dict[MatchKey, bool] = {}
    for matching, answered in checks:
        fresh, changed = find_crossings(states, matching, answered.__contains__)
        expected = {k for k in matching & answered if not model.get(k)}
        model |= {k: k in matching for k in answered}
        states |= changed
        assert set(fresh) == expected
        assert all(states.get(k, False) == v for k, v in model.items())
