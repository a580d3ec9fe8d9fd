"""A test that keeps the machine's clock sees one day."""

from datetime import UTC, datetime, timedelta

import pytest

from tests.support.settings_and_clock import until_the_day_is_new


@pytest.mark.parametrize(
    ("begins", "waits"),
    [
        ("2026-11-29T23:56:59", timedelta()),
        ("2026-11-29T23:57:01", timedelta(minutes=2, seconds=59)),
        ("2026-12-31T23:59:59", timedelta(seconds=1)),
        ("2026-11-30T00:00:00", timedelta()),
    ],
)
def test_a_test_that_would_see_midnight_begins_after_it(begins: str, waits: timedelta) -> None:
    assert until_the_day_is_new(datetime.fromisoformat(begins).replace(tzinfo=UTC)) == waits
