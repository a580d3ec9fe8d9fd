"""Lists of hotels that card issuers sell with benefits, by hotel and by city."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache

from shared.domain import names
from shared.reference.reference import Reference
from shared.reference.rows.travel import Hotel, HotelList, HotelListMember


@dataclass(frozen=True)
class _Members:
    by_hotel: Mapping[str, frozenset[str]]
    by_city: Mapping[tuple[str, str], tuple[HotelListMember, ...]]  # those that are not our hotels


@lru_cache(maxsize=4)
def _index_members(reference: Reference) -> _Members:
    by_hotel: dict[str, frozenset[str]] = {}
    by_city: dict[tuple[str, str], list[HotelListMember]] = {}
    for member in reference.rows("hotel_list_members.csv"):
        if member.hotel:
            by_hotel[member.hotel] = by_hotel.get(member.hotel, frozenset()) | frozenset(member.lists)
        else:
            by_city.setdefault((names.normalize_name(member.city), member.country), []).append(member)
    return _Members(by_hotel, {city: tuple(members) for city, members in by_city.items()})


def find_lists(reference: Reference, hotel: Hotel) -> list[HotelList]:
    """The lists a hotel is on."""
    on = _index_members(reference).by_hotel.get(hotel.slug, frozenset())
    return select_lists(reference, on)


def select_lists(reference: Reference, keys: Iterable[str]) -> list[HotelList]:
    """The lists with these keys, in the order of their titles."""
    rows = {row.list: row for row in reference.rows("hotel_lists.csv")}
    return sorted((rows[key] for key in set(keys)), key=lambda row: row.title)


def find_other_members(reference: Reference, hotels: Iterable[Hotel]) -> list[HotelListMember]:
    """Hotels on the lists in the cities of these hotels that belong to no programme here."""
    cities = dict.fromkeys((names.normalize_name(h.city), h.country) for h in hotels)
    index = _index_members(reference).by_city
    return [member for city in cities for member in index.get(city, ())]


@lru_cache(maxsize=4)
def _index_other_names(reference: Reference) -> Mapping[str, tuple[str, ...]]:
    """Normalized names of listed hotels outside all programmes here, each with its listed name."""
    others = (m for m in reference.rows("hotel_list_members.csv") if not m.hotel)
    return {names.normalize_name(member.name): (member.name,) for member in others}


def find_other_member(reference: Reference, text: str) -> HotelListMember | None:
    """The one listed hotel outside all programmes here that a loose name means."""
    meanings = names.find_meanings(text, _index_other_names(reference))
    rows = reference.rows("hotel_list_members.csv")
    return next((m for m in rows if m.name == meanings[0]), None) if len(meanings) == 1 else None
