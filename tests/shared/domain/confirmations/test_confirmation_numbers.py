"""The number of a booking: beside its label, in the line or the cell below it, and inside a sentence."""

import pytest

from shared.domain.confirmations.confirmation_numbers import find_confirmation
from shared.domain.confirmations.forwarding import Text

LETTERS = {
    "CÓDIGO DE RESERVACIÓN\nH7RKXM": "H7RKXM",
    "Clave de reservación\nKXHM7R": "KXHM7R",
    "CODE DE CONFIRMATION\nX7MRKH": "X7MRKH",
    "Filekey:        HMK7XR": "HMK7XR",
    "Dossier : MRKX7H": "MRKX7H",
    "Dossier : E4WDHS": "E4WDHS",  # "e" is also "is" in Italian
    "Reservation Code HKM7RX": "HKM7RX",
    "Your booking HKM7RX is confirmed.": "HKM7RX",
    "Reserveringsnummer luchtvaartmaatschappij: MHX7RK": "MHX7RK",
    "Deine Buchungsnummer: *7HXKMR*": "7HXKMR",
    "■予約番号：000482": "000482",
    "Reiseplannummer: 72635544128890": "72635544128890",
    "Hotel\tConfirmation\nMarriott\t90112277": "90112277",
    "Confirmation\t90112277": "90112277",
    "Your booking STATUS is confirmed": None,
    "Confirmation\nThank you": None,
}


@pytest.mark.parametrize("body", LETTERS)
def test_the_number_is_read(body: str) -> None:
    assert find_confirmation(Text(body, "", "Airline", False, None)) == LETTERS[body]
