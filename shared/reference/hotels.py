"""Known hotels: codes and numeric ids, chains, lookup by name, and time zones."""

import hashlib
import math
from collections import Counter
from collections.abc import Mapping
from functools import lru_cache

from shared.domain import names
from shared.domain.airports import Airport
from shared.domain.hotel_match import measure_kilometres
from shared.errors import Ambiguity, Candidates, Choice, NotFound
from shared.reference.reference import Reference
from shared.reference.rows.travel import Hotel

PREFIX = "htl_"
NAMES_COMPARED = 300  # comparing letter by letter takes a tenth of a millisecond for each
SAME_CITY_KILOMETRES = 100.0
Point = tuple[float, float]
CHAINS = {
    "accor-live-limitless": "accor",
    "choice-privileges": "choice",
    "hilton-honors": "hilton",
    "ihg-one-rewards": "ihg",
    "marriott-bonvoy": "marriott",
    "radisson-rewards": "radisson",
    "world-of-hyatt": "hyatt",
    "wyndham-rewards": "wyndham",
}


def code(hotel: Hotel) -> str:
    """The hotel's code; it depends only on the slug, so that it stays when rows come and go."""
    return PREFIX + hotel.slug


@lru_cache(maxsize=4096)
def _number(slug: str) -> str:
    return str(100_000_000 + int.from_bytes(hashlib.sha256(slug.encode()).digest()[:8]) % 900_000_000)


def number(hotel: Hotel) -> str:
    """The hotel's numeric id: nine digits that depend only on the slug."""
    return _number(hotel.slug)


def chain(hotel: Hotel) -> str:
    return CHAINS.get(hotel.program, hotel.program)


@lru_cache(maxsize=8)
def _index_ids(reference: Reference) -> dict[str, tuple[Hotel, ...]]:
    """Codes, numbers and property codes, each with the hotels it fits."""
    hotels: dict[str, tuple[Hotel, ...]] = {}
    for hotel in reference.rows("hotels.csv"):
        for key in (code(hotel), number(hotel), *([hotel.property_code.lower()] if hotel.property_code else [])):
            hotels[key] = (*hotels.get(key, ()), hotel)
    return hotels


@lru_cache(maxsize=8)
def _index_names(reference: Reference) -> dict[str, tuple[str, ...]]:
    """Normalized names, and the codes of the hotels with each."""
    codes: dict[str, tuple[str, ...]] = {}
    for hotel in reference.rows("hotels.csv"):
        for name in {names.normalize_name(hotel.name), names.normalize_name(hotel.slug)}:
            codes[name] = (*codes.get(name, ()), code(hotel))
    return codes


def find_stored(reference: Reference, hotel_code: str) -> Hotel | None:
    """The hotel of a stored code; None when it is no longer among the facts."""
    return next(iter(_index_ids(reference).get(hotel_code, ())), None)


def find_all(reference: Reference, text: str) -> list[Hotel]:
    """Every hotel a code (htl_...), a numeric id, a property code or a loose name can mean."""
    if hotels := _index_ids(reference).get(text.strip().lower()):
        return list(hotels)
    codes = names.find_meanings(text, _index_names(reference))
    return [hotel for c in codes if (hotel := find_stored(reference, c))]


def find_hotel(reference: Reference, text: str) -> Hotel:
    """The one hotel meant. Raises NotFound with the nearest names, or Candidates when several fit."""
    hotels = find_all(reference, text)
    if len(hotels) == 1:
        return hotels[0]
    if hotels:
        sentence = f"{text} fits {len(hotels)} hotels, and nothing was saved; call again with one hotel_code."
        choices = [Choice(code(h), f"{h.name} ({h.city}, {h.country})") for h in hotels[:20]]
        raise Candidates(sentence, [to_card(h) for h in hotels[:20]], Ambiguity("hotel", text, choices))
    raise NotFound("hotel", text, find_nearest_names(reference, text))


def find_nearest_names(reference: Reference, text: str) -> list[str]:
    """Hotels whose names differ only by misspellings, word by word; empty if none do."""
    titles = {names.normalize_name(h.name): h.name for h in reference.rows("hotels.csv")}
    words = names.normalize_name(text).split()
    alike = [name for name in titles if len(name.split()) == len(words) and set(words) & set(name.split())]
    alike = [name for name in alike if names.has_slips_only(words, name.split())]
    return [titles[n] for n in names.find_nearest(text, alike[:NAMES_COMPARED])]


def to_card(hotel: Hotel) -> dict[str, str]:
    """The card that shows a hotel wherever it is named."""
    return {
        "hotel_id": number(hotel),
        "hotel_code": code(hotel),
        "name": hotel.name,
        "chain": chain(hotel),
        "city": hotel.city,
        "country": hotel.country,
    }


def list_chain_codes(reference: Reference, text: str) -> list[str]:
    """The codes of the hotels of a chain, or of the programme a loose name means. Raises NotFound or Candidates."""
    wanted_chain = names.normalize_name(text)
    if wanted_chain not in CHAINS.values():
        slug = reference.program(text).slug
        wanted_chain = CHAINS.get(slug, slug)
    return [code(h) for h in reference.rows("hotels.csv") if chain(h) == wanted_chain]


@lru_cache(maxsize=8)
def _index_airports(reference: Reference) -> Mapping[str, tuple[Airport, ...]]:
    """Airports by country."""
    airports_by_city: dict[str, list[Airport]] = {}
    for airport in reference.airports.values():
        airports_by_city.setdefault(airport.country, []).append(airport)
    return {country: tuple(airports) for country, airports in airports_by_city.items()}


@lru_cache(maxsize=8)
def _index_cities(reference: Reference) -> Mapping[tuple[str, str], Point]:
    """The place of a city whose airports lie together; names shared by several cities of a country are left out."""
    points_by_city: dict[tuple[str, str], list[Point]] = {}
    for airport in reference.airports.values():
        points_by_city.setdefault((names.normalize_name(airport.city), airport.country), []).append(
            (airport.lat, airport.lon)
        )
    return {
        city: points[0]
        for city, points in points_by_city.items()
        if all(measure_kilometres(*points[0], *other) <= SAME_CITY_KILOMETRES for other in points)
    }


def _locate(reference: Reference, hotel: Hotel) -> Point | None:
    """The hotel's location, else roughly its city's, if the name is unique in the country.

    The part before a slash counts first: "Chicago/Schaumburg" is at Chicago, "Cincinnati Airport/Florence" in none
    of the cities called Florence.
    """
    if hotel.lat is not None and hotel.lon is not None:
        return float(hotel.lat), float(hotel.lon)
    cities, city = _index_cities(reference), names.normalize_name(hotel.city)
    before, slash, _ = hotel.name.partition("/")
    words = names.normalize_name(before).split()
    endings = [" ".join(words[at:]) for at in range(len(words))] if slash else []
    named = next((point for ending in endings if (point := cities.get((ending, hotel.country)))), None)
    return named or (None if slash and city not in " ".join(words) else cities.get((city, hotel.country)))


@lru_cache(maxsize=8)
def list_points(reference: Reference) -> tuple[tuple[Hotel, Point | None], ...]:
    """Every hotel with its place."""
    return tuple((h, _locate(reference, h)) for h in reference.rows("hotels.csv"))


@lru_cache(maxsize=8)
def list_time_zones(reference: Reference) -> Mapping[str, str]:
    """The time zone of each hotel, by its code."""
    return {code(h): _find_time_zone(reference, h.country, point) for h, point in list_points(reference)}


def find_time_zone(reference: Reference, hotel_code: str) -> str:
    return list_time_zones(reference).get(hotel_code, "UTC")


@lru_cache(maxsize=8192)
def _find_time_zone(reference: Reference, country: str, point: Point | None) -> str:
    """The zone of the country's nearest airport; if the location is unknown, the zone of most of its airports."""
    airports = _index_airports(reference).get(country, ())
    if point is None:
        return _find_usual_zone(airports)
    lat, lon = point
    narrow = math.cos(math.radians(lat))
    near = min(
        airports,
        key=lambda a: (a.lat - lat) ** 2 + (((a.lon - lon + 180) % 360 - 180) * narrow) ** 2,
        default=None,
    )
    return near.tz if near else "UTC"


@lru_cache(maxsize=512)
def _find_usual_zone(airports: tuple[Airport, ...]) -> str:
    zones = Counter(a.tz for a in airports)
    return zones.most_common(1)[0][0] if zones else "UTC"
