"""Dates as sentences write them."""

from datetime import UTC, date, datetime

from shared.domain.dates import format_day, format_days, format_weekday


def test_a_day_is_written_with_the_name_of_its_month() -> None:
    assert format_day(date(2027, 10, 8)) == "8 Oct 2027"
    assert format_day(datetime(2028, 2, 29, 23, 59, tzinfo=UTC)) == "29 Feb 2028"


def test_a_day_of_travel_is_written_with_its_weekday() -> None:
    assert format_weekday(date(2027, 1, 21)) == "Thu 21 Jan 2027"


def test_a_range_of_one_day_is_written_as_that_day() -> None:
    assert format_days(date(2027, 10, 8), date(2027, 10, 8)) == "8 Oct 2027"
    assert format_days(date(2027, 10, 8), date(2027, 11, 2)) == "8 Oct 2027 to 2 Nov 2027"
