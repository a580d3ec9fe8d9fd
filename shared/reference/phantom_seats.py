"""Programmes reported to show an airline's seats that then cannot be booked."""

from collections.abc import Iterable, Iterator
from typing import Protocol

from shared.domain.plans import CABINS
from shared.reference.keys import Tables, list_rows
from shared.reference.reference import Reference

_CONFIRM = "confirm the seat before you move points"


class Offer(Protocol):
    """An award seat that a search has found."""

    @property
    def program(self) -> str: ...
    @property
    def airline(self) -> str: ...
    @property
    def cabin(self) -> str: ...


def warn_of_phantoms(reference: Reference, offers: Iterable[Offer]) -> list[str]:
    """One line for each programme and airline with such reports: `Aeroplan may show seats of ANA that ...`."""
    rows = {(r.program, r.airline): r for r in reference.rows("phantom_seats.csv")}
    pairs = {}
    for offer in offers:
        row = rows.get((offer.program, offer.airline))
        if row and row.cabin in (None, offer.cabin):
            pairs[offer.program, offer.airline] = row.cabin
    return [
        f"{reference.programs[program].name} may show {f'{cabin} class ' if cabin else ''}seats of"
        f" {reference.airlines[airline].name} that cannot be booked: {_CONFIRM}."
        for (program, airline), cabin in pairs.items()
    ]


def find_faults(tables: Tables) -> Iterator[str]:
    airlines = {row.iata for row in tables["airlines.csv"].values()}
    for where, row in list_rows(tables, "phantom_seats.csv"):
        if row.airline not in airlines:
            yield f"{where}: {row.airline!r} is not an airline of airlines.csv"
        if row.cabin not in (None, *CABINS):
            yield f"{where}: cabin {row.cabin!r} is not one of {', '.join(CABINS)}"
