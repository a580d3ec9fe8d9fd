"""When things are due: a failed attempt or a saved hour goes in, the wait or the next moment comes out."""

from datetime import datetime, timedelta

MAX_ATTEMPTS = 5
_WAITS = (timedelta(minutes=1), timedelta(minutes=5), timedelta(minutes=30), timedelta(hours=2))
DAILY, WEEKLY = timedelta(days=1), timedelta(weeks=1)


def wait_after(attempt: int) -> timedelta | None:
    """The wait before the next attempt; None when `attempt` was the last."""
    return _WAITS[attempt - 1] if attempt < MAX_ATTEMPTS else None


def next_run(now: datetime, hour: int, weekday: int | None = None) -> datetime:
    """The first moment after `now` at that hour of its zone, on that weekday (0 is Sunday) unless it is any day."""
    due = now.replace(hour=hour, minute=0, second=0, microsecond=0)
    if due <= now:
        due += DAILY
    if weekday is not None:
        due += timedelta(days=(weekday - due.isoweekday()) % 7)
    return due
