"""Airports and cities as people write them: a code, a city's name, a city with its state or country, an airport."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from shared.domain import names
from shared.domain.airports import Airport
from shared.errors import Ambiguity, Candidates, Choice, NotFound
from shared.reference.airports import load_metro_names, load_subdivision_names
from shared.reference.countries import load_country_names
from shared.reference.reference import Reference

_NOISE = frozenset(("airport", "airports", "international", "intl", "all", "any"))
_LEAD = 4  # a city with this many times the known flights of its namesakes is the one people mean
_MAX_CANDIDATES = 8


@dataclass(frozen=True)
class _PlaceIndex:
    meant: Mapping[str, str]  # what a city's name means, whatever else has that name: a city code, or as spelled
    cities: Mapping[str, tuple[str, ...]]  # airports by the name of their city
    words: Mapping[str, tuple[str, ...]]  # airports by each word of their name and city; sets would be 2 MB more


def find_code(reference: Reference, text: str, *, for_flights: bool = False) -> str:
    """The airport or city code a text means. Among cities with the same name, the metropolitan one or the busiest.

    `for_flights`: for a city whose code is also an airport's, the busiest airport: IAH and not HOU for Houston.

    Three letters are a code, known or not. Raises NotFound with the nearest names, or Candidates.
    """
    text = text.strip()
    if len(text) == 3 and text.isascii() and text.isalpha():
        return text.upper()
    if code := _index_places(reference).meant.get(text):
        return _find_main(reference, code) if for_flights else code
    words = [word for word in names.normalize_name(text).split() if word not in _NOISE]
    if len(words) == 1 and (words[0].upper() in reference.airports or words[0].upper() in reference.metros):
        return words[0].upper()
    spellings = [words, words[:-1]] if words[-1:] == ["city"] else [words]
    for spelling in filter(None, spellings):
        if code := _find_city(reference, spelling, for_flights=for_flights):
            return code
    for spelling in filter(None, spellings):
        if code := _find_by_words(reference, spelling):
            return code
    index = _index_places(reference)
    near = names.find_close(" ".join(words), [*index.meant, *index.cities]) if words else []
    codes = [index.meant.get(name) or index.cities[name][0] for name in near]
    raise NotFound("airport or city", text, [describe_place(reference, code) for code in codes])


def prepare_index(reference: Reference) -> None:
    """Builds the name index and the known flights in advance: the first call would take 35 ms of the loop."""
    _index_places(reference)
    assert reference.flights


def describe_place(reference: Reference, code: str) -> str:
    """`BHX (Birmingham, England, GB)`."""
    airport = reference.airport(code)
    city = load_metro_names().get(code) or airport.city or airport.name
    subdivision = load_subdivision_names().get(airport.code, "")
    return f"{code} ({', '.join(dict.fromkeys(part for part in (city, subdivision, airport.country) if part))})"


@lru_cache(maxsize=2)
def _index_places(reference: Reference) -> _PlaceIndex:
    metro_codes = {names.normalize_name(name): code for code, name in load_metro_names().items()}
    # Names in Japanese script have no other form for comparison.
    metro_codes |= {
        names.normalize_name(row.name) or row.name: row.code for row in reference.rows("city_spellings.csv")
    }
    cities: dict[str, list[str]] = defaultdict(list)
    words: dict[str, set[str]] = defaultdict(set)
    for code, airport in reference.airports.items():
        city = names.normalize_name(airport.city)
        cities[city].append(code)
        for word in (*city.split(), *names.normalize_name(airport.name).split()):
            words[word].add(code)
    del cities[""]
    return _PlaceIndex(metro_codes, {n: tuple(c) for n, c in cities.items()}, {w: tuple(c) for w, c in words.items()})


def _find_city(reference: Reference, words: Sequence[str], *, for_flights: bool = False) -> str | None:
    """The place of the longest city's name the words start with, if the rest is its state or country."""
    index = _index_places(reference)
    for length in range(len(words), 0, -1):
        name, rest = " ".join(words[:length]), " ".join(words[length:])
        code = index.meant.get(name)
        if code and (not rest or rest in _list_tails(reference, code)):
            return _find_main(reference, code) if for_flights else code
        own = index.cities.get(name, ())
        every = [*own, *(c for c in _list_named(index, words[:length]) if c not in own)] if own or rest else []
        fitting = [c for c in every if not rest or rest in _list_tails(reference, c)]
        if fitting:
            return _choose(reference, " ".join(words), fitting, [c for c in fitting if c in own])
    return None


def _find_main(reference: Reference, code: str) -> str:
    members = [member for member in reference.metros.get(code, ()) if member in reference.airports]
    if code not in reference.airports or not members:
        return code
    busiest = max(members, key=reference.count_flights)
    return busiest if reference.count_flights(busiest) > _LEAD * reference.count_flights(code) else code


def _find_by_words(reference: Reference, words: Sequence[str]) -> str | None:
    """The airport whose name or city has all of these words."""
    codes = _list_named(_index_places(reference), words)
    return _choose(reference, " ".join(words), codes, ()) if codes else None


def _list_named(index: _PlaceIndex, words: Sequence[str]) -> list[str]:
    return sorted(frozenset.intersection(*(frozenset(index.words.get(word, ())) for word in words)))


def _list_tails(reference: Reference, code: str) -> frozenset[str]:
    """What can follow a city's name: its country, its state, or both, as names or codes."""
    members = [reference.airports[member] for member in reference.city(code)]
    return frozenset(tail for airport in members for tail in list_airport_tails(airport))


@lru_cache(maxsize=512)
def list_airport_tails(airport: Airport) -> frozenset[str]:
    """What can follow the name of an airport's city, normalized."""
    countries = [airport.country.lower(), *(n for n, c in load_country_names().items() if c == airport.country)]
    states = [names.normalize_name(load_subdivision_names().get(airport.code, ""))]
    if airport.region:
        states.append(airport.region.partition("-")[2].lower())
    whole = (f"{state} {country}" for state in filter(None, states) for country in countries)
    return frozenset((*countries, *filter(None, states), *whole))


def _choose(reference: Reference, text: str, codes: Sequence[str], own: Sequence[str]) -> str:
    """The busiest airport of a city far busier than all others, first among cities with exactly this name.

    Raises Candidates where none stands out.
    """
    for group in (own, codes):
        cities = _rank_cities(reference, group)
        if len(cities) == 1 or (cities and cities[0][0] > _LEAD * sum(flights for flights, _ in cities[1:])):
            return cities[0][1]
    flown = [code for code in codes if reference.count_flights(code)] or codes
    busiest = sorted(flown, key=lambda code: (code not in own, -reference.count_flights(code), code))
    candidates = {code: describe_place(reference, code) for code in busiest[:_MAX_CANDIDATES]}
    sentence = f"{text.title()} can mean {len(flown)} airports; call again with one of these codes."
    which = Ambiguity("airport", text, [Choice(code, place) for code, place in candidates.items()])
    raise Candidates(sentence, list(candidates.values()), which)


def _rank_cities(reference: Reference, codes: Sequence[str]) -> list[tuple[int, str]]:
    """Each city's known flights and busiest airport, the busiest city first."""
    flights: dict[tuple[str, str, str], list[tuple[int, str]]] = defaultdict(list)
    for code in codes:
        airport = reference.airports[code]
        city = (names.normalize_name(airport.city), load_subdivision_names()[code], airport.country)
        flights[city].append((reference.count_flights(code), code))
    return sorted(((sum(count for count, _ in city), max(city)[1]) for city in flights.values()), reverse=True)
