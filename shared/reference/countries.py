"""Countries and their subdivisions by name, from ISO 3166 as pycountry carries it."""

import json
from collections.abc import Collection, Mapping
from functools import lru_cache
from pathlib import Path

import pycountry

from shared.domain import names

# Common names of countries that ISO 3166 does not list.
_COMMON_NAMES = {
    "brunei": "BN",
    "burma": "MM",
    "cape verde": "CV",
    "east timor": "TL",
    "england": "GB",
    "falkland islands": "FK",
    "great britain": "GB",
    "holland": "NL",
    "ivory coast": "CI",
    "korea": "KR",
    "kosovo": "XK",
    "macau": "MO",
    "micronesia": "FM",
    "palestine": "PS",
    "russia": "RU",
    "scotland": "GB",
    "st kitts and nevis": "KN",
    "st lucia": "LC",
    "st maarten": "SX",
    "st martin": "MF",
    "swaziland": "SZ",
    "turkey": "TR",
    "uae": "AE",
    "uk": "GB",
    "us": "US",
    "usa": "US",
    "vatican city": "VA",
    "wales": "GB",
}


@lru_cache(maxsize=1)
def load_country_names() -> Mapping[str, str]:
    """Normalized names of countries, each with its two-letter code."""
    listed = {
        names.normalize_name(name): country.alpha_2
        for country in pycountry.countries
        for name in (country.name, getattr(country, "common_name", ""), getattr(country, "official_name", ""))
        if name
    }
    return listed | _COMMON_NAMES


def load_subdivisions(countries: Collection[str]) -> Mapping[tuple[str, str], str]:
    """ISO 3166-2 codes of these countries by country and normalized name.

    Reads the package's own file, because its objects take ten times as long.
    """
    parts = json.loads(Path(pycountry.subdivisions.filename).read_bytes())["3166-2"]
    return {
        (country, names.normalize_name(part["name"])): part["code"]
        for part in parts
        if (country := part["code"].partition("-")[0]) in countries
    }
