"""Matching of hotels by name and place: one match or none."""

import pytest

from shared.domain.hotel_match import ListedHotel, find_same_hotel


def find_key(
    name: str, *listed: ListedHotel, city: str = "Tokyo", lat: float | None = 35.69, lon: float | None = 139.69
) -> str | None:
    one = find_same_hotel(name, city, lat, lon, listed)
    return one.key if one else None


@pytest.mark.parametrize(
    ("ours", "theirs"),
    [
        ("Park Hyatt Tokyo", "Park Hyatt Tokyo"),
        ("Park Hyatt Tokyo", "PARK HYATT  TOKYO"),
        ("Hôtel du Palais", "Hotel du Palais"),
        ("Al Maha, a Luxury Collection Desert Resort & Spa", "Al Maha Desert Resort and Spa"),
        ("The Ritz-Carlton, Tokyo", "Ritz Carlton Tokyo"),
    ],
)
def test_spellings_of_one_name_meet(ours: str, theirs: str) -> None:
    assert find_key(ours, ListedHotel("a", theirs)) == "a"


def test_words_may_be_missing_where_the_place_is_right() -> None:
    listed = ListedHotel("a", "Andaz Toranomon Hills - a concept by Hyatt", 35.69, 139.70)
    assert find_key("Andaz Tokyo Toranomon Hills", listed) == "a"
    assert find_key("Andaz Tokyo Toranomon Hills", ListedHotel("a", listed.name, near=True)) == "a"
    assert find_key("Andaz Tokyo Toranomon Hills", ListedHotel("a", listed.name)) is None


def test_the_same_name_at_another_place_is_another_hotel() -> None:
    assert find_key("Hilton Tokyo", ListedHotel("far", "Hilton Tokyo", 35.63, 139.90)) is None


def test_a_longer_name_without_a_place_is_not_believed() -> None:
    assert (
        find_key("Hilton Tokyo", ListedHotel("bay", "Hilton Tokyo Bay"), ListedHotel("odaiba", "Hilton Tokyo Odaiba"))
        is None
    )
    assert find_key("Hilton Tokyo", ListedHotel("bay", "Hilton Tokyo Bay")) is None


def test_a_brand_alone_is_no_hotel() -> None:
    assert find_key("Hilton Tokyo", ListedHotel("a", "DoubleTree by Hilton Tokyo", near=True)) is None


def test_the_exact_name_goes_before_one_with_more_words() -> None:
    close = (
        ListedHotel("regency", "Hyatt Regency Tokyo", 35.69, 139.69),
        ListedHotel("bare", "Hyatt Tokyo", 35.69, 139.69),
    )
    assert find_key("Hyatt Regency Tokyo", *close) == "regency"


def test_two_that_can_be_meant_are_none() -> None:
    assert (
        find_key(
            "Marriott Bay",
            ListedHotel("a", "Marriott Bay East", near=True),
            ListedHotel("b", "Marriott Bay West", near=True),
        )
        is None
    )
    assert (
        find_key("Park Hyatt Tokyo", ListedHotel("a", "Park Hyatt Tokyo"), ListedHotel("b", "Park Hyatt Tokyo")) is None
    )


def test_a_hotel_called_like_its_city_keeps_its_name() -> None:
    assert find_key("Hotel Tokyo", ListedHotel("a", "Tokyo Hotel")) == "a"
    assert find_key("Hotel Tokyo", ListedHotel("a", "Park Hyatt Tokyo", 35.69, 139.69)) is None


def test_a_hotel_whose_place_we_do_not_know_is_found_by_its_name_alone() -> None:
    assert find_key("Park Hyatt Tokyo", ListedHotel("a", "Park Hyatt Tokyo", 35.6, 139.7), lat=None, lon=None) == "a"


def test_nothing_listed_is_nothing_found() -> None:
    assert find_key("Park Hyatt Tokyo") is None
