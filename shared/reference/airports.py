"""The world's airports, with what charts need: places from airportsdata, regions from ISO 3166-2, continents."""

import csv
from functools import lru_cache
from importlib.resources import files
from sys import intern
from typing import Any, NamedTuple

import airportsdata
from geographiclib.geodesic import Geodesic

from shared.domain import names
from shared.domain.airports import Airport
from shared.reference.countries import load_subdivisions

METRES_PER_MILE = 1609.344
# Award charts place these in another continent than the rest of their country.
CONTINENT_OF_REGION = {"US-HI": "OC"}
CONTINENT_OF_AIRPORT = {"IST": "EU", "SAW": "EU", "ISL": "EU"}
# IATA includes these in the metropolitan area; the airport data does not.
ALSO_OF_CITY = {"NYC": ("EWR",)}
# The airport data lists these territories under the United States; charts treat them as countries.
TERRITORIES = {("US", "Puerto Rico"): "PR", ("US", "Virgin Islands"): "VI"}


class _Row(NamedTuple):
    """The used columns of an airport; the package's dictionaries took 5 MB more in each process."""

    name: str
    city: str
    subd: str
    country: str
    lat: float
    lon: float
    tz: str


@lru_cache(maxsize=1)
def _load_rows() -> dict[str, _Row]:
    loaded: Any = airportsdata.load("IATA")
    return {code: _Row(*(_share_text(row[name]) for name in _Row._fields)) for code, row in loaded.items()}


def _share_text(value: Any) -> Any:
    """Shares texts: thousands of airports have the same countries, states and zones."""
    return intern(value) if isinstance(value, str) else value


@lru_cache(maxsize=1)
def _read_metros() -> list[dict[str, str]]:
    """Reads the package's own list; its function for this reads every airport again."""
    with files("airportsdata").joinpath("iata_macs.csv").open(encoding="utf-8") as lines:
        return list(csv.DictReader(lines))


@lru_cache(maxsize=1)
def load_metros() -> dict[str, tuple[str, ...]]:
    """City codes such as LON or NYC, and their airports; one that is also an airport's code includes that airport."""
    members: dict[str, dict[str, None]] = {}
    for row in _read_metros():
        members.setdefault(row["City Code"], {})[row["Airport Code"]] = None
    for code, airports in members.items():
        airports |= dict.fromkeys((*ALSO_OF_CITY.get(code, ()), *([code] if code in _load_rows() else [])))
    return {code: tuple(airports) for code, airports in members.items()}


@lru_cache(maxsize=1)
def load_metro_names() -> dict[str, str]:
    """The name of the city of each city code."""
    return {row["City Code"]: row["City Name"] for row in _read_metros()}


@lru_cache(maxsize=1)
def load_states() -> dict[str, tuple[tuple[str, str], ...]]:
    """Normalized names of states and provinces in the airport data, with each airport's country and code."""
    airports_by_state: dict[str, list[tuple[str, str]]] = {}
    for code, row in _load_rows().items():
        country = TERRITORIES.get((row.country, row.subd), row.country)
        airports_by_state.setdefault(names.normalize_name(row.subd), []).append((country, code))
    return {name: tuple(pairs) for name, pairs in airports_by_state.items() if name}


@lru_cache(maxsize=1)
def load_subdivision_names() -> dict[str, str]:
    """The state, province or region of each airport, in the airport data's spelling."""
    return {code: row.subd.replace("-", " ") for code, row in _load_rows().items()}


def load_codes() -> frozenset[str]:
    """Every airport code."""
    return frozenset(_load_rows())


def build_airports(tables: dict[str, list[Any]]) -> dict[str, Airport]:
    continents = {country: row.continent for row in tables["continents.csv"] for country in row.countries}
    spellings = {(row.country, names.normalize_name(row.name)): row.region for row in tables["region_spellings.csv"]}
    named = {
        region[:2] for zone in tables["award_zone_members.csv"] for region in (*zone.regions, *zone.regions_exclude)
    }
    regions = {**load_subdivisions(named), **spellings}
    out = {}
    for code, row in _load_rows().items():
        country = TERRITORIES.get((row.country, row.subd), row.country)
        region = regions.get((country, names.normalize_name(row.subd))) if country in named else None
        continent = CONTINENT_OF_AIRPORT.get(code) or CONTINENT_OF_REGION.get(region or "")
        out[code] = Airport(
            code,
            row.name,
            row.city,
            country,
            row.lat,
            row.lon,
            row.tz,
            region,
            continent or continents.get(country, ""),
        )
    return out


@lru_cache(maxsize=65_536)
def measure_metres(start: tuple[float, float], end: tuple[float, float]) -> float:
    """Great-circle distance on the WGS-84 ellipsoid."""
    apart: float = Geodesic.WGS84.Inverse(*start, *end, Geodesic.DISTANCE)["s12"]
    return apart


def measure_miles(start: tuple[float, float], end: tuple[float, float]) -> int:
    """Great-circle distance in whole statute miles."""
    return round(measure_metres(start, end) / METRES_PER_MILE)
