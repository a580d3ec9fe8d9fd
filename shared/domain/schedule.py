"""Retry waits: which attempt just failed goes in, how long to wait or that it is over comes out."""

from datetime import timedelta

MAX_ATTEMPTS = 5
_WAITS = (timedelta(minutes=1), timedelta(minutes=5), timedelta(minutes=30), timedelta(hours=2))


def wait_after(attempt: int) -> timedelta | None:
    """The wait before the next attempt; None when `attempt` was the last."""
    return _WAITS[attempt - 1] if attempt < MAX_ATTEMPTS else None
