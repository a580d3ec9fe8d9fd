"""Marks and maps of an answer with a screen: those of the pages, in `_meta`, where no model reads them."""

from mcp_server.screens.faces import KEY, draw_faces
from shared.domain.marks import find_mark


def test_each_programme_and_airline_of_an_answer_has_its_mark() -> None:
    data = {"options": [{"airline": "BA", "program": "flying-blue", "steps": [{"to_program": "finnair-plus"}]}]}
    assert draw_faces(data)[KEY]["marks"] == {name: find_mark(name) for name in ("BA", "finnair-plus", "flying-blue")}


def test_a_plan_has_a_map_of_its_flights_and_a_search_of_its_route() -> None:
    out, back = {"origin": "LHR", "destination": "JFK"}, {"origin": "JFK", "destination": "LHR"}
    maps = draw_faces({"best": {"award": out, "return_award": back}, "fallback": None, "asked": out})[KEY]["maps"]
    assert {name: len(drawn["ways"]) for name, drawn in maps.items()} == {"best": 2, "route": 1}
    assert [spot["name"] for spot in maps["best"]["spots"]] == ["LHR", "JFK"]


def test_an_answer_about_no_route_or_an_unknown_one_has_no_map() -> None:
    for asked in ({}, {"origin": None, "destination": "JFK"}, {"origin": "QQQ", "destination": "JFK"}):
        assert draw_faces({"asked": asked})[KEY] == {"marks": {}, "maps": {}}
