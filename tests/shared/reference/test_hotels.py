"""Hotels of the facts: each is found by its code, its number, its property code and its name."""

import re
from dataclasses import replace
from typing import Any

import pytest

from shared.errors import Candidates, NotFound
from shared.reference import hotel_awards, hotels
from shared.reference.load import reference
from shared.reference.reference import Reference


def with_hotels(*more: Any) -> Reference:
    """The facts with further hotels first, as a later release may list them."""
    existing = reference()
    files = ("programs.csv", "airlines.csv", "cards.csv", "continents.csv", "region_spellings.csv")
    tables = {file: list(existing.rows(file)) for file in existing._tables}
    assert set(files) <= set(tables)
    tables["hotels.csv"] = [*more, *tables["hotels.csv"]]
    return Reference(tables)


def test_codes_and_numbers_name_one_hotel_each() -> None:
    rows = reference().rows("hotels.csv")
    assert len({hotels.number(h) for h in rows}) == len({hotels.code(h) for h in rows}) == len(rows)
    assert all(re.fullmatch(r"htl_[a-z0-9-]+", hotels.code(h)) and len(hotels.code(h)) <= 80 for h in rows)
    assert all(re.fullmatch(r"[1-9]\d{8}", hotels.number(h)) for h in rows)


@pytest.mark.parametrize("text", ["htl_conrad-tokyo", "HTL_Conrad-Tokyo", "TYOCICI", "tyocici", "Conrad Tokyo"])
def test_a_hotel_is_found_by_code_property_code_and_name(text: str) -> None:
    assert hotels.find_hotel(reference(), text).slug == "conrad-tokyo"


def test_codes_and_numbers_stay_when_hotels_are_added() -> None:
    tokyo = hotels.find_hotel(reference(), "TYOCICI")
    later = with_hotels(replace(tokyo, slug="a-hotel-that-opens-later", name="A Hotel That Opens Later"))
    assert hotels.find_hotel(later, hotels.number(tokyo)) == tokyo
    assert hotels.find_hotel(later, hotels.code(tokyo)) == tokyo


def test_a_property_code_of_two_hotels_gives_both() -> None:
    tokyo = hotels.find_hotel(reference(), "TYOCICI")
    later = with_hotels(replace(tokyo, slug="its-annex", name="Its Annex"))
    with pytest.raises(Candidates) as several:
        hotels.find_hotel(later, "TYOCICI")
    assert {c["hotel_code"] for c in several.value.facts["candidates"]} == {"htl_conrad-tokyo", "htl_its-annex"}


def test_a_name_of_no_hotel_is_refused_with_the_nearest() -> None:
    with pytest.raises(NotFound) as refusal:
        hotels.find_hotel(reference(), "Conrad Tokio")
    assert "Conrad Tokyo" in refusal.value.facts["nearest"]


def test_a_chain_goes_by_its_own_name_or_its_programmes() -> None:
    facts = reference()
    assert hotels.list_chain_codes(facts, "Hyatt") == hotels.list_chain_codes(facts, "World of Hyatt")
    assert "htl_conrad-tokyo" in hotels.list_chain_codes(facts, "hilton")


@pytest.mark.parametrize(
    ("hotel", "tz"),
    [
        ("conrad-tokyo", "Asia/Tokyo"),
        ("andaz-maui-at-wailea-resort", "Pacific/Honolulu"),
        ("conrad-bora-bora-nui", "Pacific/Tahiti"),
        ("hilton-chicago", "America/Chicago"),
        ("conrad-maldives-rangali-island", "Indian/Maldives"),
    ],
)
def test_a_hotel_keeps_the_time_of_the_nearest_airport_of_its_country(hotel: str, tz: str) -> None:
    assert hotels.find_time_zone(reference(), f"htl_{hotel}") == tz
    assert hotels.find_time_zone(reference(), "htl_of-nobody") == "UTC"


@pytest.mark.parametrize(
    ("hotel", "tier", "cards", "every"),
    [
        ("htl_conrad-tokyo", None, (), 0),
        ("htl_conrad-tokyo", "Silver", (), 5),
        ("htl_conrad-tokyo", "Diamond", (), 5),
        ("htl_intercontinental-rome-ambasciatori-palace", "Diamond", ("us-chase-sapphire-preferred",), 0),
        ("htl_intercontinental-rome-ambasciatori-palace", None, ("us-chase-ihg-premier",), 4),
        ("htl_hyatt-regency-rome-central", "Globalist", (), 0),
    ],
)
def test_a_free_night_is_for_those_with_the_status_or_the_card(
    hotel: str, tier: str | None, cards: tuple[str, ...], every: int
) -> None:
    facts = reference()
    free = hotel_awards.find_free_night(facts, hotels.find_hotel(facts, hotel))
    assert free.find_every(facts, tier, cards) == every
