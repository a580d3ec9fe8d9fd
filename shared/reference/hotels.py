"""Known hotels: codes and numeric ids, chains, lookup by name, and time zones."""

import hashlib
import math
from functools import lru_cache

from shared.domain import names
from shared.errors import Candidates, NotFound
from shared.reference.reference import Reference
from shared.reference.rows.travel import Hotel

PREFIX = "htl_"
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
    """The hotel's code; it follows from the slug alone, so that it stays when rows come and go."""
    return PREFIX + hotel.slug


@lru_cache(maxsize=4096)
def _number(slug: str) -> str:
    return str(100_000_000 + int.from_bytes(hashlib.sha256(slug.encode()).digest()[:8]) % 900_000_000)


def number(hotel: Hotel) -> str:
    """The hotel's numeric id: nine digits that follow from the slug alone."""
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
    """Names as they are compared, and the codes of the hotels called so."""
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
        raise Candidates(sentence, [to_card(h) for h in hotels[:20]])
    titles = {names.normalize_name(h.name): h.name for h in reference.rows("hotels.csv")}
    raise NotFound("hotel", text, [titles[n] for n in names.find_nearest(text, titles)])


def to_card(hotel: Hotel) -> dict[str, str]:
    """How a hotel is shown wherever it is named."""
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


@lru_cache(maxsize=4096)
def _find_time_zone(reference: Reference, hotel: Hotel) -> str:
    """The time zone of the nearest airport of the hotel's country; UTC where there is none."""
    lat, lon = float(hotel.lat), float(hotel.lon)
    narrow = math.cos(math.radians(lat))
    near = min(
        (a for a in reference.airports.values() if a.country == hotel.country),
        key=lambda a: (a.lat - lat) ** 2 + (((a.lon - lon + 180) % 360 - 180) * narrow) ** 2,
        default=None,
    )
    return near.tz if near else "UTC"


def find_time_zone(reference: Reference, hotel_code: str) -> str:
    hotel = find_stored(reference, hotel_code)
    return _find_time_zone(reference, hotel) if hotel else "UTC"


def list_time_zones(reference: Reference) -> dict[str, str]:
    """The time zone of each hotel, by its code."""
    return {code(h): _find_time_zone(reference, h) for h in reference.rows("hotels.csv")}
