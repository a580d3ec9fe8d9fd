"""Times of flights with the days an arrival is later."""

import pytest

from shared.domain.flight_times import count_flight_minutes, format_flight_times


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
