"""Known non-stop flights: indexes of the lists of routes and home countries, and the checks of those lists."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from shared.domain.flown_routes import EVERYWHERE, KnownFlights
from shared.reference.airlines import Airline
from shared.reference.keys import list_rows

Tables = Mapping[str, Sequence[Any]]
Lines = Mapping[str, Mapping[int, Any]]  # rows by line, by file
TABLES = ("routes.csv", "route_lists.csv", "home_areas.csv", "status_run_routes.csv", "airlines.csv")
_KINDS = ("carrier", "market", "territories")
_CONTINENT = "continent-"


@dataclass(frozen=True)
class HomeAreas:
    """The home areas of airlines: with dependent territories, several countries, or a common aviation market."""

    country_of: Mapping[str, str]  # by dependent territory
    carriers: Mapping[str, frozenset[str]]
    markets: Sequence[frozenset[str]]

    def find_home(self, carrier: str, country: str | None) -> frozenset[str]:
        area = self.carriers.get(carrier)
        return area or frozenset({self.country_of.get(country, country)} if country else ())

    def find_market(self, home: frozenset[str]) -> frozenset[str]:
        return next((m for m in self.markets if not home.isdisjoint(m)), frozenset())


def build_home_areas(tables: Tables) -> HomeAreas:
    rows = tables["home_areas.csv"]
    return HomeAreas(
        {c: row.area for row in rows if row.kind == "territories" for c in row.countries},
        {row.area: frozenset(row.countries) for row in rows if row.kind == "carrier"},
        [frozenset(row.countries) for row in rows if row.kind == "market"],
    )


def build_known_flights(tables: Tables, areas: HomeAreas, every: Sequence[Airline]) -> dict[str, KnownFlights]:
    """Each airline's known non-stop flights."""
    pairs: dict[str, dict[str, set[str]]] = defaultdict(lambda: defaultdict(set))
    for row in tables["routes.csv"]:
        pairs[row.carrier][row.origin].add(row.destination)
        pairs[row.carrier][row.destination].add(row.origin)
    listed: dict[str, set[str]] = defaultdict(set)
    for row in tables["route_lists.csv"]:
        listed[row.carrier].add(row.area)
    countries = {a.iata: a.country for a in (*every, *(a for a in every if a.slug))}  # of one code: the seller of seats
    out = {}
    for carrier in {*countries, *pairs}:
        home = areas.find_home(carrier, countries.get(carrier))
        network = {a: frozenset(b) for a, b in pairs[carrier].items()}
        out[carrier] = KnownFlights(network, home, areas.find_market(home), frozenset(listed[carrier]))
    return out


def find_faults(tables: Lines) -> Iterator[str]:
    """Rows that name no airline or area, pairs out of order, and status runs with an unknown leg."""
    airlines = {row.iata for row in tables["airlines.csv"].values()}
    pairs = set()
    for where, row in list_rows(tables, "routes.csv"):
        pairs.add((row.carrier, row.origin, row.destination))
        if row.carrier not in airlines:
            yield f"{where}: {row.carrier!r} is not in airlines.csv"
        if row.origin >= row.destination:
            yield f"{where}: a flight counts both ways: write {row.destination} before {row.origin}"
    yield from _check_areas(tables, airlines)
    for where, row in list_rows(tables, "status_run_routes.csv"):
        for leg in pairwise(row.routing.split("-")):
            if (row.carrier, *sorted(leg)) not in pairs:
                yield f"{where}: {'-'.join(leg)} is no flight of {row.carrier} in routes.csv"


def _check_areas(tables: Lines, airlines: set[str]) -> Iterator[str]:
    rows = tables["continents.csv"].values()
    areas = {EVERYWHERE, *(_CONTINENT + row.continent for row in rows), *(c for row in rows for c in row.countries)}
    for where, row in list_rows(tables, "route_lists.csv"):
        if row.carrier not in airlines:
            yield f"{where}: {row.carrier!r} is not in airlines.csv"
        if row.area not in areas:
            yield f"{where}: area {row.area!r} is no country, no continent as {_CONTINENT}EU, and not {EVERYWHERE}"
    for where, row in list_rows(tables, "home_areas.csv"):
        if row.kind not in _KINDS:
            yield f"{where}: kind {row.kind!r} is not one of {', '.join(_KINDS)}"
        yield from (f"{where}: {c!r} is not a country" for c in row.countries if c not in areas)
        if row.kind == "carrier" and row.area not in airlines:
            yield f"{where}: {row.area!r} is not in airlines.csv"
