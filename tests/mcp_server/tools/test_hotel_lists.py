"""Card issuers' lists of hotels in the answers about hotels."""

from typing import Any

import pytest

from mcp_server.views.hotels import MAX_LISTED
from shared.reference.load import reference
from tests.mcp_server.tools.conftest import Use
from tests.support.dates import iso_days_ahead
from tests.support.people import People


def dates() -> dict[str, Any]:
    return {"check_in_date": iso_days_ahead(20), "check_out_date": iso_days_ahead(22)}


@pytest.mark.parametrize(
    ("hotel", "titles"),
    [
        ("The Ritz-Carlton, Kyoto", ["Fine Hotels + Resorts", "The Edit"]),
        ("Conrad Tokyo", ["Fine Hotels + Resorts"]),
        ("Grand Hyatt Baha Mar", ["The Hotel Collection"]),
        ("Hyatt Place Santa Barbara", []),
    ],
)
def test_get_hotel_names_the_card_lists_a_hotel_is_on(people: People, use: Use, hotel: str, titles: list[str]) -> None:
    answer = use(people.bob, "get_hotel", hotel_id=hotel)
    assert [row["title"] for row in answer["card_lists"]] == titles
    assert {(row["as_of"], row["unaudited"]) for row in answer["card_lists"]} <= {("2026-04-29", True)}
    assert all(title in answer["message"] for title in titles)
    assert ("as of 29 Apr 2026" in answer["message"]) is bool(titles)


def test_get_hotel_says_of_a_hotel_without_a_programme_which_lists_it_is_on(people: People, use: Use) -> None:
    answer = use(people.bob, "get_hotel", hotel_id="Aman Tokyo")
    assert (answer["status"], answer["nearest"]) == ("not_found", [])
    assert "Aman Tokyo (Tokyo, JP) belongs to no programme known here." in answer["message"]
    assert "It is on Fine Hotels + Resorts of American Express, as of 29 Apr 2026." in answer["message"]
    assert "belongs to no programme" not in use(people.bob, "get_hotel", hotel_id="No one Inn")["message"]


def test_search_hotels_marks_listed_hotels_and_names_others_of_the_place(people: People, use: Use) -> None:
    answer = use(people.alice, "search_hotels", destination="Kyoto", **dates())
    by_code = {h["hotel_code"]: h["lists"] for h in answer["hotels"]}
    assert by_code["htl_the-ritz-carlton-kyoto"] == ["Fine Hotels + Resorts", "The Edit"]
    assert by_code["htl_park-hyatt-kyoto"] == ["Fine Hotels + Resorts"]
    others = {h["name"]: h["lists"] for h in answer["other_hotels_listed"]}
    assert others["Four Seasons Hotel Kyoto"] == ["Fine Hotels + Resorts", "The Edit"]
    assert not set(others) & {h["name"] for h in answer["hotels"]}
    assert {row["title"] for row in answer["card_lists"]} == {
        "Fine Hotels + Resorts",
        "The Edit",
        "The Hotel Collection",
    }
    assert "other hotels there are on card lists" in answer["message"]


def test_a_city_with_many_listed_hotels_says_how_many_and_shows_some(people: People, use: Use) -> None:
    answer = use(people.alice, "search_hotels", destination="Paris", **dates())
    assert len(answer["other_hotels_listed"]) == MAX_LISTED
    total = int(answer["message"].split(" other hotels there")[0].split()[-1])
    assert total > MAX_LISTED


def test_a_listed_hotel_is_linked_to_one_hotel_of_its_country() -> None:
    hotels = {h.slug: h for h in reference().rows("hotels.csv")}
    linked = [m for m in reference().rows("hotel_list_members.csv") if m.hotel]
    assert all(hotels[m.hotel].country == m.country for m in linked)
    pairs = [(m.hotel, name) for m in linked for name in m.lists]
    assert len(pairs) == len(set(pairs))
