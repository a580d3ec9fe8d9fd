"""Airlines, built from their codes, facts and alliances."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any

from shared.domain.plans import CABINS
from shared.reference.countries import load_country_names
from shared.reference.keys import Tables, list_rows
from shared.reference.rows.fact import build_from
from shared.reference.rows.travel import AllianceMember

ALLIANCES = ("oneworld", "skyteam", "star_alliance")
TOPICS = ("country", "hub", "only_cabin", "stopped_on")


@dataclass(frozen=True, slots=True)
class Airline:
    """One airline by its ICAO code. `slug` is set where a known programme sells its seats.

    `only_cabin`: its one cabin, which its confirmations leave unsaid.
    """

    iata: str
    icao: str
    name: str
    slug: str | None
    program: str | None
    in_alert_list: bool
    country: str | None
    hubs: tuple[str, ...]
    only_cabin: str | None
    stopped_on: date | None  # the day it ended all flights
    memberships: tuple[AllianceMember, ...]

    def find_alliance(self, on: date) -> str | None:
        return next((row.alliance for row in self.memberships if row.is_valid(on)), None)


def build_airlines(tables: Mapping[str, Sequence[Any]]) -> list[Airline]:
    facts: dict[tuple[str, str], list[str]] = defaultdict(list)
    for row in tables["airline_facts.csv"]:
        facts[row.airline, row.topic].append(row.value)
    memberships: dict[str, list[AllianceMember]] = defaultdict(list)
    for row in tables["alliance_members.csv"]:
        memberships[row.airline].append(row)
    return [
        build_from(
            Airline,
            row,
            country=next(iter(facts[row.icao, "country"]), None),
            hubs=tuple(facts[row.icao, "hub"]),
            only_cabin=next(iter(facts[row.icao, "only_cabin"]), None),
            stopped_on=next(map(date.fromisoformat, facts[row.icao, "stopped_on"]), None),
            memberships=tuple(memberships[row.iata]),
        )
        for row in tables["airlines.csv"]
    ]


def find_faults(tables: Tables) -> Iterator[str]:
    """Checks that facts about airlines are of a known kind and about known airlines."""
    yield from _check_owners(tables)
    yield from _check_facts(tables)
    codes = {row.iata for row in tables["airlines.csv"].values()}
    for where, row in list_rows(tables, "alliance_members.csv"):
        if row.airline not in codes:
            yield f"{where}: {row.airline!r} is not an airline of airlines.csv"
        if row.alliance not in ALLIANCES:
            yield f"{where}: alliance {row.alliance!r} is not one of {', '.join(ALLIANCES)}"


def _check_owners(tables: Tables) -> Iterator[str]:
    """Checks that an airline names the programme that owns it."""
    owner = {code: row.slug for row in tables["programs.csv"].values() for code in row.iata}
    for where, row in list_rows(tables, "airlines.csv"):
        if (slug := owner.get(row.iata)) and row.slug and row.program != slug:
            yield f"{where}: {row.iata} belongs to {slug}, not to {row.program}"


def _check_facts(tables: Tables) -> Iterator[str]:
    codes = {row.icao for row in tables["airlines.csv"].values()}
    countries = set(load_country_names().values())
    for where, row in list_rows(tables, "airline_facts.csv"):
        if row.airline not in codes:
            yield f"{where}: {row.airline!r} is not an airline of airlines.csv"
        if row.topic not in TOPICS:
            yield f"{where}: topic {row.topic!r} is not one of {', '.join(TOPICS)}"
        if row.topic == "only_cabin" and row.value not in CABINS:
            yield f"{where}: only_cabin {row.value!r} is not a cabin"
        if row.topic == "country" and row.value not in countries:
            yield f"{where}: country {row.value!r} is not a country"
        if row.topic == "stopped_on" and not _is_day(row.value):
            yield f"{where}: stopped_on {row.value!r} is not a date YYYY-MM-DD"


def _is_day(text: str) -> bool:
    try:
        return date.fromisoformat(text).isoformat() == text
    except ValueError:
        return False
