"""Quiet hours: local hours in which nothing is sent to a person's channel."""

from datetime import UTC, datetime, timedelta

from shared.domain.time_zones import find_zone


def find_quiet_end(now: datetime, time_zone: str | None, start: int | None, end: int | None) -> datetime | None:
    """The moment, in UTC, when the present quiet ends; None when it is not quiet.

    `start` and `end` are full hours of the day in `time_zone`, an IANA name (None = UTC); quiet may pass midnight.
    """
    if start is None or end is None or start == end:
        return None
    local = now.astimezone((find_zone(time_zone) if time_zone else None) or UTC)
    is_quiet = start <= local.hour < end if start < end else local.hour >= start or local.hour < end
    if not is_quiet:
        return None
    day = local.date() + timedelta(days=1 if local.hour >= end else 0)
    # Uses local time, so that a night in which clocks change still ends at its hour.
    return datetime(day.year, day.month, day.day, end, tzinfo=local.tzinfo).astimezone(UTC)
