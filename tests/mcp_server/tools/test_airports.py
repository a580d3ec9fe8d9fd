"""Airports an airline serves, by conversation."""

import pytest

from tests.mcp_server.tools.conftest import Use
from tests.support.people import People


@pytest.mark.spec("s4.4.get_airports.result")
def test_get_airports_lists_what_the_airline_serves_page_by_page(people: People, use: Use) -> None:
    first = use(people.bob, "get_airports", airline="british airways", per_page=100)
    pages = [use(people.bob, "get_airports", airline="BA", per_page=100, page=page) for page in (2, 3)]
    codes = [a["iata"] for answer in (first, *pages) for a in answer["airports"]]
    assert first["airline"] == {"code": "BA", "name": "British Airways"}
    assert {"LHR", "JFK", "EDI"} <= set(codes)
    assert len(codes) == len(set(codes)) == first["paging"]["total"]
    assert first["airports"][0].keys() == {"iata", "name", "city", "country"}
    assert (first["unaudited"], first["confidence"]) == (True, "medium")
    assert first["as_of"].startswith("2026-")
    assert " routes stand in two sources." in first["message"]


def test_get_airports_names_the_source_of_the_routes_it_lists(people: People, use: Use) -> None:
    """Singapore to Frankfurt and on to New York stand in two sources; other routes of the airline do not."""
    answer = use(people.bob, "get_airports", airline="SQ", from_airport="FRA")
    assert [a["iata"] for a in answer["airports"]] == ["JFK", "SIN"]
    assert answer["unaudited"] is False
    assert "2 of 2 routes stand in two sources." in answer["message"]


def test_get_airports_counts_a_route_both_ways_and_understands_cities(people: People, use: Use) -> None:
    assert [a["iata"] for a in use(people.bob, "get_airports", airline="VS", from_airport="BOS")["airports"]] == ["LHR"]
    nyc = use(people.bob, "get_airports", airline="VS", from_airport="nyc")
    assert {"LHR", "MAN"} <= {a["iata"] for a in nyc["airports"]}
    assert use(people.bob, "get_airports", airline="VS", from_airport="GVA")["airports"] == []


def test_get_airports_narrows_by_name_and_country(people: People, use: Use) -> None:
    british = use(people.bob, "get_airports", airline="BA", country="uk", per_page=100)
    assert {a["country"] for a in british["airports"]} == {"GB"}
    answer = use(people.bob, "get_airports", airline="BA", query="New York")
    assert "JFK" in [a["iata"] for a in answer["airports"]]
    assert use(people.bob, "get_airports", airline="BA", query="xyzzy")["paging"]["total"] == 0


def test_get_airports_without_known_routes_is_no_data_and_a_strange_name_not_found(people: People, use: Use) -> None:
    assert use(people.bob, "get_airports", airline="WN")["missing"] == ["routes"]
    assert use(people.bob, "get_airports", airline="brittish airwais")["nearest"] == ["British Airways"]
    assert use(people.bob, "get_airports", airline="BA", from_airport="QQQ")["what"] == "airport"


def test_a_citys_name_stands_for_its_code_in_every_tool_that_takes_one(people: People, use: Use) -> None:
    route = {"cabin": "business"}
    named = use(people.alice, "get_partner_award_options", origin="London", destination="New York City", **route)
    coded = use(people.alice, "get_partner_award_options", origin="LON", destination="NYC", **route)
    assert named == coded
    assert named["status"] == "ok"
    away = use(people.bob, "get_airports", airline="BA", from_airport="Heathrow", per_page=100)
    assert "JFK" in {a["iata"] for a in away["airports"]}
    assert use(people.alice, "update_profile", home_airport="São Paulo")["profile"]["home_airport"] == "SAO"
    visits = use(people.alice, "list_lounge_visits", airport="Heathrow")
    assert visits == use(people.alice, "list_lounge_visits", airport="LHR")


def test_a_name_of_several_cities_is_answered_with_their_codes(people: People, use: Use) -> None:
    answer = use(people.bob, "get_pricing", program="atmos", origin="San Jose", destination="LHR")
    assert answer["status"] == "invalid"
    assert "SJC (San Jose, California, US)" in answer["message"]
    assert "SJO (San Jose, Alajuela, CR)" in answer["message"]
    named = use(people.bob, "get_pricing", program="atmos", origin="San Jose, California", destination="LHR")
    assert named == use(people.bob, "get_pricing", program="atmos", origin="SJC", destination="LHR")


def test_an_unknown_city_is_answered_with_the_nearest(people: People, use: Use) -> None:
    answer = use(people.bob, "get_pricing", program="BA", origin="Torono", destination="LHR")
    assert answer["status"] == "invalid"
    assert "origin is no known airport or city; nearest: YTO (Toronto, Ontario, CA)" in answer["message"]


def test_where_the_specification_prints_a_code_only_a_code_is_taken(people: People, use: Use) -> None:
    answer = use(people.alice, "create_delay_alert", airport="London")
    assert answer["status"] == "invalid"


def test_a_name_that_fits_several_cities_says_that_a_code_is_expected(people: People, use: Use) -> None:
    answer = use(people.bob, "get_pricing", program="BA", origin="San Jose", destination="LON")
    assert answer["errors"][0]["expected"] == "one of these codes"
