"""Names in confirmations: the one airport, airline, programme or hotel a text can mean."""

import re
from collections.abc import Iterable
from functools import lru_cache

from shared.domain import names
from shared.domain.confirmations.model import Sender
from shared.errors import Candidates, NotFound
from shared.reference import hotels
from shared.reference.airports import measure_miles
from shared.reference.place_mentions import find_by_own_word, find_places
from shared.reference.reference import Reference
from shared.reference.rows.travel import Hotel, MailSender

_MAX_CHARACTERS = 120
_NAMES_OF_OTHERS = frozenset(("smiles",))  # GOL's programme, which is not known here: a part of another's name
_PARTS = re.compile(r"\s[-–|:]\s|[,;()\t]")
_HOTEL_WORDS = frozenset(
    re.findall(
        r"\w+",
        "hotel hotels resort spa and the a at by in of for your stay room booking reservation confirmation confirmed"
        " receipt hyatt hilton marriott ihg accor wyndham radisson collection member",
    )
)
_AIRPORT_WORDS = frozenset(("airport", "international", "intl", "regional", "municipal", "the", "of"))


@lru_cache(maxsize=2)
def _list_airport_words(reference: Reference) -> list[tuple[str, frozenset[str]]]:
    """What each airport is called, of those that need more than one word for it."""
    called = {
        a.code: frozenset(names.normalize_name(f"{a.name} {a.city}").split()) - _AIRPORT_WORDS
        for a in reference.airports.values()
    }
    return [(code, words) for code, words in called.items() if len(words) > 1]


@lru_cache(maxsize=2)
def _index_carriers(reference: Reference) -> dict[str, str]:
    """Whole names of carriers as they are compared, each with its code."""
    return {names.normalize_name(c.name): c.iata for c in reference.carriers.values()}


@lru_cache(maxsize=4_096)
def _find_airline(reference: Reference, text: str) -> str | None:
    if text in reference.carriers:
        return text
    words, codes_by_name = names.normalize_name(text), _index_carriers(reference)
    if words in codes_by_name:
        return codes_by_name[words]
    whole = [name for name in codes_by_name if len(name) > 3 and f" {name} " in f" {words} "]
    outer = [name for name in whole if not any(name != other and f" {name} " in f" {other} " for other in whole)]
    if len(outer) == 1:
        return codes_by_name[outer[0]]
    if len(text) < 4:
        return None
    try:
        return reference.carrier(text).iata
    except (NotFound, Candidates):
        return None


@lru_cache(maxsize=1_024)
def _find_airport(reference: Reference, text: str) -> str | None:
    words = set(names.normalize_name(text).split())
    fitting = [
        (len(airport_words), code) for code, airport_words in _list_airport_words(reference) if airport_words <= words
    ]
    best = [code for count, code in fitting if count == max(fitting)[0]]
    return best[0] if len(best) == 1 else find_by_own_word(reference, text)


@lru_cache(maxsize=2)
def _index_senders(reference: Reference) -> dict[str, MailSender]:
    return {row.domain: row for row in reference.rows("mail_senders.csv")}


class TravelNames:
    """`TravelFacts` of the confirmation reader, answered from the reference data."""

    def __init__(self, reference: Reference) -> None:
        self.reference = reference

    def clock_of(self, airport: str) -> str | None:
        airport_row = self.reference.airports.get(airport)
        return airport_row.tz if airport_row else None

    def airport(self, text: str) -> str | None:
        """The one airport all of whose name and city stand in the text, in any order; the longest of several."""
        return _find_airport(self.reference, text[: 2 * _MAX_CHARACTERS])

    def places(self, text: str) -> Iterable[tuple[int, int, frozenset[str]]]:
        return find_places(self.reference, text[: 2 * _MAX_CHARACTERS])

    def is_served(self, airport: str) -> bool:
        return self.reference.count_flights(airport) > 0

    def flies(self, airline: str, origin: str, destination: str) -> bool:
        return self.reference.find_flight(airline, origin, destination).route == "known"

    def flies_to(self, airline: str, airport: str) -> bool:
        flights = self.reference.flights.get(airline)
        return flights is not None and bool(flights.pairs.get(airport))

    def miles(self, origin: str, destination: str) -> int | None:
        ends = [self.reference.airports.get(code) for code in (origin, destination)]
        return (
            None
            if ends[0] is None or ends[1] is None
            else measure_miles((ends[0].lat, ends[0].lon), (ends[1].lat, ends[1].lon))
        )

    def airline(self, text: str) -> str | None:
        """By code, by name, or by a longer text that holds the name of one airline."""
        return _find_airline(self.reference, text[:_MAX_CHARACTERS].strip())

    def by_icao(self, code: str) -> str | None:
        return self.reference.by_icao.get(code)

    def only_cabin(self, airline: str) -> str | None:
        return self.reference.one_cabin.get(airline)

    def sender(self, domain: str) -> Sender | None:
        """The sender of a domain or of one above it: "booking.lufthansa.com" is of lufthansa.com."""
        labels = domain.lower().strip(".").split(".")
        senders = _index_senders(self.reference)
        row = next((r for at in range(len(labels) - 1) if (r := senders.get(".".join(labels[at:])))), None)
        return Sender(row.airline, row.dates if row.dates in ("dmy", "mdy") else None) if row else None

    def program(self, text: str) -> str | None:
        """The one programme a name stands for."""
        if text.strip().lower() in _NAMES_OF_OTHERS:
            return None
        programs = self.reference.find_programs(text[:_MAX_CHARACTERS]) if len(text.strip()) > 2 else ()
        return programs[0] if len(programs) == 1 else None

    def program_of(self, airline: str) -> str | None:
        airline_row = self.reference.airlines.get(airline)
        return airline_row.program if airline_row else None

    def country_of_airline(self, airline: str) -> str | None:
        carrier = self.reference.carriers.get(airline)
        return carrier.country if carrier else None

    def country_of_airport(self, airport: str) -> str | None:
        airport_row = self.reference.airports.get(airport)
        return airport_row.country if airport_row else None

    def country_of_hotel(self, hotel: str) -> str | None:
        row = hotels.find_stored(self.reference, hotel)
        return row.country if row else None

    def hotel(self, text: str) -> str | None:
        """The code of the one hotel of that name, or of the one whose name the text holds with nothing that tells
        it from a neighbour of a longer name: "Conrad Tokyo, Japan", but not "Hilton Tokyo Bay" for the Hilton Tokyo."""
        name = names.normalize_name(text[:_MAX_CHARACTERS])
        if len(name) < 5:
            return None
        hotels_found = hotels.find_all(self.reference, text[:_MAX_CHARACTERS]) if len(name.split()) > 1 else []
        if len(hotels_found) != 1:
            inside = [
                h for h in self.reference.rows("hotels.csv") if f" {names.normalize_name(h.name)} " in f" {name} "
            ]
            parts = {names.normalize_name(part) for part in _PARTS.split(text[:_MAX_CHARACTERS])}
            inside = [h for h in inside if names.normalize_name(h.name) in parts or _is_alone(h, name)]
            longest = max((len(h.name) for h in inside), default=0)
            hotels_found = [h for h in inside if len(h.name) == longest]
        return hotels.code(hotels_found[0]) if len(hotels_found) == 1 else None


def _is_alone(hotel: Hotel, name: str) -> bool:
    """Whether the words next to the hotel's name could stand next to it on any letter of its own."""
    beside = set(name.replace(names.normalize_name(hotel.name), " ", 1).split())
    return all(
        w in _HOTEL_WORDS or w.isdigit()
        for w in beside - set(names.normalize_name(f"{hotel.city} {hotel.brand}").split())
    )
