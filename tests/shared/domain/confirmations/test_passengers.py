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
    "Passeggeri: 2 adulti, 1 bambino": 3,
    "Reisende: 2 Erwachsene und 1 Kind\n": 3,
    "Travellers: 4 (2 adults, 2 children)\n": 4,
    "3 passengers (2 adults, 1 child)": 3,
    "Adults: 2\nChildren: 1\n": 3,
    "2 passengers, 1 child": None,
    "Passengers\nMrs Brenda Oldroyd, Mr Keith Oldroyd\n\nTotal 90.00": 2,
    "Passagers\nMme Odile Marchal et M. Florent Marchal\n": 2,
    "Passengers\nLOPEZ GARCIA, MARIA JOSE\n": 1,
    "Pasajeros (3): Yaiza Betancor, Airam Betancor, Guacimara Padrón": 3,
    "Passenger Name          : MR SOREN KJELDSEN\nTicket Number           : 2172418807720": 1,
    "Passenger  Mr Soren Kjeldsen\n": 1,
    "PASSENGER   : OSEI/BILAL MR     TICKET     : 071 2418807733": 1,
    "Name of passenger        Ticket number\nMR OWEN PRYCE   172-1\nMRS NIA PRYCE   172-2\n": 2,
    "Passageiros\nJoana Tavares Brandão - Adulto - Tarifa Light\n": 1,
    "1. Ms. Ananya Krishnamurthy   Seat 6D\n": 1,
    "■搭乗者：ナガトモ ハルカ 様": 1,
    "搭乗者名：PRYCE OWEN": 1,
    "Passengers: 1\nMr Owen Pryce\nMrs Nia Pryce\n": None,
    "Your trip\nDallas/Fort Worth to Boston\n": None,
    "Passengers\nSee the attached list of all travellers\n": None,
}


@pytest.mark.parametrize("text", LETTERS)
def test_travellers_are_counted(text: str) -> None:
    assert count_passengers(text, TravelNames(reference())) == LETTERS[text]
