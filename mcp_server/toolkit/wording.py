"""Names of programmes and airports as messages write them."""

from collections.abc import Collection, Iterable, Sequence
from itertools import accumulate, islice
from typing import Protocol

from shared.domain.plurals import pluralize
from shared.reference.city_airports import list_airports
from shared.reference.load import Reference

MOST_TOLD = 3  # rows of a list in its message
MOST_JOINED = 440  # characters, before the sentences that every answer of facts ends with


class Offer(Protocol):
    @property
    def airline(self) -> str: ...
    @property
    def program(self) -> str: ...


def program_name(facts: Reference, slug: str) -> str:
    """The programme's name; if the reference data lacks it, the name its source uses."""
    program = facts.programs.get(slug)
    return program.name if program else slug


def list_program_names(facts: Reference, slugs: Iterable[str]) -> dict[str, str]:
    """Names by slug, for clients that show a result: its rows have slugs."""
    return {slug: program_name(facts, slug) for slug in sorted(set(slugs))}


def airline_name(facts: Reference, code: str) -> str:
    airline = facts.airlines.get(code)
    return airline.name if airline else code


def list_airline_names(facts: Reference, codes: Iterable[str]) -> dict[str, str]:
    return {code: airline_name(facts, code) for code in sorted(set(codes))}


def list_offer_names(facts: Reference, offers: Collection[Offer]) -> dict[str, str]:
    """The airlines of award offers by code, and their programmes by slug."""
    airlines = list_airline_names(facts, (offer.airline for offer in offers))
    return airlines | list_program_names(facts, (offer.program for offer in offers))


def describe_airports(facts: Reference, codes: Iterable[str]) -> str:
    """A sentence for each city: which airports it means."""
    meant = {code: list_airports(facts, code) for code in codes}
    cities = {code: airports for code, airports in meant.items() if airports and airports != [code]}
    return "".join(f" {code} means {join_names(airports)}." for code, airports in cities.items())


def join_names(names: Sequence[str]) -> str:
    """`LHR, LGW and LCY`."""
    return " and ".join(filter(None, (", ".join(names[:-1]), names[-1])))


def join_first(sentences: Sequence[str]) -> str:
    """The first sentences that one message holds, where those of least weight stand last."""
    lengths = accumulate(len(sentence) + 1 for sentence in sentences)
    return " ".join(s for s, length in zip(sentences, lengths, strict=True) if length <= MOST_JOINED)


def tell_rows(total: int, noun: str, told: Iterable[str], plural: str = "") -> str:
    """`2 trips: Rome; Japan.`, `9 trips, among them: Rome; Japan; Bali.`: a bare number answers no question."""
    named = [*islice(told, MOST_TOLD)]
    counted = pluralize(total, noun, plural) if total else f"No {plural or f'{noun}s'}"
    return f"{counted}{', among them' if total > len(named) else ''}: {'; '.join(named)}." if named else f"{counted}."
