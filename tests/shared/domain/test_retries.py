"""How long a failed attempt waits for the next."""

from datetime import timedelta

from shared.domain.retries import MAX_ATTEMPTS, wait_after


def test_waits_grow_and_the_fifth_attempt_is_the_last() -> None:
    waits = [wait_after(attempt) for attempt in range(1, MAX_ATTEMPTS)]
    assert waits == sorted(waits, key=lambda wait: wait or timedelta())
    assert waits[0] == timedelta(minutes=1)
    assert wait_after(MAX_ATTEMPTS) is None


def test_an_attempt_beyond_the_last_is_over_too() -> None:
    assert wait_after(MAX_ATTEMPTS + 1) is None
