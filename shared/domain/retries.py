"""Retries of a failed run or delivery: how often, and how long to wait before the next."""

from datetime import timedelta

MAX_ATTEMPTS = 5
_WAITS = (timedelta(minutes=1), timedelta(minutes=5), timedelta(minutes=30), timedelta(hours=2))


def wait_after(attempt: int) -> timedelta | None:
    """The wait before the next attempt; None if `attempt` was the last."""
    return _WAITS[attempt - 1] if attempt < MAX_ATTEMPTS else None
