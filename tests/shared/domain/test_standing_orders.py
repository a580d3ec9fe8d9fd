"""When an hour of the day or week comes next."""

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared.domain.standing_orders import next_run

SATURDAY = datetime(2026, 11, 21, 9, 30, tzinfo=UTC)


@pytest.mark.spec("s6.2.standing_order_schedule")
@pytest.mark.spec("s2.6.run_weekday_sunday_zero")
@pytest.mark.parametrize(
    ("hour", "weekday", "expected"),
    [
        (10, None, "2026-11-21T10:00"),
        (9, None, "2026-11-22T09:00"),
        (7, 0, "2026-11-22T07:00"),  # Sunday
        (7, 1, "2026-11-23T07:00"),
        (10, 6, "2026-11-21T10:00"),  # later this Saturday
        (9, 6, "2026-11-28T09:00"),  # the hour has passed
        (23, 5, "2026-11-27T23:00"),
    ],
)
def test_an_hour_of_the_day_or_week_comes_next(hour: int, weekday: int | None, expected: str) -> None:
    assert next_run(SATURDAY, hour, weekday) == datetime.fromisoformat(f"{expected}+00:00")


def test_the_hour_that_is_now_has_come_already() -> None:
    now = SATURDAY.replace(minute=0)
    assert next_run(now, 9) == now + timedelta(days=1)
    assert next_run(now, 9, 6) == now + timedelta(weeks=1)


@pytest.mark.spec("s6.2.standing_order_schedule")
@given(st.datetimes(datetime(2000, 1, 1), datetime(2100, 1, 1)), st.integers(0, 23), st.none() | st.integers(0, 6))
def test_the_next_run_is_ahead_on_its_hour_and_day_and_within_one_period(
    now: datetime, hour: int, weekday: int | None
) -> None:
    now = now.replace(tzinfo=UTC)
    due = next_run(now, hour, weekday)
    assert now < due <= now + (timedelta(days=1) if weekday is None else timedelta(weeks=1))
    assert (due.hour, due.minute, due.second, due.microsecond) == (hour, 0, 0, 0)
    assert weekday is None or due.isoweekday() % 7 == weekday
