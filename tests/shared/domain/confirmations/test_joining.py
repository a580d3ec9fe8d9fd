"""Statements of several parts about the same flight or stay are joined; where they differ, a person is asked."""

import email
from email.message import EmailMessage
from email.policy import default

import pytest

from shared.domain.confirmations.model import Doubt
from tests.shared.domain.confirmations.mails import data, first, flight, mail, read, stay
from tests.shared.domain.confirmations.test_attachments import ENTRY, calendar, mail_with_entry

WORDS = "Booking reference: AB12CD\nBA117  LHR-JFK  4 May 2027  08:25 11:15\nBusiness\nTotal: GBP 1,250.00\n"
DAYLESS = data(flight(leg={"departureTime": "", "arrivalTime": ""}))


def test_data_without_a_day_takes_it_from_the_words() -> None:
    raw = mail(WORDS, page=DAYLESS)
    assert first(raw) == first(raw) | {"departure_date": "2027-05-04", "departure_time": "08:25", "origin": "LHR"}
    assert (len(read(raw).bookings), read(raw).missing, read(raw).source) == (1, [], "jsonld")


def test_words_take_from_a_calendar_what_they_leave_out() -> None:
    entry = {k: v for k, v in ENTRY.items() if k != "DESCRIPTION"}
    raw = mail_with_entry(calendar(entry), text="Booking reference: 2ABCDE\nFlight EI 151\nEconomy\nTotal: EUR 90.00\n")
    expected = {"flight_number": "EI151", "origin": "LHR", "departure_date": "2027-03-12", "cabin_class": "economy"}
    assert first(raw) == first(raw) | expected | {"confirmation_number": "2ABCDE"}
    assert (len(read(raw).bookings), read(raw).missing) == (1, [])


@pytest.mark.parametrize(
    ("words", "field", "values"),
    [
        (WORDS.replace("4 May", "5 May"), "departure_date", ("2027-05-04", "2027-05-05")),
        (WORDS.replace("JFK", "EWR"), "destination", ("JFK", "EWR")),
        (WORDS.replace("BA117", "BA178"), "flight_number", ("BA117", "BA178")),
        (WORDS.replace("Business", "Economy"), "cabin_class", ("business", "economy")),
        (WORDS.replace("08:25", "09:25"), "departure_time", ("08:25", "09:25")),
    ],
)
def test_parts_that_differ_leave_the_field_open_and_name_both_values(
    words: str, field: str, values: tuple[str, str]
) -> None:
    reading = read(mail(words, page=data(flight())))
    assert len(reading.bookings) == 1
    assert getattr(reading.bookings[0], field) is None
    doubts = [(d.field, d.values) for d in reading.all_doubts]
    # The day of arrival follows from that of departure.
    assert [d for d in doubts if d != ("arrival_date", values)] == [(field, values)]
    assert field in reading.missing


def test_a_text_and_the_page_of_the_same_words_are_one_account() -> None:
    page = "<p>Booking reference: AB12CD</p><table><tr><td>BA117</td><td>LHR-JFK</td><td>4 May 2027</td></tr></table>"
    reading = read(mail(WORDS, page=page + "Business"))
    assert (len(reading.bookings), reading.missing) == (1, [])


def test_a_mail_may_hold_a_flight_and_a_stay() -> None:
    reading = read(mail(page=data(flight(), stay())))
    assert [b.type for b in reading.bookings] == ["flight", "hotel"]
    assert reading.missing == []


def test_letters_attached_to_a_letter_are_all_read() -> None:
    outer = email.message_from_bytes(mail("See below."), policy=default)
    assert isinstance(outer, EmailMessage)
    for page in (data(flight()), data(stay())):
        outer.add_attachment(email.message_from_bytes(mail(page=page), policy=default))
    reading = read(outer.as_bytes())
    assert [b.type for b in reading.bookings] == ["flight", "hotel"]
    assert (reading.forwarded, reading.missing) == (True, [])


def test_the_same_stay_in_data_and_in_words_is_one_and_nights_that_differ_are_asked() -> None:
    words = "Conrad Tokyo\nConfirmation number: H12345\nCheck-in: 2 October 2027\nCheck-out: {} October 2027\n"
    page = data(stay("H12345"))
    same = read(mail(words.format(5), page=page))
    assert (len(same.bookings), same.missing) == (1, [])
    differing = read(mail(words.format(6), page=page))
    assert (len(differing.bookings), differing.missing) == (1, ["check_out_date"])


def test_a_letter_that_cancels_what_its_data_confirm_is_asked_about() -> None:
    reading = read(mail("Your booking AB12CD has been cancelled.\nBooking reference: AB12CD\n", page=data(flight())))
    assert [d.field for d in reading.all_doubts] == ["action"]
    assert isinstance(reading.all_doubts[0], Doubt)


def test_words_that_mix_up_two_flights_of_the_data_do_not_put_them_in_doubt() -> None:
    onward = {"flightNumber": "2159", "departureAirport": {"iataCode": "JFK"}, "arrivalAirport": {"iataCode": "BOS"}}
    times = {"departureTime": "2027-05-04T14:10:00-04:00", "arrivalTime": "2027-05-04T15:30:00-04:00"}
    page = data(flight(), flight(leg=onward | times))
    reading = read(
        mail("Booking reference: AB12CD\nBA117  JFK-BOS  4 May 2027\nBusiness\nTotal: GBP 1,250.00\n", page=page)
    )
    assert [(leg.origin, leg.destination) for leg in reading.bookings] == [("LHR", "JFK"), ("JFK", "BOS")]  # type: ignore[union-attr]
    assert reading.missing == []


def test_a_letter_that_speaks_of_flights_of_which_none_was_read_says_so() -> None:
    text = "Booking reference: X7Y8Z9\nYour flight details are in your account.\n"
    assert read(mail(text)).missing == ["flights"]
    assert read(mail(text, page=data(flight("X7Y8Z9")))).missing == []


def test_words_that_hardly_can_be_anything_else_are_a_booking_without_calling_themselves_one() -> None:
    reading = read(mail("BA285  LHR-SFO  4 May 2027  11:20 14:10\nEconomy\nTotal: GBP 450.00\n", subject="Hello"))
    assert reading.missing == ["confirmation_number", "not_confirmed"]


def test_data_that_name_the_one_who_booked_do_not_hide_the_others() -> None:
    text = (
        "Booking reference: X7Y8Z9\nBA117  LHR-JFK  4 May 2027  08:25 11:15  Business\n\nPassengers\nMr Alex Example\n"
        "Mrs Pat Example\nMiss Kim Example (child)\n"
    )
    (leg,) = read(mail(text, page=data(flight("X7Y8Z9")))).bookings
    assert leg.passengers == 3  # type: ignore[union-attr]
