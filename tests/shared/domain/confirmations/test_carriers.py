"""Confirmations of carriers no programme here sells seats of: they are known by name and code, and make bookings."""

from typing import Any

import pytest

from shared.domain.confirmations.model import to_json
from tests.shared.domain.confirmations.mails import data, first, flight, mail, read

MAILS: dict[str, tuple[str, str, list[dict[str, Any]]]] = {
    "Ryanair, which names no cabin": (
        "Ryanair <itinerary@ryanair.test>",
        "Reservation number: KJ7H2P\n\nOutbound\nFR 1883   London Stansted (STN) - Dublin (DUB)\nFri, 12 Mar 2027\n"
        "Departure 06:30   Arrival 07:50\n\nReturn\nFR 1886   Dublin (DUB) - London Stansted (STN)\nMon, 15 Mar 2027\n"
        "Departure 21:10   Arrival 22:25\nTotal paid: 84.98 GBP\n",
        [
            {"flight_number": "FR1883", "origin": "STN", "departure_date": "2027-03-12", "cabin_class": "economy",
             "cash_paid": 84.98, "taxes_currency": "GBP"},
            {"flight_number": "FR1886", "departure_date": "2027-03-15", "arrival_time": "22:25", "cash_paid": 0.0},
        ],
    ),
    "Wizz Air, under its number": (
        "Wizz Air <noreply@wizz.test>",
        "Flight confirmation code: G4TR9Q\nW6 2331\nBudapest (BUD) 14/05/2027 05:55\nLondon (LTN) 14/05/2027 07:35"
        "\nGrand total: 23 980 HUF\n",
        [{"flight_number": "W62331", "origin": "BUD", "destination": "LTN", "departure_date": "2027-05-14",
          "departure_time": "05:55", "cabin_class": "economy", "cash_paid": 23980.0}],
    ),
    "easyJet, by its code of three letters": (
        "easyJet <x@easyjet.test>",
        "Booking reference: K4N8S2X\nEZY 8435\nLondon Gatwick (LGW) to Nice (NCE)\nSat 12 Jun 2027 dep 06:15, 09:20\n"
        "Total: £118.46\n",
        [{"airline": "U2", "flight_number": "U28435", "origin": "LGW", "departure_date": "2027-06-12",
          "cabin_class": "economy", "cash_paid": 118.46}],
    ),
    "AirAsia, with kroner of no airline": (
        "AirAsia <x@airasia.test>",
        "Booking number: TW8QLP\nAK 701  Kuala Lumpur KUL 07:05 - Singapore SIN 08:10   02 Feb 2027\n"
        "Total NOK 1 249,00\n",
        [{"airline": "AK", "flight_number": "AK701", "origin": "KUL", "destination": "SIN", "cash_paid": 1249.0}],
    ),
    "a cabin that is stated counts": (
        "airBaltic <x@airbaltic.test>",
        "Booking reference: BT7K2L\nBT 651 Riga (RIX) - London (LGW) 4 May 2027 07:55 Business\nTotal: EUR 300.00\n",
        [{"flight_number": "BT651", "cabin_class": "business"}],
    ),
    "a code that is a word, behind the word flight": (
        "Transavia <x@transavia.test>",
        "Référence de réservation : TRV7K2\nVol TO 3450 Paris (ORY) - Lisbonne (LIS) 4 mai 2027 07:10\n"
        "Prix total : 89,00 EUR\n",
        [{"flight_number": "TO3450", "airline": "TO", "origin": "ORY"}],
    ),
}  # fmt: skip


@pytest.mark.parametrize("make", MAILS)
def test_a_confirmation_of_such_a_carrier_is_read(make: str) -> None:
    sender, text, expected = MAILS[make]
    result = read(mail(text, sender=sender))
    assert (result.missing, len(result.bookings)) == ([], len(expected))
    for booking, fields in zip(map(to_json, result.bookings), expected, strict=True):
        assert {n: booking.get(n) for n in fields} == fields


@pytest.mark.parametrize(
    "line",
    ["UP TO 2500 EUR back", "Booking ID 1234", "Flight no 1234", "Flight ID 1234", "London EC1V 2NX", "Suite 1204"],
)
def test_words_that_look_like_a_carriers_code_are_no_flights(line: str) -> None:
    result = read(mail(f"Booking reference: X7Y8Z9\n{line}\n4 May 2027 LHR - JFK\n", sender="Shop <x@shop.test>"))
    assert result.bookings == []


def test_a_seat_named_on_the_ticket_tells_the_cabin() -> None:
    result = flight(reservedTicket={"@type": "Ticket", "ticketedSeat": {"@type": "Seat", "seatingType": "Business"}})
    del result["airplaneSeatClass"]
    assert first(mail(page=data(result)))["cabin_class"] == "business"


def test_a_carrier_with_one_cabin_need_not_name_it_in_its_data() -> None:
    result = flight(leg={"airline": {"@type": "Airline", "name": "Ryanair"}, "flightNumber": "FR117"})
    del result["airplaneSeatClass"]
    assert (first(mail(page=data(result)))["airline"], first(mail(page=data(result)))["cabin_class"]) == (
        "FR",
        "economy",
    )
