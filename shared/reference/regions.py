"""Regions by everyday names: continents, groups of countries, countries and states, and the airports in them."""

from collections.abc import Mapping
from functools import lru_cache

from shared.domain import names
from shared.reference.airports import load_states
from shared.reference.countries import load_country_names
from shared.reference.reference import Reference

CONTINENTS = {
    "africa": "AF",
    "asia": "AS",
    "europe": "EU",
    "north america": "NA",
    "oceania": "OC",
    "south america": "SA",
}
# Groups without a standard, each with its countries.
GROUPS = {
    "caribbean": "AG AI AW BB BL BQ BS CU CW DM DO GD GP HT JM KN KY LC MF MQ MS PR SX TC TT VC VG VI",
    "central america": "BZ CR GT HN NI PA SV",
    "middle east": "AE BH IL IQ IR JO KW LB OM PS QA SA SY YE",
    "scandinavia": "DK NO SE",
    "nordics": "DK FI IS NO SE",
    "south pacific": "CK FJ NC PF TO VU WS",
    "southeast asia": "BN ID KH LA MM MY PH SG TH TL VN",
    "south asia": "BD BT IN LK MV NP PK",
    "east asia": "CN HK JP KR MN MO TW",
    "indian ocean": "KM MG MU MV RE SC YT",
}


def find_region(reference: Reference, text: str) -> frozenset[str] | None:
    """The airports of a region by its name; None if unknown. "the Caribbean" and "South-East Asia" are known."""
    name = names.normalize_name(text).removeprefix("the ").replace("south east ", "southeast ")
    return _list_airports(reference, name)


@lru_cache(maxsize=256)
def _list_airports(reference: Reference, name: str) -> frozenset[str] | None:
    everywhere = reference.airports
    if continent := CONTINENTS.get(name):
        return frozenset(code for code, airport in everywhere.items() if airport.continent == continent)
    countries = _list_countries(name, load_country_names())
    states = {code for _, code in load_states().get(name, ())} if not countries else set()
    return frozenset(code for code, a in everywhere.items() if a.country in countries or code in states) or None


def _list_countries(name: str, countries: Mapping[str, str]) -> frozenset[str]:
    if name in GROUPS:
        return frozenset(GROUPS[name].split())
    return frozenset(filter(None, [countries.get(name)]))
