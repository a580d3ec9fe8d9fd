"""A letter that looks like a booking's and of which nothing was read says so; other letters stay quiet."""

import pytest

from tests.shared.domain.confirmations.mails import mail, read

FLIGHT = (
    "Booking reference: X7KQPM\nYour flight to the sun leaves on 4 May 2027. We look forward to seeing you on board.\n"
)
STAY = "Reservation number: 88123401\nWe look forward to having you with us for three nights in May 2027.\n"
CAR = "Confirmation number: H8812340\nPick-up: Munich Airport, 4 May 2027\nYour rental car is a Golf.\n"
OFFER = "Three nights for two! Hotels from 99 EUR until 4 May 2027. Unsubscribe\n"


@pytest.mark.parametrize(("text", "field"), [(FLIGHT, "flights"), (STAY, "stays")])
def test_a_booking_that_was_not_read_is_told(text: str, field: str) -> None:
    reading = read(mail(text, subject="Hello"))
    assert (reading.bookings, reading.missing) == ([], [field])


@pytest.mark.parametrize("text", [CAR, OFFER])
def test_other_letters_stay_quiet(text: str) -> None:
    assert read(mail(text, subject="Your confirmation")).missing == []


def test_the_title_of_a_letter_without_a_number_is_enough() -> None:
    text = "We look forward to having you with us for three nights from 4 May 2027.\n"
    assert read(mail(text, subject="Confirmation of your stay")).missing == ["stays"]


def test_a_stay_beside_the_flights_that_was_not_read_is_told() -> None:
    text = (
        "Booking reference: X7KQPM\nLH1034 Frankfurt (FRA) - Paris (CDG) 20 Apr 2027 10:10 - 11:25 Economy\n"
        "Hotel at the river\nArriving in the evening\nCheck-out: Fri 23 Apr 2027\nTotal price: EUR 500.00\n"
    )
    assert "stays" in read(mail(text)).missing
