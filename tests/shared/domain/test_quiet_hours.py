"""Quiet hours: when they end in the person's day, across midnight and across changes of the clock."""

from datetime import datetime

import pytest

from shared.domain.quiet_hours import find_quiet_end


@pytest.mark.parametrize(
    ("now", "zone", "start", "end", "until"),
    [
        ("2026-11-23T21:59:00+00:00", None, 22, 7, None),
        ("2026-11-23T22:00:00+00:00", None, 22, 7, "2026-11-24T07:00:00+00:00"),
        ("2026-11-24T06:59:59+00:00", None, 22, 7, "2026-11-24T07:00:00+00:00"),
        ("2026-11-24T07:00:00+00:00", None, 22, 7, None),
        ("2026-11-23T13:30:00+00:00", None, 13, 15, "2026-11-23T15:00:00+00:00"),
        ("2026-11-23T15:00:00+00:00", None, 13, 15, None),
        ("2026-11-23T23:30:00+00:00", None, 22, 0, "2026-11-24T00:00:00+00:00"),
        ("2026-11-23T00:00:00+00:00", None, 22, 0, None),
        ("2026-11-23T00:30:00+00:00", None, 0, 6, "2026-11-23T06:00:00+00:00"),
        ("2026-11-23T12:00:00+00:00", "Asia/Tokyo", 21, 6, "2026-11-23T21:00:00+00:00"),
        ("2026-11-23T12:00:00+00:00", "America/New_York", 22, 7, None),
        ("2026-11-23T12:00:00+00:00", "No/Where", 12, 13, "2026-11-23T13:00:00+00:00"),
        # New York leaves summer time at 06:00 UTC on 1 November and enters it at 07:00 UTC on 14 March.
        ("2026-11-01T03:00:00+00:00", "America/New_York", 22, 7, "2026-11-01T12:00:00+00:00"),
        ("2027-03-14T04:00:00+00:00", "America/New_York", 22, 7, "2027-03-14T11:00:00+00:00"),
        ("2026-11-23T12:00:00+00:00", None, None, None, None),
        ("2026-11-23T12:00:00+00:00", None, 12, 12, None),
    ],
)
def test_quiet_ends_at_its_hour_of_the_persons_day(
    now: str, zone: str | None, start: int | None, end: int | None, until: str | None
) -> None:
    quiet_end = find_quiet_end(datetime.fromisoformat(now), zone, start, end)
    assert (quiet_end.isoformat() if quiet_end else None) == until
