"""A city means the same airports in every tool, by its name and by its code, and the answer names them."""

from collections.abc import Iterator
from typing import Any

import pytest

from mcp_server.calls import dispatch
from mcp_server.toolkit.registry import TOOLS, Tool
from shared.reference.airports import load_metro_names
from shared.reference.city_airports import list_airports
from shared.reference.load import reference
from shared.reference.places import find_code
from tests.mcp_server.tools.conftest import Use
from tests.mcp_server.tools.sample_arguments import sample_arguments
from tests.support.people import People

CITIES = {"London": "LON", "new york city": "NYC", "東京": "TYO", "Paris, France": "PAR", "Stoccolma": "STO"}
# Not where flights are looked for, but the one airport somebody was at: a city is asked about, or kept as it stands.
ONE_AIRPORT = {"log_lounge_visit", "update_lounge_visit", "create_delay_alert", "list_lounge_visits"}
ONE_AIRPORT |= {"add_flight_booking", "update_flight_booking"}
_CODES = ("^[A-Z]{3}$", "^[A-Za-z]{3}$")


def _list_places() -> Iterator[tuple[Tool, str]]:
    for tool in TOOLS.values():
        for name, node in tool.arguments.schema["properties"].items():
            is_code = node.get("pattern") in _CODES and "currency" not in name
            if (name in tool.arguments.places or is_code) and tool.name not in ONE_AIRPORT:
                yield tool, name


def test_every_place_where_flights_are_looked_for_takes_a_city() -> None:
    unmarked = [f"{tool.name} {name}" for tool, name in _list_places() if name not in tool.arguments.places]
    assert unmarked == []
    assert len(list(_list_places())) > 30


@pytest.mark.slow
def test_a_citys_name_and_its_code_are_answered_alike_with_its_airports(people: People, use: Use) -> None:
    faults: list[str] = []
    for number, (tool, parameter) in enumerate(_list_places()):
        name, code = list(CITIES.items())[number % len(CITIES)]
        other = {"destination": "SYD"} if parameter != "destination" else {}
        other = {key: value for key, value in other.items() if key in tool.arguments.schema["properties"]}
        given = sample_arguments(tool, **other)
        by_code = use(people.paula, tool.name, **given | {parameter: code})
        airports = list_airports(reference(), code)
        sentence = f"{code} means {', '.join(airports[:-1])} and {airports[-1]}."
        is_long = len(f"{by_code['message']} {sentence}") >= dispatch.MOST_WITH_CITIES
        if by_code["status"] in ("ok", "partial", "no_data") and sentence not in by_code["message"] and not is_long:
            faults.append(f"{tool.name} {parameter}={code}: {by_code['message'][-160:]}")
        if tool.reads and "pattern" not in tool.arguments.schema["properties"][parameter]:
            by_name = use(people.paula, tool.name, **given | {parameter: name})
            if _outcome(by_name) != _outcome(by_code):
                faults.append(f"{tool.name} {parameter}={name}: {_outcome(by_name)}, by code {_outcome(by_code)}")
    assert faults == []


def _outcome(answer: dict[str, Any]) -> tuple[str, str, str]:
    return answer["status"], answer["message"], str(answer.get("errors"))


def test_of_a_city_whose_code_is_one_of_its_airports_the_name_means_the_busiest() -> None:
    facts, faults = reference(), []
    for code, members in facts.metros.items():
        flights = {m: facts.count_flights(m) for m in members if m in facts.airports}
        if code in facts.airports and flights[code] * 4 < max(flights.values()):
            name = load_metro_names()[code]
            found = find_code(facts, name, for_flights=True)
            if flights.get(found, 0) != max(flights.values()):
                faults.append(f"{name}: {found} of {flights}")
    assert faults == []


def test_where_a_code_is_asked_a_place_that_is_named_is_taken_as_its_code() -> None:
    faults = []
    for tool in TOOLS.values():
        for name in tool.arguments.places:
            if "pattern" not in tool.arguments.schema["properties"][name]:
                continue
            for said, code in (("Frankfurt", "FRA"), ("frankfurt", "FRA"), ("São Paulo", "SAO")):
                taken = tool.arguments.check(sample_arguments(tool, **{name: said}))[name]
                if taken not in (code, {"SAO": "GRU"}.get(code)):
                    faults.append(f"{tool.name} {name}={said}: {taken}")
    assert faults == []


def test_a_long_message_does_not_name_the_airports_of_cities_beside(
    people: People, use: Use, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = {"origin": "LON", "destination": "NYC", "cabin": "business"}
    assert " NYC means " in use(people.paula, "estimate_award_fees", **asked)["message"]
    monkeypatch.setattr(dispatch, "MOST_WITH_CITIES", 60)
    assert " means " not in use(people.paula, "estimate_award_fees", **asked)["message"]
