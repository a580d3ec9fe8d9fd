"""Flights whose clocks exclude each other and years far from the letter are asked about, whatever part states them."""

from typing import Any

import pytest

from tests.shared.domain.confirmations.mails import data, first, flight, mail, read, stay


def doubtful(leg: dict[str, Any]) -> list[str]:
    return [d.field for d in read(mail(page=data(flight(leg=leg)))).all_doubts]


def test_a_flight_that_lands_before_it_leaves_lands_the_next_day() -> None:
    leg = {"departureTime": "2027-05-04T21:25:00", "arrivalTime": "2027-05-04T09:25:00"}
    back = {"departureAirport": {"iataCode": "JFK"}, "arrivalAirport": {"iataCode": "LHR"}}
    assert first(mail(page=data(flight(leg=leg | back))))["arrival_date"] == "2027-05-05"
    assert doubtful(leg | back) == []


def test_a_flight_over_the_date_line_lands_the_day_before() -> None:
    pacific = {"departureAirport": {"iataCode": "AKL"}, "arrivalAirport": {"iataCode": "HNL"}}
    leg = {"departureTime": "2027-05-04T23:55:00", "arrivalTime": "10:00"} | pacific
    assert doubtful(leg | {"arrivalTime": "2027-05-04T10:25:00"}) == []


@pytest.mark.parametrize(
    "leg",
    [
        {"departureTime": "2027-05-04T08:25:00", "arrivalTime": "2027-05-06T11:15:00"},  # 55 hours
        {"departureTime": "2027-05-04T08:25:00", "arrivalTime": "2027-05-04T05:00:00"},  # an hour and a half
        {"departureTime": "2027-05-04T08:25:00", "arrivalTime": "2027-05-03T11:15:00"},
    ],
)
def test_times_that_no_flight_can_have_are_open_and_doubtful(leg: dict[str, str]) -> None:
    assert doubtful(leg) == ["arrival_time"]
    assert "departure_time" not in first(mail(page=data(flight(leg=leg))))


@pytest.mark.parametrize("year", ["2007", "2025", "2031"])
def test_a_year_far_from_the_letter_is_asked_about(year: str) -> None:
    assert doubtful({"departureTime": f"{year}-05-04T08:25:00", "arrivalTime": ""}) == ["departure_date"]
    result = read(mail(page=data(stay(checkinDate=f"{year}-05-04", checkoutDate=f"{year}-05-06"))))
    assert [d.field for d in result.all_doubts] == ["check_in_date"]


def test_a_flight_that_leaves_while_another_of_the_booking_flies_is_asked_about() -> None:
    onward = {"departureAirport": {"iataCode": "JFK"}, "arrivalAirport": {"iataCode": "LAX"}, "flightNumber": "178"}
    for leaves, fields in (("10:30", ["departure_time"]), ("13:30", [])):
        leg = onward | {"departureTime": f"2027-05-04T{leaves}:00", "arrivalTime": "2027-05-04T16:30:00"}
        assert [d.field for d in read(mail(page=data(flight(), flight(leg=leg)))).all_doubts] == fields
        other = flight("ZZ99YY", leg=leg)  # a booking of other people
        assert read(mail(page=data(flight(), other))).all_doubts == []


def test_an_old_letter_may_be_forwarded() -> None:
    past = {"departureTime": "2025-05-04T08:25:00+01:00", "arrivalTime": ""}
    assert read(mail(page=data(flight(leg=past)), subject="Fwd: Your booking")).all_doubts == []


def test_a_stay_of_half_a_year_is_asked_about() -> None:
    reading = read(mail(page=data(stay(checkinDate="2027-02-01", checkoutDate="2027-08-01"))))
    assert [d.field for d in reading.all_doubts] == ["check_out_date"]


def test_a_flight_without_the_times_the_others_have_is_asked_about() -> None:
    timed = flight(leg={"departureTime": "2027-05-04T08:25:00", "arrivalTime": "2027-05-04T11:15:00"})
    untimed = flight(leg={"flightNumber": "178", "departureTime": "2027-05-09", "arrivalTime": ""})
    reading = read(mail(page=data(timed, untimed)))
    assert [(d.field, d.about) for d in reading.all_doubts] == [("departure_time", "BA178")]
    assert read(mail(page=data(untimed))).all_doubts == []
