"""Countries and their subdivisions by name, from ISO 3166 as pycountry carries it."""

from collections.abc import Mapping
from functools import lru_cache

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
    """Names of countries as they are compared, each with its two-letter code."""
    listed = {
        names.normalize_name(name): country.alpha_2
        for country in pycountry.countries
        for name in (country.name, getattr(country, "common_name", ""), getattr(country, "official_name", ""))
        if name
    }
    return listed | _COMMON_NAMES


@lru_cache(maxsize=1)
def load_subdivisions() -> Mapping[tuple[str, str], str]:
    """ISO 3166-2 codes by country and name as names are compared."""
    return {(part.country_code, names.normalize_name(part.name)): part.code for part in pycountry.subdivisions}
