"""How many people a letter's booking is for: counts it states, names it lists, and nothing where it is unsure."""

import pytest

from shared.domain.confirmations.passengers import read_passengers
from shared.reference.load import reference
from shared.reference.name_lookup import TravelNames

LETTERS = {
    "Passengers: 2": 2,
    "Resenärer: 2 vuxna, 1 barn": 3,
    "Passagerer: 2 voksne, 1 barn": 3,
    "Pasażerowie: 2 dorosłych + 1 dziecko": 3,
    "Yolcular: 1 yetişkin, 1 çocuk": 2,
    "승객: 성인 2명, 소아 1명": 3,
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
    "Guest name\tSolveig Aune": 1,
    "Passengers: 1. Mr Robin Sample  2. Mrs Kim Sample": 2,
    "Travelers: SAMPLE/ROBIN, SAMPLE/KIM": 2,
    "Guest\tSeat\tMeal\nSolveig Aune\t12A\tVegan\nIvar Aune\t12B\tStandard": 2,
    "Passageira: Lívia Sobral Pinto": 1,
    "Passager 1 : Odile Marchal - N° de billet 057 1234567890\nPassager 2 : Florent Marchal": 2,
    "Viajero 1: Inés Robles Vidal\nViajera 2: Ana Ruiz Gómez": 2,
    "Erwachsener: Jana Köhler\nKind: Mia Köhler": 2,
    "PASSAGIERDATEN\nJana Köhler      Ticketnummer 220-1234567890": 1,
    "Naam passagier: Sem van Wessel": 1,
    "お客様氏名：山田 太郎様": 1,
    "Who's travelling?\nSolveig Aune\nIvar Aune\n": 2,
    "Trip 4711 - Booked by Karen Lowe for Solveig Aune": 1,
    "Traveller: Robles Vidal, Inés María": 1,
    "Pasajeros\nRobles Vidal, Inés María\nRobles Vidal, Pedro\n": 2,
    "Pasajeros\nRobles Vidal, Inés María\n": None,
    "Travellers: Solveig Aune, Tom Weber": 2,
    "Adults 2, Children 1": 3,
    "大人2名 小児1名": 3,
    "旅行代金（2名様分）": 2,
    "1名様あたり 20,000円": None,
    "two adults in business": 2,
    "Pasajeros\tINÉS ROBLES · 220-1234567890\nANA VIDAL · 220-1234567891": 2,
    "■搭乗者：ヤマモト ケン 様（大人）\n　　ヤマモト アイ 様（小児）\n大人1名につき1名様まで無料": 2,
    "Passagiers\nMw. Anouk de Vries\nSem de Vries\tBaby (op schoot)\n": 1,
    "Pasajeros: INÉS ROBLES VIDAL / PEDRO ROBLES VIDAL": 2,
    "Travellers\nAUNE/SOLVEIG MRS\nOSL-JFK -----\nAUNE/IVAR MR": 2,
    "Passengers\nMr Owen Pryce   Adult\nMrs Nia Pryce   Adult\nWHAT'S NEXT": 2,
    "Passeggeri\nSig.ra Giulia Neri\tAdulto\nRIEPILOGO SPESE\tEuro": 1,
    "*Passageiros* LÍVIA SOBRAL (adulto)\nRUI SOBRAL (adulto)": 2,
    "Solveig Aune\nTicket # 1172345678901\nIvar Aune\nTicket # 1172345678902": 2,
    "Solveig Aune\nTicket # 1172345678901\n\n\n\nTicket # 1172345678902": None,
    "NAME:  AUNE/SOLVEIG MRS\nSTEUERN/GEBUEHREN": 1,
    "Passengers\nMr Owen Pryce Adult Gold member\nMrs Nia Pryce Adult\nMiss Iris Pryce Child\n": 3,
    "Passagiere\nHerr Jan Kuhn Erwachsener\nFrau Eva Kuhn Erwachsene\n": 2,
    "Book for up to 9 passengers": None,
    "Passengers\nSolveig Aune\nFLIGHT\tDEPART / ARRIVE\nISSUED BY / DATE": 1,
    "Passengers: 1\nMr Owen Pryce\nMrs Nia Pryce\n": None,
    "Reisende\n 1  KERN, ULF HERR\tErwachsener\n 2  KERN, MIA\tKind (7 Jahre)\n 3  KERN, BEN\tKleinkind\n": 2,
    "Voyageurs\n1  DUMAS, CLAIRE MME\tAdulte\n2  DUMAS, LEO\tEnfant (7 ans)\n": 2,
    "Pasajeros\nLucía Ortega Adulto 172 2417600551\nPablo Ortega Niño 172 2417600553\nEva Ortega Bebé": 2,
    "Solveig Aune — AAdvantage #: ****742\tTicket # 0012177409836\nTotal 5": 1,
    "Sofia Greco, numero biglietto 0552177409836\nLuca Greco, numero biglietto 0552177409837": 2,
    "Jan de Boer - Ticketnummer: 074-2177409836\nEls de Boer - Ticketnummer: 074-2177409837": 2,
    "【搭乗者名】 AUNE/SOLVEIG MS\n   AUNE/IVAR MR\n1名様 110,000マイル\n": 2,
    "Enfant (2-11 ans)\nAdulte\t1 bagage 23 kg\n": None,
    "Traveller 1: Adult\t$10\nTraveller 2: Adult\t$10\nTraveller 3: Child\t$9": 3,
    "Voyageurs : 2 adultes et 1 enfant de 7 ans": 3,
    "Reisende: 2 Erwachsene, 1 Kind (7 Jahre)": 3,
    "1 Adult 2 Children": 3,
    "Adults (12+) x 2\nChildren (2-11) x 1": 3,
    "Erwachsener\t2\t1.918,00\nKind\t1\t767,20\nKleinkind\t1\t98,00": 3,
    "• PRYCE/OWEN MR (ADT)\n• PRYCE/NIA MRS (ADT)\n• PRYCE/TOM (CHD)": 3,
    "Passengers: Owen Pryce (adult), Nia Pryce (adult), Tom Pryce (child)": 3,
    "2 adults, 1 infant on lap": 2,
    "Passengers: 3\n2 adults, 1 infant": 3,
    "Your trip\nDallas/Fort Worth to Boston\n": None,
    "Passengers\nSee the attached list of all travellers\n": None,
}


@pytest.mark.parametrize("text", LETTERS)
def test_travellers_are_counted(text: str) -> None:
    assert read_passengers(text, TravelNames(reference())).number == LETTERS[text]


DIFFERENT = {
    "Passengers: 1\nMr Owen Pryce\nMrs Nia Pryce\n": (1, 2),
    "Viaggiatori: 2\nAdulti: 2, bambini: 1": (2, 3),
    "2 passengers, 1 child": (2, 3),
    "Pasajeros\nRobles Vidal, Inés María\n": (1, 2),
    "Reisende: 3\nFrau Jana Kern\nHerr Max Kern": (2, 3),
    "Passengers: 2": (),
    "Hello Owen Pryce,\nyour trip is booked": (),
}


@pytest.mark.parametrize("text", DIFFERENT)
def test_different_numbers_are_asked_about(text: str) -> None:
    assert read_passengers(text, TravelNames(reference())).possible == DIFFERENT[text]


def test_the_first_of_several_counts_in_unknown_words_is_not_that_of_all() -> None:
    assert read_passengers("Passengers: 2 dospělí, 1 dítě", TravelNames(reference())).number is None


TICKETS = "Passengers\nMr Owen Pryce\nMrs Nia Pryce\n"


@pytest.mark.parametrize(
    ("tickets", "number"),
    [
        ("", 2),
        ("Ticket 125 2400000001\nTicket 125 2400000002\n", 2),
        ("Ticket 125 2400000001\nTicket 618 2400000003\nTicket 125 2400000002\nTicket 618 2400000004\n", 2),
        ("Ticket 125 2400000001\n", None),
        ("Ticket 125 2400000001\nTicket 125 2400000002\nTicket 125 2400000003\n", None),
        ("Baby Rhys Pryce\nTicket 125 2400000001\nTicket 125 2400000002\nTicket 125 2400000003\n", 2),
    ],
)
def test_a_list_of_names_is_held_against_the_tickets_of_each_airline(tickets: str, number: int | None) -> None:
    assert read_passengers(f"{TICKETS}\n{tickets}", TravelNames(reference())).number == number
