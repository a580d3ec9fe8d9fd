"""Times of calls, counted in steps that grow with the time, and percentiles from such counts."""

from bisect import bisect_right
from collections.abc import Sequence

# Lower ends in milliseconds: 16 of one millisecond each, then eight to every doubling, up to two hours.
STEPS: tuple[int, ...] = (*range(16), *(part << doublings for doublings in range(1, 20) for part in range(8, 16)))


def find_step(milliseconds: int) -> int:
    """The lower end of the step that a time belongs to."""
    return STEPS[bisect_right(STEPS, max(milliseconds, 0)) - 1]


def estimate_percentile(counts: Sequence[tuple[int, int]], part: float) -> float:
    """Estimates from steps and their numbers of calls, shortest step first: less than an eighth off the exact one."""
    place = part * (sum(calls for _, calls in counts) - 1)
    low, high = (_estimate_time(counts, rank) for rank in (int(place), int(-(-place // 1))))
    return low + (high - low) * (place - int(place))


def _estimate_time(counts: Sequence[tuple[int, int]], rank: int) -> float:
    """The time of the call of this rank, assuming calls are spread evenly over a step."""
    for step, calls in counts:
        if rank < calls:
            longest = STEPS[bisect_right(STEPS, step) % len(STEPS)] - 1
            return step + max(0, longest - step) * rank / max(1, calls - 1)
        rank -= calls
    raise ValueError(f"a rank beyond the last call, by {rank + 1}")
