"""Hotels at a place as people write it, or what else the text can mean."""

import pytest

from shared.errors import Candidates, NotFound
from shared.reference.hotel_places import find_place
from shared.reference.load import reference


def cities(text: str) -> set[str]:
    return {h.city for h in find_place(reference(), text).hotels}


@pytest.mark.parametrize(
    ("text", "city"),
    [
        ("Tokyo", "Tokyo"),
        ("tokyo, japan", "Tokyo"),
        ("Tokyo JP", "Tokyo"),
        ("NRT", "Tokyo"),
        ("TYO", "Tokyo"),
        ("London, UK", "London"),
        ("New York City", "New York"),
        ("NYC", "New York"),
        ("jfk", "New York"),
        ("Washington DC", "Washington"),
        ("Miami, Florida", "Miami"),
        ("Los Angeles, CA", "Beverly Hills"),
        ("Cancún", "Cancun"),
        ("Georgia", "Atlanta"),
        ("Hawaii", "Honolulu"),
        ("Maldives", "Raa Atoll"),
        ("Bali", "Nusa Dua"),
        ("Waikiki", "Honolulu"),
        ("Milano", "Milan"),
        ("Wien", "Vienna"),
        ("Lisboa", "Lisbon"),
    ],
)
def test_a_place_is_found_however_it_is_written(text: str, city: str) -> None:
    assert city in cities(text)


@pytest.mark.parametrize(
    ("text", "slug", "found"),
    [
        ("Anchorage", "hyatt-house-anchorage", True),
        ("Alaska", "hyatt-house-anchorage", True),  # without coordinates, by its city's airport
        ("ORD", "hyatt-house-chicago-schaumburg", True),  # a suburb whose name begins with the city
        ("Minnesota", "hyatt-place-atlanta-duluth-johns-creek", False),  # Duluth in Georgia
        ("Ohio", "hyatt-place-columbus-north", False),  # which of the two cities of that name is not known
    ],
)
def test_a_hotel_without_coordinates_is_where_its_city_is_unless_two_have_the_name(
    text: str, slug: str, found: bool
) -> None:
    assert any(h.slug == slug for h in find_place(reference(), text).hotels) is found


def test_a_suburb_is_not_the_whole_city_beside_it() -> None:
    assert cities("Naperville") == {"Naperville"}
    assert "Naperville" in cities("Chicago")


def test_a_city_takes_in_what_lies_next_to_it_and_nothing_far() -> None:
    assert {"Miami", "Miami Beach", "Coral Gables"} <= cities("Miami")
    assert not {"Fort Lauderdale", "Orlando"} & cities("Miami")
    assert cities("Paris") == {"Paris"}
    assert find_place(reference(), "NRT").hotels == find_place(reference(), "HND").hotels  # no line through the city


@pytest.mark.parametrize("text", ["Reykjavik", "KEF", "Paris, Texas", "London, CA", "Saskatchewan"])
def test_a_known_place_without_hotels_is_known(text: str) -> None:
    assert find_place(reference(), text).hotels == ()


@pytest.mark.parametrize(("text", "nearest"), [("Bostn", "Boston"), ("Zzzzqqq", None), ("", None), ("☃", None)])
def test_an_unknown_place_comes_with_cities_of_a_like_name(text: str, nearest: str | None) -> None:
    with pytest.raises(NotFound) as no:
        find_place(reference(), text)
    names = no.value.facts["nearest"]
    assert (nearest in names) if nearest else names == []


def test_a_word_of_names_in_many_countries_asks_which() -> None:
    with pytest.raises(Candidates) as several:
        find_place(reference(), "Conrad")
    assert "Tokyo, JP" in several.value.facts["candidates"]
