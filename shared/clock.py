"""The only source of the present moment: UTC instants and UTC days."""

from datetime import UTC, date, datetime, time, timedelta


def now() -> datetime:
    return datetime.now(UTC)  # noqa: TID251 - the one place


def today() -> date:
    return now().date()


def midnight() -> datetime:
    """The start of the next UTC day: when daily limits reset."""
    return datetime.combine(today() + timedelta(days=1), time(), UTC)


def next_month() -> datetime:
    """The start of the next calendar month in UTC: when monthly limits reset."""
    first = today().replace(day=1)
    return datetime.combine((first + timedelta(days=32)).replace(day=1), time(), UTC)
