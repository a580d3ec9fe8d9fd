"""Matching of a known hotel with a source's hotels, by name and distance."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from shared.domain.names import normalize_name

MAX_KILOMETRES = 1.5
_KM_PER_DEGREE = 111.2
# Listings of the same hotel add or leave out these words.
_LISTINGS = "a an and at by hotel hotels in of on resort resorts spa the collection autograph luxury member ihg"
_NOISE_WORDS = frozenset(_LISTINGS.split())


@dataclass(frozen=True)
class ListedHotel:
    """A hotel in a source's list; `near` says that its location is already confirmed."""

    key: str
    name: str
    latitude: float | None = None
    longitude: float | None = None
    near: bool = False


def find_same_hotel(
    name: str, city: str, latitude: float | None, longitude: float | None, listed: Sequence[ListedHotel]
) -> ListedHotel | None:
    """The only one with the same words in its name; of those close by, words may be left out. None if two fit."""
    words = _split_words(name, city)
    close = [one for one in listed if one.near or _is_close(latitude, longitude, one)]
    placeless = [one for one in listed if one not in close and (latitude is None or one.latitude is None)]
    exact = [one for one in (*close, *placeless) if _split_words(one.name, city) == words]
    loose = [one for one in close if _is_within(words, _split_words(one.name, city))]
    matches = exact or loose
    return matches[0] if len({one.key for one in matches}) == 1 else None


def _split_words(name: str, city: str) -> frozenset[str]:
    """The words that identify the hotel; the city counts only if nothing else is left."""
    every = frozenset(normalize_name(name).split()) - _NOISE_WORDS
    return every - frozenset(normalize_name(city).split()) or every


def _is_within(one: frozenset[str], other: frozenset[str]) -> bool:
    """Whether one name is within the other; one word may be just a brand, so two must match."""
    return min(len(one), len(other)) > 1 and (one <= other or other <= one)


def _is_close(latitude: float | None, longitude: float | None, one: ListedHotel) -> bool:
    if latitude is None or longitude is None or one.latitude is None or one.longitude is None:
        return False
    return measure_kilometres(latitude, longitude, one.latitude, one.longitude) <= MAX_KILOMETRES


def measure_kilometres(lat: float, lon: float, other_lat: float, other_lon: float) -> float:
    """Kilometres, good enough for neighbours."""
    east = (lon - other_lon) * math.cos(math.radians((lat + other_lat) / 2))
    return math.hypot(lat - other_lat, east) * _KM_PER_DEGREE
