"""Letters that would be misread: tickets of trains are no flights, and a part of a booking may be cancelled."""

import pytest

from tests.shared.domain.confirmations.mails import mail, read

TRAIN = (
    "Auftragsnummer: 338120447711\nHinfahrt am 18.12.2026\nHamburg Hbf ab 09:24 Gl. 8\nBerlin Hbf an 11:12\n"
    "ICE 702, 2. Klasse\n1 Reisender mit BC 50\nGesamtpreis: 45,80 EUR\n"
)
PARTLY = (
    "Booking reference: 2T8QWK\nYour return flight has been cancelled. Your outbound flight is not affected.\n\n"
    "Outbound\nEI 158  Dublin (DUB) - London (LHR)  Mon 01 Feb 2027  10:30 - 11:55  Economy\n\n"
    "Return (CANCELLED)\nEI 163  London (LHR) - Dublin (DUB)  Wed 03 Feb 2027  14:40 - 16:05  Economy\n"
)


@pytest.mark.parametrize("text", [TRAIN, TRAIN.replace("ICE 702", "TGV 9571"), TRAIN.replace("Gl. 8", "Gleis 8")])
def test_the_ticket_of_a_train_is_no_flight(text: str) -> None:
    assert read(mail(text, sender="Bahn <x@bahn.test>")).bookings == []


def test_a_train_to_the_airport_keeps_the_flight() -> None:
    text = "Booking reference: X7Y8Z9\nFlight BA285  LHR-SFO  4 May 2027  Economy\nICE 702 from Hamburg Hbf\n"
    assert [b.flight_number for b in read(mail(text)).bookings] == ["BA285"]  # type: ignore[union-attr]


def test_a_cancelled_part_takes_nothing_else_with_it_and_a_person_is_asked() -> None:
    reading = read(mail(PARTLY, sender="Aer Lingus <x@ei.test>"))
    assert [(b.action, b.flight_number) for b in reading.bookings] == [("change", "EI158")]  # type: ignore[union-attr]
    assert "action" in reading.missing


REBOOKED = (
    "Confirmation code: X7KQPM\nYour flight UA901 from San Francisco (SFO) to London (LHR) on May 13, 2027 has been"
    " cancelled. We have rebooked you on the following flight:\n"
    "UA930 May 14, 2027 San Francisco (SFO) 1:20 PM - London (LHR) 7:45 AM +1\n"
)
BY_STATUS = (
    "Confirmation code: X7KQPM\nOne of the flights in your trip has been cancelled.\n"
    "UA930 May 14, 2027 San Francisco (SFO) 1:20 PM - London (LHR) 7:45 AM +1\nStatus: Confirmed\n"
    "UA901 May 24, 2027 London (LHR) 1:20 PM - San Francisco (SFO) 4:45 PM\nStatus: Cancelled\n"
)


@pytest.mark.parametrize("text", [REBOOKED, BY_STATUS])
def test_a_flight_called_off_beside_another_takes_no_booking_away(text: str) -> None:
    reading = read(mail(text, subject="Your flight is cancelled", sender="United <x@united.com>"))
    assert [(b.action, b.flight_number) for b in reading.bookings] == [("change", "UA930")]  # type: ignore[union-attr]
    assert "action" in reading.missing


@pytest.mark.parametrize("thing", ["seat reservation", "extra baggage", "rental car"])
def test_the_end_of_an_extra_is_none_of_the_booking(thing: str) -> None:
    reading = read(mail(f"Your {thing} has been cancelled.\nBooking reference: X7KQPM\nFlight LH1028\n"))
    assert all(b.action != "cancel" for b in reading.bookings)


def test_a_cancellation_without_a_number_asks_for_it() -> None:
    reading = read(mail("Your flight LH1034 Frankfurt (FRA) - Paris (CDG) on 20 Apr 2027 has been cancelled.\n"))
    assert [b.action for b in reading.bookings] == ["cancel"]
    assert reading.missing == ["confirmation_number"]


CAR = (
    "Reservation number: 8812044107\nPick-up: Munich Airport (MUC), 4 May 2027, 11:00\nYour flight: LH 2005\n"
    "Drop-off: Munich Airport (MUC), 8 May 2027, 11:00\nVehicle: Golf or similar\nMileage: unlimited\n"
)
OFFER = (
    "Spring is calling! Fly from £129 each way, book by 6 October.\nFrom 29 March 2027, BA 258 departs London (LHR) at"
    " 18:40 and lands in Budapest (BUD) at 22:10.\nFares are per person. Unsubscribe\n"
)


@pytest.mark.parametrize("text", [CAR, OFFER])
def test_a_hired_car_and_an_offer_are_no_flight(text: str) -> None:
    reading = read(mail(text, subject="For you", sender="British Airways <x@ba.com>"))
    assert (reading.bookings, reading.missing) == ([], [])


def test_a_booking_keeps_its_flight_beside_offers() -> None:
    text = f"Booking reference: X7Y8Z9\nFlight BA285  LHR-SFO  4 May 2027  11:20 14:10  Economy\n\n{OFFER}"
    assert "BA285" in [b.flight_number for b in read(mail(text)).bookings]  # type: ignore[union-attr]


def test_the_code_of_a_hotel_is_no_flight() -> None:
    text = (
        "Confirmation number: 4122098837\nPark Hyatt Sydney (TN385)\n7 Hickson Road, Sydney\n"
        "Check-in: Thu, Sep 9, 2027\nCheck-out: Sun, Sep 12, 2027\nTotal: 900.00 AUD\n"
    )
    assert [type(b).__name__ for b in read(mail(text)).bookings] == ["BookedStay"]
