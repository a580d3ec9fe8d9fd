"""Which answers about a watch count, whatever it watches."""

from datetime import datetime


def is_overtaken(asked_at: datetime, last_checked_at: datetime | None) -> bool:
    """Whether a later question was answered already; the earlier question's answer then no longer counts."""
    return last_checked_at is not None and last_checked_at > asked_at
