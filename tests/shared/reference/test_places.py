"""Airports and cities as people write them, and what the data behind the names must keep to."""

import airportsdata
import pycountry
import pytest

from shared.domain import names
from shared.errors import Candidates, NotFound
from shared.reference.load import reference
from shared.reference.places import find_code

MEANT = {
    "Tokyo": "TYO",
    "tokyo, japan": "TYO",
    "New York City": "NYC",
    "London": "LON",
    "London, UK": "LON",
    "London, Ontario": "YXU",
    "Paris": "PAR",
    "Paris, Texas": "PRX",
    "Paris TX": "PRX",
    "Rome": "ROM",
    "Roma": "ROM",
    "Rome, Italy": "ROM",
    "São Paulo": "SAO",
    "Sao Paulo": "SAO",
    "Washington DC": "WAS",
    "Barcelona": "BCN",
    "Porto": "OPO",
    "Berlin": "BER",
    "Portland": "PDX",
    "Tromsø": "TOS",
    "Tromso": "TOS",
    "Kraków": "KRK",
    "München": "MUC",
    "Köln": "CGN",
    "København": "CPH",
    "Wien": "VIE",
    "Florence": "FLR",
    "Venice": "VCE",
    "Naples": "NAP",
    "Kyoto": "OSA",
    "Bali": "DPS",
    "Vancouver": "YVR",
    "San Jose, Costa Rica": "SJO",
    "San Jose California": "SJC",
    "Portland, ME": "PWM",
    "Portland Oregon USA": "PDX",
    "Heathrow": "LHR",
    "London Gatwick": "LGW",
    "JFK Airport": "JFK",
    "Tokyo Narita": "NRT",
    "Charles de Gaulle": "CDG",
    "tyo": "TYO",
    "lhr": "LHR",
    "XXQ": "XXQ",
}


@pytest.mark.parametrize(("text", "code"), MEANT.items())
def test_a_place_is_its_code_however_it_is_written(text: str, code: str) -> None:
    assert find_code(reference(), text) == code


@pytest.mark.parametrize(("text", "codes"), [("San Jose", {"SJO", "SJC"}), ("Birmingham", {"BHX", "BHM"})])
def test_cities_of_one_name_are_listed_and_none_is_guessed(text: str, codes: set[str]) -> None:
    with pytest.raises(Candidates) as several:
        find_code(reference(), text)
    assert codes == {line.split(" ")[0] for line in several.value.facts["candidates"][:2]}


def test_an_unknown_name_comes_with_the_nearest() -> None:
    with pytest.raises(NotFound) as no:
        find_code(reference(), "Torono")
    assert no.value.facts["nearest"][0] == "YTO (Toronto, Ontario, CA)"


@pytest.mark.parametrize("text", ["", " ", "x", "LHRX", "Nowhereville", "☃", "12", "Paris, Mars"])
def test_what_is_no_place_is_not_found(text: str) -> None:
    with pytest.raises(NotFound):
        find_code(reference(), text)


def test_every_other_name_of_a_city_leads_to_a_code_there_is() -> None:
    for row in reference().rows("city_spellings.csv"):
        assert row.code in reference().airports or row.code in reference().metros, row.name
        assert find_code(reference(), row.name) == row.code


def test_a_city_code_that_is_an_airport_too_stands_for_it_as_well() -> None:
    for code, members in reference().metros.items():
        assert code in members or code not in reference().airports, code
    assert "JNB" in reference().city("JNB")
    assert set(reference().city("NYC")) == {"JFK", "LGA", "EWR"}


def test_a_spelling_of_a_region_is_one_the_airport_data_uses_and_iso_does_not() -> None:
    used = {(row["country"], row["subd"]) for row in airportsdata.load("IATA").values()}
    listed = {(s.country_code, names.normalize_name(s.name)): s.code for s in pycountry.subdivisions}
    for row in reference().rows("region_spellings.csv"):
        assert (row.country, row.name) in used, row.name
        assert listed.get((row.country, names.normalize_name(row.name))) != row.region, row.name


def test_every_airport_has_a_continent() -> None:
    assert not [a.code for a in reference().airports.values() if not a.continent]
