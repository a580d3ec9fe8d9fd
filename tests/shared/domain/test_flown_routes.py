"""Whether a non-stop flight is known: by the list, by a search, by home countries, markets and whole lists."""

import pytest

from shared.domain.flown_routes import EVERYWHERE, NO_FLIGHTS, Ends, KnownFlights, judge_route

EUROPE = frozenset({"FR", "IT", "DE"})


def flights(
    *pairs: tuple[str, str], home: str = "GB", market: frozenset[str] = frozenset(), listed: str = ""
) -> KnownFlights:
    network = {a: frozenset({b}) for a, b in pairs} | {b: frozenset({a}) for a, b in pairs}
    return KnownFlights(network, frozenset({home}), market, frozenset({listed} if listed else ()))


def ends(start: str, end: str, *countries: str, continent: str = "continent-NA") -> Ends:
    return Ends(start, end, frozenset(countries), frozenset({continent}))


def test_a_listed_flight_is_known_both_ways_wherever_its_ends_are() -> None:
    known = flights(("FRA", "JFK"), home="SG")
    assert judge_route(known, ends("FRA", "JFK", "DE", "US")) == ("known", "listed")
    assert judge_route(known, ends("JFK", "FRA", "DE", "US")) == ("known", "listed")


def test_neither_end_at_home_is_no_flight_unless_a_search_showed_one() -> None:
    strange = ends("SIN", "LHR", "SG", "GB")
    assert judge_route(flights(home="IE"), strange) == ("none_known", "away_from_home")
    assert judge_route(flights(home="IE"), strange, seen=True) == ("known", "seen")


def test_one_end_at_home_leaves_it_open() -> None:
    assert judge_route(flights(), ends("LHR", "LPB", "GB", "BO")) == ("unknown", "no_list")


@pytest.mark.parametrize(("countries", "route"), [(("FR", "IT"), "unknown"), (("FR", "US"), "none_known")])
def test_a_carrier_of_a_common_market_may_fly_within_it(countries: tuple[str, str], route: str) -> None:
    assert judge_route(flights(home="DE", market=EUROPE), ends("ORY", "X", *countries)).route == route


@pytest.mark.parametrize("listed", ["US", "continent-NA", EVERYWHERE])
def test_what_a_whole_list_lacks_is_not_flown(listed: str) -> None:
    assert judge_route(flights(listed=listed), ends("LHR", "DEN", "GB", "US")) == ("none_known", "not_in_its_list")


def test_two_ends_away_from_home_say_more_than_a_list() -> None:
    assert judge_route(flights(home="HK", listed="US"), ends("LHR", "JFK", "GB", "US")).reason == "away_from_home"


def test_a_list_of_international_flights_says_nothing_of_domestic_ones() -> None:
    assert judge_route(flights(home="US", listed="US"), ends("SEA", "BOI", "US")).route == "unknown"


def test_of_an_airline_without_a_country_nothing_is_known() -> None:
    assert judge_route(NO_FLIGHTS, ends("SIN", "LHR", "SG", "GB")) == ("unknown", "no_list")
