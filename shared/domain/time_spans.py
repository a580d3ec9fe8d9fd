"""Spans of time of one length, of whole days counted from a Monday (UTC)."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

MONDAY = datetime(2024, 1, 1, tzinfo=UTC)


def find_start(span: timedelta, moment: datetime) -> datetime:
    """The start of the span around a moment."""
    return MONDAY + (moment - MONDAY) // span * span


def list_starts(span: timedelta, first: datetime, last: datetime) -> Iterator[datetime]:
    """Starts of the spans from the one with the first moment to the one with the last."""
    start = find_start(span, first)
    while start <= last:
        yield start
        start += span
