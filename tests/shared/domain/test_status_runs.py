"""Which runs close a gap, and in which order they are told."""

from decimal import Decimal

import pytest

from shared.domain.status_runs import Run, RunOption, count_runs, rank_runs


def chance(
    slug: str, *, earned: int | None = 60, needed: int | None = 3, fare: int | None = None, away: int = 0
) -> RunOption:
    run = Run(slug, "KL", ("AMS", "LIS", "AMS"), "business")
    count = None if earned is None else Decimal(earned)
    return RunOption(run, away, count, Decimal(earned or 0), needed, None if fare is None else Decimal(fare))


@pytest.mark.parametrize(
    ("missing", "earned", "needed"),
    [(180, 60, 3), (181, 60, 4), (1, 60, 1), (0, 60, 0), (180, None, None), (180, 0, None)],
)
def test_runs_are_counted_up_to_whole_ones(missing: int, earned: int | None, needed: int | None) -> None:
    assert count_runs(Decimal(missing), None if earned is None else Decimal(earned)) == needed


def test_known_costs_come_first_then_fewest_runs() -> None:
    result = rank_runs([chance("c", needed=4), chance("b", needed=2), chance("a", fare=500, needed=5)], days=30)
    assert [c.run.slug for c in result] == ["a", "b", "c"]


def test_a_run_at_home_comes_before_one_nearby_and_none_is_far() -> None:
    result = rank_runs([chance("near", away=400, needed=1), chance("far", away=601, needed=1), chance("home")], days=30)
    assert [c.run.slug for c in result] == ["home", "near"]


def test_more_runs_than_days_left_do_not_close_a_gap_in_time() -> None:
    assert rank_runs([chance("a", needed=8)], days=7) == []
    assert len(rank_runs([chance("a", needed=7)], days=7)) == 1


def test_costs_follow_from_the_fare_alone() -> None:
    priced, unpriced = chance("a", fare=420), chance("b")
    assert (priced.total, priced.per_unit) == (1_260, 7)
    assert (unpriced.total, unpriced.per_unit) == (None, None)
