"""Names of programmes and airports as messages write them."""

from collections.abc import Collection, Iterable, Sequence
from typing import Protocol

from shared.reference.city_airports import list_airports
from shared.reference.load import Reference


class Offer(Protocol):
    @property
    def airline(self) -> str: ...
    @property
    def program(self) -> str: ...


def program_name(facts: Reference, slug: str) -> str:
    """The programme's name; where the reference data does not have it, the name its source uses."""
    program = facts.programs.get(slug)
    return program.name if program else slug


def list_program_names(facts: Reference, slugs: Iterable[str]) -> dict[str, str]:
    """Names by slug, for those who show a result: its rows name programmes by their slugs."""
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
    """A sentence for each city: which of its airports were looked at."""
    meant = {code: list_airports(facts, code) for code in codes}
    cities = {code: airports for code, airports in meant.items() if airports and airports != [code]}
    return "".join(f" {code} means {join_names(airports)}." for code, airports in cities.items())


def join_names(names: Sequence[str]) -> str:
    """`LHR, LGW and LCY`."""
    return " and ".join(filter(None, (", ".join(names[:-1]), names[-1])))
