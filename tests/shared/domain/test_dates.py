"""Dates as sentences write them."""

from datetime import UTC, date, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest

from shared.domain.dates import (
    format_age,
    format_day,
    format_days,
    format_moment,
    format_short_moment,
    format_short_weekday,
    format_weekday,
    format_weekdays,
)


def test_a_day_is_written_with_the_name_of_its_month() -> None:
    assert format_day(date(2027, 10, 8)) == "8 Oct 2027"
    assert format_day(datetime(2028, 2, 29, 23, 59, tzinfo=UTC)) == "29 Feb 2028"


def test_a_day_of_travel_is_written_with_its_weekday() -> None:
    assert format_weekday(date(2027, 1, 21)) == "Thu 21 Jan 2027"


def test_a_range_of_one_day_is_written_as_that_day() -> None:
    assert format_days(date(2027, 10, 8), date(2027, 10, 8)) == "8 Oct 2027"
    assert format_days(date(2027, 10, 8), date(2027, 11, 2)) == "8 Oct 2027 to 2 Nov 2027"


@pytest.mark.parametrize(
    ("last", "words"),
    [
        (date(2027, 3, 1), "Mon 1 Mar 2027"),
        (date(2027, 3, 31), "Mon 1 to Wed 31 Mar 2027"),
        (date(2027, 4, 2), "Mon 1 Mar to Fri 2 Apr 2027"),
        (date(2028, 1, 3), "Mon 1 Mar 2027 to Mon 3 Jan 2028"),
    ],
)
def test_a_range_of_days_of_travel_says_month_and_year_once(last: date, words: str) -> None:
    assert format_weekdays(date(2027, 3, 1), last) == words
    assert format_short_weekday(date(2027, 3, 1)) == "Mon 1 Mar"


def test_a_moment_is_told_in_the_zone_of_the_person() -> None:
    moment = datetime(2026, 11, 22, 6, 10, tzinfo=UTC)
    assert format_moment(moment) == "Sun 22 Nov 2026, 06:10 UTC"
    assert format_moment(moment, ZoneInfo("America/Los_Angeles")) == "Sat 21 Nov 2026, 22:10 PST"
    assert format_short_moment(moment, ZoneInfo("Asia/Tokyo")) == "Sun 22 Nov, 15:10 JST"


def test_what_is_a_day_away_at_most_is_told_by_how_long() -> None:
    now = datetime(2026, 12, 31, 20, 0, tzinfo=UTC)
    told = {
        timedelta(0): "right now",
        timedelta(minutes=4): "right now",
        timedelta(minutes=-7): "7 min ago",
        timedelta(hours=-23, minutes=-59): "23 h ago",
        timedelta(hours=6): "in 6 h",
        timedelta(days=-1): "Wed 30 Dec",
        timedelta(days=1): "Fri 1 Jan 2027",
    }
    assert {away: format_age(now + away, now) for away in told} == told
    assert format_age(now - timedelta(days=2, hours=20), now, ZoneInfo("Asia/Tokyo")) == "Tue 29 Dec 2026"
