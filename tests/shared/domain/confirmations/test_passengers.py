"""How many people a letter's booking is for: counts it states, names it lists, and nothing where it is unsure."""

import pytest

from shared.domain.confirmations.passengers import count_passengers
from shared.reference.load import reference
from shared.reference.name_lookup import TravelNames

LETTERS = {
    "Passengers: 2": 2,
    "2 Adults, 1 Child": 3,
    "Passagiere: 1 Erwachsener": 1,
    "Passengers\nMr Owen Pryce\nMrs Nia Pryce\n\nTotal 90.00": 2,
    "Passagiers\nDhr. Joris van Wessel\nMevr. Anouk van Wessel\nKind: Sem van Wessel\n\nTotaalprijs: 90": 3,
    "Passenger(s)\nPRYCE/OWEN MR\nPRYCE/NIA MRS\n": 2,
    "1.1MWANGI/JOSEPHMR\n": 1,
    "Pasajero: SANTIAGO URIBE LLERAS\n": 1,
    "Guests: Ainsley Gray; Fraser Gray\n": 2,
    "Reisende: Frau Dr. Annegret Lindemann\n": 1,
    "ご搭乗者\nTAKAMURA / KENJI 様\n": 1,
    "Passenger: Owen Pryce\n\nPassengers\nOwen Pryce\n": 1,
    "Passengers: 1\nMr Owen Pryce\nMrs Nia Pryce\n": None,
    "Your trip\nDallas/Fort Worth to Boston\n": None,
    "Passengers\nSee the attached list of all travellers\n": None,
}


@pytest.mark.parametrize("text", LETTERS)
def test_travellers_are_counted(text: str) -> None:
    assert count_passengers(text, TravelNames(reference())) == LETTERS[text]
