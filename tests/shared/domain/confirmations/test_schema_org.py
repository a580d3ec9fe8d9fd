"""Reservations of schema.org as mails really write them: mended, with moments, places, travellers and points."""

import json
from typing import Any

import pytest

from tests.shared.domain.confirmations.attachments import BOARDING_PASS
from tests.shared.domain.confirmations.mails import data, first, flight, mail, read, stay


def page(text: str) -> bytes:
    return mail(page=f'<html><head><script type="application/ld+json">{text}</script></head><p>Hi</p></html>')


@pytest.mark.parametrize(
    "text",
    [
        "[%s%s]", "%s\n%s", "[%s,%s,]", "{\"@graph\": [%s, %s,]}", "[%s, %s];",
    ],
)  # fmt: skip
def test_documents_with_forgotten_or_superfluous_commas_are_mended(text: str) -> None:
    two = tuple(json.dumps(flight(leg={"flightNumber": number})) for number in ("117", "178"))
    assert [b.flight_number for b in read(page(text % two)).bookings] == ["BA117", "BA178"]  # type: ignore[union-attr]


def test_a_line_end_inside_a_text_and_entities_are_read() -> None:
    text = json.dumps(flight()).replace("British Airways", "British\nAirways").replace('"', "&quot;")
    assert first(page(text))["flight_number"] == "BA117"


@pytest.mark.parametrize(
    ("leg", "expected"),
    [
        (
            {"departureTime": "04-05-2027 08:25", "arrivalTime": "", "webCheckinTime": "25-04-2027"},
            ("2027-05-04", "08:25"),
        ),
        ({"departureTime": "May 4, 2027 8:25 AM"}, ("2027-05-04", "08:25")),
        ({"departureTime": "04-05-2027 08:25", "arrivalTime": "04-05-2027 11:15"}, (None, None)),
        ({"departureTime": "", "departureDay": "2027-05-04"}, ("2027-05-04", None)),
        ({"departureTime": "2027-05-05T08:25:00", "departureDay": "2027-05-04"}, (None, "08:25")),
        ({"departureTime": "2027-05-04T07:25:00Z"}, ("2027-05-04", "08:25")),
        ({"departureTime": "2027-05-04T08:25:00+09:00"}, ("2027-05-04", None)),  # of another place's clock
        ({"departureTime": "2027-05-04T07:25:00Z", "departureAirport": {"name": "Nowhere"}}, (None, None)),
        ({"departureTime": "99999999"}, (None, None)),
    ],
)
def test_moments_in_many_forms_are_read_and_unsettled_ones_left_open(leg: Any, expected: tuple[Any, Any]) -> None:
    result = first(mail(page=data(flight(leg=leg))))
    assert (result.get("departure_date"), result.get("departure_time")) == expected


def test_the_barcode_of_a_ticket_settles_the_order_of_day_and_month() -> None:
    leg = {"departureTime": "05-04-2027 08:25", "arrivalTime": "05-04-2027 11:15"}
    token = {"reservedTicket": {"ticketToken": f"aztecCode:{BOARDING_PASS}"}}
    raw = mail(page=data(flight("K9XY2Z", leg=leg, **token))).replace(b"03 Feb 2026", b"03 May 2027")
    assert first(raw)["departure_date"] == "2027-05-04"


def test_travellers_are_counted_once_however_often_they_stand_there() -> None:
    two = [
        flight(underName=[{"name": "Alex Example"}, {"name": "Kim Example"}]),
        flight(underName={"name": "Kim Example"}),
    ]
    reading = read(mail(page=data(*two, *two)))
    assert [b.passengers for b in reading.bookings] == [2]  # type: ignore[union-attr]


def test_the_account_of_a_traveller_is_no_program_that_was_paid_with() -> None:
    member = {"programMembershipUsed": {"programName": "AAdvantage"}}
    assert "program" not in first(mail(page=data(flight(**member))))


@pytest.mark.parametrize("price", [{"totalPrice": "60000 miles"}, {"totalPrice": "60,000", "priceCurrency": "Miles"}])
def test_a_price_in_miles_is_points(price: dict[str, str]) -> None:
    result = first(mail(page=data(flight(**({"totalPrice": None, "priceCurrency": None} | price)))))
    assert (result["kind"], result["points_spent"]) == ("award", 60000)


def test_points_of_the_data_that_are_not_those_of_the_words_are_asked_about() -> None:
    text = "Booking reference: AB12CD\nTotal: 80,000 miles\n"
    reading = read(mail(text, page=data(flight(totalPrice="60000 miles", priceCurrency=None))))
    assert [d.values for d in reading.all_doubts if d.values] == [(80000, 60000)]


def test_an_offer_is_no_booking_and_a_status_may_be_a_change() -> None:
    offer = {"@type": "Offer", "itemOffered": flight()}
    assert read(mail(page=data(offer))).bookings == []
    assert (
        first(mail(page=data(flight(reservationStatus="http://schema.org/ReservationModified"))))["action"] == "change"
    )


@pytest.mark.parametrize(("hour", "expected"), [("15:00", "2027-10-02"), ("00:00", "2027-10-02"), ("01:00", None)])
def test_a_stay_in_utc_keeps_its_day_only_at_hours_at_which_guests_come(hour: str, expected: str | None) -> None:
    result = first(mail(page=data(stay(checkinDate=f"2027-10-02T{hour}:00Z"))))
    assert result.get("check_in_date") == expected


def test_a_stay_whose_days_are_one_hour_of_utc_is_asked_for_both() -> None:
    days = {"checkinDate": "2027-10-02T15:00:00Z", "checkoutDate": "2027-10-05T15:00:00Z"}
    assert read(mail(page=data(stay(**days)))).missing == ["check_in_date", "check_out_date"]


def test_a_day_in_utc_is_asked_with_the_days_it_can_be() -> None:
    days = {"checkinDate": "2027-04-10T15:00:00Z", "checkoutDate": "2027-04-13T15:00:00Z"}
    (booking,) = read(mail(page=data(stay(**days)))).bookings
    assert {d.field: d.values for d in booking.doubts} == {
        "check_in_date": ("2027-04-10", "2027-04-11"),
        "check_out_date": ("2027-04-13", "2027-04-14"),
    }


def test_a_day_in_utc_that_is_none_is_asked() -> None:
    (booking,) = read(mail(page=data(stay(checkinDate="2027-13-40T15:00:00Z", checkoutDate="no")))).bookings
    assert (booking.check_in_date, booking.check_out_date) == (None, None)
