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
