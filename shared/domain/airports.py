"""Airports with their coordinates, and the zones of award charts they belong to."""

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Airport:
    """One airport. `region` is its ISO 3166-2 code where the charts need it; `continent` two letters."""

    code: str
    name: str
    city: str
    country: str
    lat: float
    lon: float
    tz: str  # IANA name
    region: str | None
    continent: str


@dataclass(frozen=True, slots=True)
class Zone:
    """One zone of an award chart and what belongs to it."""

    name: str
    airports: frozenset[str]
    not_airports: frozenset[str]
    regions: frozenset[str]
    not_regions: frozenset[str]
    countries: frozenset[str]
    not_countries: frozenset[str]
    continents: frozenset[str]

    def rank(self, airport: Airport) -> int | None:
        """How specifically the zone names this airport: 0 by itself, 1 region, 2 country, 3 continent."""
        if airport.code in self.airports:
            return 0
        if airport.code in self.not_airports or airport.region in self.not_regions:
            return None
        if airport.region in self.regions:
            return 1
        if airport.country in self.not_countries:
            return None
        if airport.country in self.countries:
            return 2
        return 3 if airport.continent in self.continents else None


COASTS = {"America/New_York": "US-East", "America/Detroit": "US-East", "America/Los_Angeles": "US-West"}


def name_places(airport: Airport) -> set[str]:
    """The codes of places the airport is in: itself, region, country, continent, and the coast of the United States."""
    coast = COASTS.get(airport.tz) if airport.country == "US" else None
    return {place for place in (airport.code, airport.region, airport.country, airport.continent, coast) if place}


def find_zone(airport: Airport, zones: Sequence[Zone]) -> str | None:
    """The zone that names the airport most specifically; None when none does, or when two do equally."""
    ranked = sorted((rank, zone.name) for zone in zones if (rank := zone.rank(airport)) is not None)
    if not ranked or (len(ranked) > 1 and ranked[1][0] == ranked[0][0]):
        return None
    return ranked[0][1]
