"""Names in confirmations: the one airport, airline, programme or hotel a text can mean."""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal
from functools import lru_cache

from shared.domain import names
from shared.domain.airports import Airport
from shared.domain.confirmations.model import Sender
from shared.domain.possible_flights import Route
from shared.errors import Candidates, NotFound
from shared.reference import hotels
from shared.reference.airports import load_metro_names
from shared.reference.exchange_rates import convert_amount
from shared.reference.places import list_airport_tails
from shared.reference.reference import Reference
from shared.reference.rows.travel import Hotel, MailSender

# Cities and airports named in a line of text, each with the airports it can mean.

_WORD = re.compile(r"[^\W\d_]+(?:['’`.](?=[^\W\d_])[^\W\d_]+)*\.?")
_CODE = re.compile(r"[A-Z]{3}")
_JOIN = re.compile(r"[\s,./()\[\]'-]{0,4}")
_NOISE = frozenset(
    re.findall(
        r"\w+",
        "airport airports international intl int apt aeroport aeropuerto aeroporto flughafen luchthaven"
        " regional municipal field airfield the of de da di du and",
    )
)
# Names of cities that are far more often other words in letters.
_NOT_CITIES = frozenset(
    re.findall(
        r"\w+",
        "mobile reading page most bar police orange bath man best bay enterprise independence hope union"
        " liberty salem male victoria alexandria florence sydney marsh harrison jackson austin charlotte"
        " madison lincoln jefferson",
    )
) - frozenset(
    re.findall(
        r"\w+",
        "florence sydney austin charlotte madison victoria male jackson lincoln alexandria",
    )
)
# After these, the name of a city distinguishes it from namesakes.
_ADDITION = re.compile(r"\s*[/,(-]|\s+(?:de|del|da|das|do|dos|di|du|of|on|upon|am|an|sur|en)\s+", re.I)
_CITY_MILES = 100  # between airports of one city
_MOST_TAIL_WORDS = 3
_JAPANESE = re.compile(r"[\u3040-\u30ff\u4e00-\u9fff]")


@dataclass(frozen=True)
class _NameIndex:
    phrases: Mapping[str, tuple[tuple[tuple[str, ...], frozenset[str]], ...]]  # by first word, the longest first
    metros: frozenset[str]  # city codes, normalized
    words: Mapping[str, frozenset[str]]  # airports by each word of their name
    named: Mapping[str, frozenset[str]]  # airports with scheduled flights by each of their names
    ideographs: tuple[tuple[str, frozenset[str]], ...]  # names written without blanks, the longest first


@lru_cache(maxsize=2)
def _build_index(reference: Reference) -> _NameIndex:
    phrases: dict[tuple[str, ...], set[str]] = defaultdict(set)
    words: dict[str, set[str]] = defaultdict(set)
    ideographs: dict[str, frozenset[str]] = {}
    named = _index_names(reference)
    for code, airport in reference.airports.items():
        if not reference.count_flights(code):
            continue
        phrases[tuple(names.normalize_name(airport.city).split())].add(code)
        for word in names.normalize_name(airport.name).split():
            words[word].add(code)
    for code, name in load_metro_names().items():
        phrases[tuple(names.normalize_name(name).split())] |= set(_list_members(reference, code))
        phrases[(code.lower(),)] |= set(_list_members(reference, code))  # "NYC-KENNEDY"; in capitals only
    for row in reference.rows("city_spellings.csv"):
        members = _list_members(reference, row.code)
        if _JAPANESE.search(row.name):
            ideographs[row.name] = frozenset(members)
        else:
            phrases[tuple(names.normalize_name(row.name).split())] = set(members)
    for phrase, codes in phrases.items():
        others = named.get(" ".join(phrase), frozenset()) - codes if codes else ()
        codes |= {code for code in others if _is_far(reference, code, codes)}
    by_first: dict[str, list[tuple[tuple[str, ...], frozenset[str]]]] = defaultdict(list)
    for phrase, codes in phrases.items():
        if phrase and codes and not (len(phrase) == 1 and (phrase[0] in _NOT_CITIES or len(phrase[0]) < 3)):
            by_first[phrase[0]].append((phrase, frozenset(codes)))
    return _NameIndex(
        {first: tuple(sorted(all_of, key=lambda p: -len(p[0]))) for first, all_of in by_first.items()},
        frozenset(code.lower() for code in load_metro_names()) - {"rom"},
        {word: frozenset(codes) for word, codes in words.items() if word not in _NOISE and len(word) > 2},
        named,
        tuple(sorted(ideographs.items(), key=lambda p: -len(p[0]))),
    )


def _index_names(reference: Reference) -> dict[str, frozenset[str]]:
    named: dict[str, set[str]] = defaultdict(set)
    for code in reference.airports_with_flights:
        for name in _list_names(reference.airports[code]):
            named[name].add(code)
    return {name: frozenset(codes) for name, codes in named.items()}


def _list_names(airport: Airport) -> Iterable[str]:
    """The names an airport goes by: its city's, that without its distinguishing part, and its own.

    "Santiago de Compostela" is called Santiago, "St Petersburg-Clearwater" St Petersburg; Charlotte Amalie has no other
    name.
    """
    city = names.normalize_name(airport.city)
    own = [word for word in names.normalize_name(airport.name).split() if word not in _NOISE]
    return {city, names.normalize_name(_ADDITION.split(airport.city)[0]), " ".join(own)} - {""}


def _is_far(reference: Reference, code: str, others: Iterable[str]) -> bool:
    """Whether an airport is in a different place than those, and not in their city."""
    return all(reference.miles(code, other) > _CITY_MILES for other in others)


def _list_members(reference: Reference, code: str) -> list[str]:
    """The airports of a city that airlines here are known to fly to; all of them if none is known."""
    members = reference.city(code) if code in reference.metros or code in reference.airports else ()
    return [m for m in members if reference.count_flights(m)] or list(members)


_lower = lru_cache(maxsize=65_536)(names.normalize_name)


def find_places(reference: Reference, text: str) -> Iterator[tuple[int, int, frozenset[str]]]:
    """Start, end and the airports of each place named, from left to right. "London Heathrow" is one place."""
    index = _build_index(reference)
    if _JAPANESE.search(text):
        yield from _find_ideographs(index, text)
        return
    words = [(m.start(), m.end(), _lower(m[0].rstrip("."))) for m in _WORD.finditer(text)]
    at = 0
    while at < len(words):
        size, codes = _match_phrase(index, words, at, text)
        if not size:
            at += 1
            continue
        start, end, at = words[at][0], words[at + size - 1][1], at + size
        codes = _narrow_to_tail(reference, words[at : at + _MOST_TAIL_WORDS], end, codes, text)
        at, end, codes = _extend(index, words, at, end, codes, text)
        start, codes = _look_back(index, words, start, codes, text)
        yield start, end, codes


def _narrow_to_tail(
    reference: Reference, words: list[tuple[int, int, str]], end: int, codes: frozenset[str], text: str
) -> frozenset[str]:
    """The airports in the state or country that follows the name: "Manchester, NH", "Newcastle, Australia"."""
    tail: list[str] = []
    fitting = codes
    for start, stop, word in words if len(codes) > 1 else ():
        if not _JOIN.fullmatch(text[end:start]) or not (text[start].isupper() or word in _NOISE):
            break
        tail, end = [*tail, *([word] if word not in _NOISE else [])], stop
        called = {code for code in codes if " ".join(tail) in list_airport_tails(reference.airports[code])}
        fitting = frozenset(called) or fitting
    return fitting


def _match_phrase(
    index: _NameIndex, words: list[tuple[int, int, str]], at: int, text: str
) -> tuple[int, frozenset[str]]:
    """The number of words from here that name a city, and its airports."""
    if not text[words[at][0]].isupper():
        return 0, frozenset()
    for phrase, codes in index.phrases.get(words[at][2], ()):
        written = words[at : at + len(phrase)]
        code = len(phrase) == 1 and len(phrase[0]) == 3 and not text[written[0][0] : written[0][1]].isupper()
        if tuple(word for _, _, word in written) == phrase and not (code and phrase[0] in index.metros):
            return len(phrase), codes
    return 0, frozenset()


def _extend(
    index: _NameIndex, words: list[tuple[int, int, str]], at: int, end: int, codes: frozenset[str], text: str
) -> tuple[int, int, frozenset[str]]:
    """The words after a city that name one of its airports, or its code. A short word counts only before
    another: in "Madrid LH 12" it is an airline's."""
    reach, read_to = at, end
    while reach < len(words) and reach < at + 5 and _JOIN.fullmatch(text[read_to : words[reach][0]]):
        start, stop, word = words[reach]
        narrowed = codes & _find_airports_of(index, text[start:stop], word)
        size, city = _match_phrase(index, words, reach, text)
        if size and not codes & city and (size > 1 or not narrowed):  # "San" of San Jose is no part of San Antonio
            break
        if size and codes & city and not narrowed:
            narrowed, stop, reach = codes & city, words[reach + size - 1][1], reach + size - 1
        if not narrowed and word not in _NOISE and len(word) > 2:
            break
        codes, read_to, reach = narrowed or codes, stop, reach + 1
        if narrowed or word in _NOISE:
            at, end = reach, stop
    return at, end, codes


def _look_back(
    index: _NameIndex, words: list[tuple[int, int, str]], start: int, codes: frozenset[str], text: str
) -> tuple[int, frozenset[str]]:
    """The words before a city that name one of its airports: "Heathrow (London)"."""
    for first, stop, word in reversed([w for w in words if w[1] <= start][-4:]):
        narrowed = codes & _find_airports_of(index, text[first:stop], word)
        if not _JOIN.fullmatch(text[stop:start]) or not (narrowed or word in _NOISE or len(word) < 3):
            break
        start, codes = first, narrowed or codes
    return start, codes


def _find_airports_of(index: _NameIndex, written: str, word: str) -> frozenset[str]:
    own = frozenset([written]) if _CODE.fullmatch(written) else frozenset[str]()
    return own | index.words.get(word, frozenset())


def _find_ideographs(index: _NameIndex, text: str) -> Iterator[tuple[int, int, frozenset[str]]]:
    """Finds names written without blanks between them; "東京 (羽田)" is one place."""
    places: list[tuple[int, int, frozenset[str]]] = []
    at = 0
    while at < len(text):
        name, codes = next(((n, c) for n, c in index.ideographs if text.startswith(n, at)), ("", frozenset[str]()))
        if not name:
            at += 1
            continue
        last = places[-1] if places else None
        if last and codes & last[2] and re.fullmatch(r"[\s/・()（）-]{0,3}(?:国際)?(?:空港)?", text[last[1] : at]):
            places[-1] = (last[0], at + len(name), codes & last[2])
        else:
            places.append((at, at + len(name), codes))
        at += len(name)
    yield from places


def find_by_own_word(reference: Reference, text: str) -> str | None:
    """The only airport whose name has the capitalised words: "Guarulhos Intl", "Barajas"."""
    index = _build_index(reference)
    words = {w for m in _WORD.finditer(text) if m[0][0].isupper() and len(w := _lower(m[0].rstrip("."))) > 5}
    codes = [index.words[word] | index.named.get(word, frozenset()) for word in words if word in index.words]
    single = {code for some in codes if len(some) == 1 for code in some}
    return single.pop() if len(single) == 1 else None


_MAX_CHARACTERS = 120
_NAMESAKES = "amex-membership-rewards"  # points of one country never count in another
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
    """The names, of several words, of airports with scheduled flights."""
    called = {
        a.code: frozenset(names.normalize_name(f"{a.name} {a.city}").split()) - _AIRPORT_WORDS
        for a in map(reference.airport, reference.airports_with_flights)
    }
    return [(code, words) for code, words in called.items() if len(words) > 1]


@lru_cache(maxsize=2)
def _index_carriers(reference: Reference) -> dict[str, str]:
    """Normalized whole names of carriers, each with its code."""
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
    best = {code for count, code in fitting if count == max(fitting)[0]}
    for name, codes in _build_index(reference).named.items() if best else ():
        if best & codes and words.issuperset(name.split()) and len(name.split()) >= max(fitting)[0]:
            best |= codes  # others have the name too
    return best.pop() if len(best) == 1 else None if best else find_by_own_word(reference, text)


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
        """The one airport with its whole name and city in the text, in any order; the longest of several."""
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

    def is_at_home(self, airline: str, airport: str) -> bool:
        flights = self.reference.flights.get(airline)
        return flights is not None and self.country_of_airport(airport) in flights.home | flights.market

    def route(self, origin: str, destination: str) -> Route | None:
        return self.reference.route(origin, destination)

    def airline(self, text: str) -> str | None:
        """The airline by code, by name, or by a longer text with the name of one airline."""
        return _find_airline(self.reference, text[:_MAX_CHARACTERS].strip())

    def by_icao(self, code: str) -> str | None:
        return self.reference.by_icao.get(code)

    def only_cabin(self, airline: str) -> str | None:
        return self.reference.one_cabin.get(airline)

    def sender(self, domain: str) -> Sender | None:
        """The sender of a domain or a parent domain: "booking.lufthansa.com" is of lufthansa.com."""
        labels = domain.lower().strip(".").split(".")
        senders = _index_senders(self.reference)
        row = next((r for at in range(len(labels) - 1) if (r := senders.get(".".join(labels[at:])))), None)
        return Sender(row.airline, row.dates if row.dates in ("dmy", "mdy") else None) if row else None

    def program(self, text: str) -> str | None:
        """The one programme that a name means."""
        programs = self.reference.find_programs(text[:_MAX_CHARACTERS]) if len(text.strip()) > 2 else ()
        return programs[0] if len(programs) == 1 else None

    def is_outside(self, text: str) -> bool:
        return bool(self.reference.find_outside_names(text))

    def programs_named(self, text: str) -> list[frozenset[str]]:
        """The programmes named in a longer text, each with all its meanings."""
        mentions = self.reference.mentions(text)
        namesakes = frozenset(slug for slug in self.reference.programs if slug.startswith(_NAMESAKES))
        return [meant | namesakes if meant & namesakes else meant for meant in mentions]

    def dollars(self, amount: Decimal, currency: str) -> Decimal | None:
        return convert_amount(amount, currency, "USD")

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
        """The code of the one hotel of that name, or of the one whose name the text has, with nothing that tells
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
    """Whether the words next to the hotel's name could be there on any letter from that hotel."""
    neighbours = set(name.replace(names.normalize_name(hotel.name), " ", 1).split())
    return all(
        w in _HOTEL_WORDS or w.isdigit()
        for w in neighbours - set(names.normalize_name(f"{hotel.city} {hotel.brand}").split())
    )
