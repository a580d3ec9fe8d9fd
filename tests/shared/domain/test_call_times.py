"""Percentiles told by counts of steps stay near those of the times themselves."""

import math
import random
from collections import Counter

import pytest

from shared.domain.call_times import STEPS, estimate_percentile, find_step


def percentile(times: list[int], part: float) -> float:
    ordered, place = sorted(times), part * (len(times) - 1)
    low, high = ordered[math.floor(place)], ordered[math.ceil(place)]
    return low + (high - low) * (place - math.floor(place))


def test_every_time_belongs_to_a_step_less_than_an_eighth_below_it() -> None:
    assert list(STEPS) == sorted(set(STEPS))
    for time in [*range(5000), *(2**power + more for power in range(13, 22) for more in (-1, 0, 1))]:
        step = find_step(time)
        assert step in STEPS
        assert 0 <= time - step <= step / 8
    assert find_step(-1) == 0
    assert find_step(10**9) == STEPS[-1]


@pytest.mark.parametrize("number", [1, 2, 3, 17, 1000])
def test_an_estimate_is_less_than_an_eighth_off(number: int) -> None:
    draw = random.Random(number)
    for _ in range(50):
        times = [int(draw.lognormvariate(4, 2)) for _ in range(number)]
        counts = sorted(Counter(map(find_step, times)).items())
        for part in (0, 0.5, 0.95, 1):
            exact = percentile(times, part)
            assert abs(estimate_percentile(counts, part) - exact) <= exact / 8


def test_short_times_are_told_exactly() -> None:
    times = [draw % 16 for draw in range(100)]
    assert estimate_percentile(sorted(Counter(times).items()), 0.95) == percentile(times, 0.95)


def test_the_longest_step_has_no_end() -> None:
    assert estimate_percentile([(STEPS[-1], 3)], 0.95) == STEPS[-1]
