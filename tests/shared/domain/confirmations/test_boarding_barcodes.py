"""Barcodes of boarding passes: their flights, with the year from what stands around them, and nothing guessed."""

from datetime import date

import pytest

from shared.domain.confirmations.mail_reader import read_barcodes
from shared.domain.confirmations.model import BookedLeg
from shared.reference.load import reference
from shared.reference.name_lookup import TravelNames
from tests.shared.domain.confirmations.attachments import BOARDING_PASS
from tests.shared.domain.confirmations.mails import mail, read

DAY = date(2027, 5, 3)
VARIABLE = ">2180".ljust(0x2C)  # what follows a leg, of the size stated before it
TWO_LEGS = (
    BOARDING_PASS.replace("M1", "M2").removesuffix("00") + f"2C{VARIABLE}" + "Q4TT21 JFKBOSAA 2159 125M011C0044 100"
)


def legs(*texts: str, around: date | None = DAY, stated: list[BookedLeg] | None = None) -> list[BookedLeg]:
    return read_barcodes(list(texts), around, TravelNames(reference()), stated or [])


def test_a_pass_of_two_flights_states_both_with_their_own_numbers() -> None:
    one, other = legs(TWO_LEGS)
    assert (one.flight_number, one.origin, one.destination, one.departure_date) == (
        "BA117",
        "LHR",
        "JFK",
        date(2027, 5, 4),
    )
    assert (other.flight_number, other.confirmation_number, other.departure_date) == (
        "AA2159",
        "Q4TT21",
        date(2027, 5, 5),
    )
    assert (one.cabin_class, other.cabin_class) == ("business", None)  # M is a fare's letter, no compartment


@pytest.mark.parametrize(
    ("number", "posted", "expected"),
    [("001", date(2026, 12, 30), date(2027, 1, 1)), ("365", date(2027, 1, 2), date(2026, 12, 31)),
     ("366", DAY, None), ("000", DAY, None), ("124", None, None), ("320", date(2027, 4, 20), date(2026, 11, 16))],
)  # fmt: skip
def test_the_year_is_the_one_near_the_letter(number: str, posted: date | None, expected: date | None) -> None:
    (leg,) = legs(BOARDING_PASS.replace("124J", f"{number}J"), around=posted)
    assert leg.departure_date == expected


def test_the_day_of_issue_settles_the_year() -> None:
    issued = BOARDING_PASS.replace("124J002A0011 100", "005J002A0011 118>6180WM6350BBA")  # on day 350 of a year with 6
    (leg,) = legs(issued, around=date(2026, 12, 20))
    assert leg.departure_date == date(2027, 1, 5)


def test_the_year_of_the_same_day_stated_elsewhere_goes_first() -> None:
    (leg,) = legs(BOARDING_PASS, stated=[BookedLeg(departure_date=date(2025, 5, 4))])
    assert leg.departure_date == date(2025, 5, 4)


def test_two_passengers_of_one_flight_are_counted_and_repeats_are_not() -> None:
    (leg,) = legs(BOARDING_PASS, BOARDING_PASS.replace("ALEX", "KIM "), BOARDING_PASS)
    assert leg.passengers == 2


def test_a_carrier_of_three_letters_and_an_unknown_airport() -> None:
    (leg,) = legs(BOARDING_PASS.replace("BA 0117", "EZY8435").replace("JFK", "QQQ"))
    assert (leg.flight_number, leg.origin, leg.destination) == (None, "LHR", None) or leg.airline == "U2"


@pytest.mark.parametrize(
    "text", ["", "M", "M1", "M9" + "X" * 300, BOARDING_PASS[:40], "https://a.test/M1", "M1" + "\n" * 60]
)
def test_other_barcodes_state_nothing(text: str) -> None:
    assert legs(text) == []


def test_a_pass_of_the_form_for_one_flight_is_read_like_the_others() -> None:
    assert legs(BOARDING_PASS.replace("M1", "S1", 1)) == legs(BOARDING_PASS)


def test_a_barcode_pasted_as_text_is_read() -> None:
    found = read(mail(f"My pass:\n{TWO_LEGS}\n")).bookings
    assert [leg.flight_number for leg in found if isinstance(leg, BookedLeg)] == ["BA117", "AA2159"]
