"""Times of flights with the days an arrival is later."""

from datetime import UTC, datetime

import pytest

from shared.domain.flight_times import (
    count_flight_minutes,
    format_flight_times,
    is_over_night,
    lands_late,
    leaves_early,
)


@pytest.mark.parametrize(
    ("departs", "arrives", "words"),
    [
        ("2027-05-20T10:10", "2027-05-20T12:00", "10:10-12:00"),
        ("2027-05-20T22:10:00", "2027-05-21T02:00:00", "22:10-02:00 +1"),
        ("2027-12-31 23:50", "2028-01-02 05:00", "23:50-05:00 +2"),
        ("2027-05-20T01:00", "2027-05-19T18:00", "01:00-18:00 -1"),
        ("10:10", "02:00", "10:10-02:00"),
        ("2027-05-20T10:10", None, "10:10"),
        (None, None, ""),
        ("2027-13-40T10:10", "noon", ""),
    ],
)
def test_times_show_the_days_an_arrival_is_later(departs: str | None, arrives: str | None, words: str) -> None:
    assert format_flight_times(departs, arrives) == words


@pytest.mark.parametrize(
    ("departs", "arrives", "lands", "minutes"),
    [
        ("2027-03-19T11:55", "2027-03-20T15:40", "Asia/Tokyo", 705),
        ("2027-05-20T10:10", "2027-05-20T09:00", "Asia/Tokyo", None),  # no flight lands before it leaves
        ("11:55", "2027-03-20T15:40", "Asia/Tokyo", None),
        ("2027-03-19T11:55", None, "Asia/Tokyo", None),
        ("2027-03-19T11:55", "2027-03-20T15:40", "Nowhere", None),
    ],
)
def test_a_duration_needs_both_days_times_and_zones(
    departs: str, arrives: str | None, lands: str, minutes: int | None
) -> None:
    assert count_flight_minutes(departs, "America/Los_Angeles", arrives, lands) == minutes


@pytest.mark.parametrize(
    ("lands", "leaves", "over_night"),
    [
        ("2027-05-20T22:00", "2027-05-21T09:00", True),
        ("2027-05-21T00:30", "2027-05-21T06:00", True),
        ("2027-05-20T10:00", "2027-05-20T22:00", False),
        ("2027-05-20T22:00", "2027-05-21T03:00", False),
        ("2027-05-21T02:00", "2027-05-21T09:00", False),  # too little of that night is left
    ],
)
def test_a_wait_over_night_holds_hours_of_sleep(lands: str, leaves: str, over_night: bool) -> None:
    moments = (datetime.fromisoformat(text).replace(tzinfo=UTC) for text in (lands, leaves))
    assert is_over_night(*moments) is over_night


def test_flights_that_are_too_early_or_too_late_for_the_way_from_elsewhere() -> None:
    assert [leaves_early(t) for t in ("2027-05-20T07:20", "2027-05-20T09:00", None)] == [True, False, None]
    assert [lands_late(t) for t in ("2027-05-20T22:05", "2027-05-20T20:59", None)] == [True, False, None]
