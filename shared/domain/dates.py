"""Dates as people read them in sentences; fields of a result keep ISO 8601."""

from datetime import date


def format_day(day: date) -> str:
    """`8 Oct 2027`."""
    return f"{day.day} {day:%b %Y}"


def format_days(first: date, last: date) -> str:
    """`8 Oct 2027`, or `8 Oct 2027 to 2 Nov 2027`."""
    return format_day(first) if first == last else f"{format_day(first)} to {format_day(last)}"
