"""Schedules of standing orders: a daily or weekly hour on the account's own clock."""

from datetime import datetime, timedelta

DAILY, WEEKLY = timedelta(days=1), timedelta(weeks=1)


def next_run(now: datetime, hour: int, weekday: int | None = None) -> datetime:
    """The first moment after `now` at that hour of its zone, on that weekday (0 is Sunday) unless it is any day."""
    due = now.replace(hour=hour, minute=0, second=0, microsecond=0)
    if due <= now:
        due += DAILY
    if weekday is not None:
        due += timedelta(days=(weekday - due.isoweekday()) % 7)
    return due
