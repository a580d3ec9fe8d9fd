"""Hotels at a place: an airport, city, state, country or words of a hotel's name."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from shared.domain import names
from shared.domain.airports import Airport
from shared.domain.hotel_match import measure_kilometres
from shared.errors import Ambiguity, Candidates, NotFound
from shared.reference import airports as airport_data
from shared.reference import hotels
from shared.reference.countries import load_country_names
from shared.reference.hotels import Point
from shared.reference.places import find_code
from shared.reference.reference import Reference
from shared.reference.rows.travel import Hotel

AIRPORT_KILOMETRES, CITY_KILOMETRES = 60.0, 25.0
KILOMETRES_PER_DEGREE = 111.0  # of latitude
COUNTRIES_WITH_STATES = frozenset({"US", "CA", "AU"})  # two letters after a city can be a state of these countries


@dataclass(frozen=True)
class HotelPlace:
    """A known place, perhaps without hotels here."""

    name: str
    hotels: tuple[Hotel, ...]


@dataclass(frozen=True)
class _Cities:
    hotels: Mapping[str, tuple[Hotel, ...]]
    airports: Mapping[str, tuple[Airport, ...]]


@lru_cache(maxsize=4)
def _index_cities(reference: Reference) -> _Cities:
    stays: dict[str, list[Hotel]] = {}
    for hotel in reference.rows("hotels.csv"):
        stays.setdefault(names.normalize_name(hotel.city), []).append(hotel)
    airports_by_city: dict[str, list[Airport]] = {}
    for airport in reference.airports.values():
        airports_by_city.setdefault(names.normalize_name(airport.city), []).append(airport)
    return _Cities({c: tuple(h) for c, h in stays.items()}, {c: tuple(a) for c, a in airports_by_city.items() if c})


def find_place(reference: Reference, text: str) -> HotelPlace:
    """Raises NotFound with the nearest cities, or Candidates when a city of that name is in several countries."""
    name = names.normalize_name(text)
    empty: list[HotelPlace] = []
    for look in (_find_airport, _find_city, _find_country, _find_state, _find_renamed_city, _find_by_words):
        place = look(reference, name)
        if place and place.hotels:
            return place
        empty += (
            [place] if place else []
        )  # "Bali" is also the city of a small airport elsewhere, so the search continues
    if empty:
        return empty[0]
    cities = _index_cities(reference).hotels
    raise NotFound("destination", text, [cities[n][0].city for n in names.find_nearest(name, cities)])


def _find_airport(reference: Reference, name: str) -> HotelPlace | None:
    code = name.upper()
    if code not in reference.airports and code not in reference.metros:
        return None
    try:
        airports = [reference.airports[member] for member in reference.city(code)]
    except NotFound:
        return None
    return HotelPlace(code, _list_hotels_near(reference, _to_points(airports), AIRPORT_KILOMETRES))


def _find_city(reference: Reference, text: str) -> HotelPlace | None:
    """The city the text starts with, whatever follows: a country or a state narrows it down, other words do not."""
    cities, words = _index_cities(reference), text.split()
    for length in range(len(words), 0, -1):
        name, rest = " ".join(words[:length]), " ".join(words[length:])
        among = _narrow_countries(rest)
        stays = [h for h in cities.hotels.get(name, ()) if among is None or h.country in among]
        served = [a for a in cities.airports.get(name, ()) if among is None or a.country in among]
        if stays:
            return _list_around_city(reference, stays)
        if served:
            near = _list_hotels_near(reference, _to_points(served), AIRPORT_KILOMETRES)
            return HotelPlace(served[0].city, near)
    return None


def _list_around_city(reference: Reference, stays: Sequence[Hotel]) -> HotelPlace:
    countries = sorted({h.country for h in stays})
    if len(countries) > 1:
        city_names = [f"{stays[0].city}, {country}" for country in countries]
        which = Ambiguity.of_names("place", stays[0].city, city_names)
        sentence = f"{stays[0].city} is in {len(countries)} countries; call again with one of these."
        raise Candidates(sentence, city_names, which)
    points = [(float(h.lat), float(h.lon)) for h in stays if h.lat is not None and h.lon is not None]
    near = dict.fromkeys([*_list_hotels_near(reference, points, CITY_KILOMETRES), *stays])
    return HotelPlace(f"{stays[0].city}, {countries[0]}", tuple(sorted(near, key=lambda h: h.slug)))


def _narrow_countries(rest: str) -> frozenset[str] | None:
    """The countries still possible after the words behind a city; None if they say nothing about it."""
    if code := load_country_names().get(rest):
        return frozenset({code})
    if len(rest) == 2 and rest.isalpha():
        return COUNTRIES_WITH_STATES | {rest.upper()}
    states = airport_data.load_states().get(rest)
    return frozenset(country for country, _ in states) if states else None


def _find_country(reference: Reference, name: str) -> HotelPlace | None:
    code = load_country_names().get(name)
    there = tuple(h for h in reference.rows("hotels.csv") if h.country == code)
    return HotelPlace(name.title() if len(name) > 3 else name.upper(), there) if code else None


def _find_state(reference: Reference, name: str) -> HotelPlace | None:
    airports = airport_data.load_states().get(name)
    if not airports:
        return None
    served = [reference.airports[code] for _, code in airports if code in reference.airports]
    near = _list_hotels_near(reference, _to_points(served), AIRPORT_KILOMETRES)
    inside = {country for country, _ in airports}
    return HotelPlace(name.title(), tuple(h for h in near if h.country in inside))


@lru_cache(maxsize=4)
def _index_words(reference: Reference) -> Mapping[str, tuple[str, ...]]:
    """The codes of hotels by city and name."""
    rows = reference.rows("hotels.csv")
    return {f"{names.normalize_name(h.city)} | {names.normalize_name(h.name)}": (hotels.code(h),) for h in rows}


def _find_renamed_city(reference: Reference, name: str) -> HotelPlace | None:
    """A city by another of its names: the hotels around its airports."""
    try:
        code = find_code(reference, name)
    except (NotFound, Candidates):
        return None
    return _find_airport(reference, code)


def _find_by_words(reference: Reference, name: str) -> HotelPlace | None:
    """Hotels with these words in their city or name: an island, a quarter, an atoll."""
    codes = set(names.find_meanings(name, _index_words(reference))) if len(name) > 2 else set()
    there = tuple(h for h in reference.rows("hotels.csv") if hotels.code(h) in codes)
    if len({h.country for h in there}) > 1:
        city_names = sorted({f"{h.city}, {h.country}" for h in there})
        which = Ambiguity.of_names("place", name, city_names)
        sentence = f"{name.title()} is part of names in several countries; call again with a city."
        raise Candidates(sentence, city_names, which)
    return HotelPlace(name.title(), there) if there else None


def _to_points(served: Iterable[Airport]) -> list[Point]:
    return [(a.lat, a.lon) for a in served]


def _list_hotels_near(reference: Reference, points: Sequence[Point], kilometres: float) -> tuple[Hotel, ...]:
    """Hotels within the distance, and all others of the same cities, so that a city is never split."""
    located = hotels.list_points(reference)
    cities = {(h.city, h.country) for h, point in located if point and _is_near(point, points, kilometres)}
    return tuple(h for h, _ in located if (h.city, h.country) in cities)


def _is_near(point: Point, points: Iterable[Point], kilometres: float) -> bool:
    """Whether it is near; the difference in latitude already rules most points out."""
    degrees = kilometres / KILOMETRES_PER_DEGREE
    close = (other for other in points if abs(other[0] - point[0]) <= degrees)
    return any(measure_kilometres(*point, *other) <= kilometres for other in close)
