"""Airports and programmes whose names start with what a person has typed so far."""

from bisect import bisect_left
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache

from shared.domain import names
from shared.reference.airports import load_metro_names
from shared.reference.places import describe_place
from shared.reference.reference import Reference

_AFTER_ALL = "\U0010ffff"
_NOISE = frozenset(("airport", "of", "the", "international"))


@dataclass(frozen=True)
class _CompletionIndex:
    """Things, the best known first, and each name from each of its words, sorted by name."""

    things: Sequence[str]
    starts: Sequence[str]
    places: Sequence[int]  # indexes of the things that the starts belong to

    def find(self, text: str, count: int) -> tuple[list[str], int]:
        """The first `count` with a name that starts with the text, an exact code first; and how many there are."""
        start = names.normalize_name(text)
        if not start:
            return list(self.things[:count]), len(self.things)
        first, last = bisect_left(self.starts, start), bisect_left(self.starts, start + _AFTER_ALL)
        fitting = sorted(set(self.places[first:last]), key=lambda place: (self.things[place].lower() != start, place))
        return [self.things[place] for place in fitting[:count]], len(fitting)


def complete_places(reference: Reference, text: str, count: int) -> tuple[list[str], int]:
    """`LHR (London Heathrow Airport, London, GB)`: airports and cities by code, city or name, and how many in all."""
    codes, total = _index_places(reference).find(text, count)
    return [_describe(reference, code) for code in codes], total


def complete_programs(reference: Reference, text: str, count: int) -> tuple[list[str], int]:
    """Names of programmes, and how many there are in all."""
    return _index_programs(reference).find(text, count)


def _describe(reference: Reference, code: str) -> str:
    if code in load_metro_names():
        return describe_place(reference, code)
    airport = reference.airports[code]
    return f"{code} ({', '.join(dict.fromkeys(filter(None, (airport.name, airport.city, airport.country))))})"


@lru_cache(maxsize=2)
def _index_places(reference: Reference) -> _CompletionIndex:
    metros = load_metro_names()
    flights = {code: reference.count_flights(code) for code in reference.airports}
    for code in metros:
        flights[code] = sum(flights.get(member, 0) for member in reference.city(code))
    codes = sorted(flights, key=lambda code: (-flights[code], code not in metros, code))
    return _build_index(codes, (_list_place_names(reference, code) for code in codes))


def _list_place_names(reference: Reference, code: str) -> list[str]:
    airport = reference.airports.get(code)
    return [code, load_metro_names().get(code, ""), *((airport.city, airport.name) if airport else ())]


@lru_cache(maxsize=2)
def _index_programs(reference: Reference) -> _CompletionIndex:
    programs = sorted(reference.programs.values(), key=lambda program: program.name)
    return _build_index([p.name for p in programs], ([p.name, p.slug.replace("_", " ")] for p in programs))


def _build_index(things: Sequence[str], called: Iterable[list[str]]) -> _CompletionIndex:
    starts = sorted(
        {(start, place) for place, own in enumerate(called) for name in own for start in _list_starts(name)}
    )
    return _CompletionIndex(things, [start for start, _ in starts], [place for _, place in starts])


def _list_starts(name: str) -> Iterable[str]:
    words = names.normalize_name(name).split()
    return (" ".join(words[i:]) for i in range(len(words)) if i == 0 or (len(words[i]) > 1 and words[i] not in _NOISE))
