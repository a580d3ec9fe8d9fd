"""Names of programmes and banks that have no data here: each is known as itself and never taken for another."""

import pytest

from shared.domain.names import normalize_name
from shared.errors import NotCovered, NotFound
from shared.reference.load import reference

COMMON = ("miles", "points", "rewards", "gold", "smiles", "club", "bank", "bonus", "guest", "hotel", "more", "plus")
ROWS = reference().rows("outside_names.csv")
NAMES = sorted({name for row in ROWS for name in (row.name, *row.aliases)})


def test_the_table_covers_the_world_and_no_name_of_a_known_programme() -> None:
    assert len(ROWS) >= 250
    assert len({row.country for row in ROWS}) >= 40
    covered = reference().programs.keys() | {row.alias for row in reference().rows("program_aliases.csv")}
    forms = {normalize_name(name) for name in covered}
    assert [name for name in NAMES if normalize_name(name) in forms or not normalize_name(name)] == []


@pytest.mark.parametrize("spelling", ["{}", " {} points", "{}  Miles"])
def test_an_outside_name_finds_no_programme(spelling: str) -> None:
    found = {name: slugs for name in NAMES if len(slugs := reference().find_programs(spelling.format(name))) == 1}
    assert found == {}


def test_an_outside_name_is_answered_as_known_without_another_next_to_it() -> None:
    for name in (text for text in NAMES if not reference().find_programs(text)):
        with pytest.raises(NotCovered) as refused:
            reference().program(name.upper())
        assert refused.value.facts["nearest"] == []


def test_the_answer_names_what_is_known() -> None:
    with pytest.raises(NotCovered) as refused:
        reference().program("Airpoints")
    assert refused.value.status == "not_found"
    assert refused.value.message.startswith("Airpoints is known here, but has no data")


def test_every_alias_finds_its_programme() -> None:
    wrong = {
        row.alias: found
        for row in reference().rows("program_aliases.csv")
        if (found := reference().find_programs(row.alias)) != (row.program,)
    }
    assert wrong == {}


def test_the_points_of_a_bank_in_a_country_are_found_in_any_order_of_words() -> None:
    programs = {
        "HSBC India reward points": "hsbc-reward-points-in",
        "UK Amex points": "amex-membership-rewards-uk",
        "Amex Membership Rewards Australia": "amex-membership-rewards-au",
        "Citi Points of nowhere": None,
        "Citi India points": None,
        "HSBC Australia reward points": None,
        "Japan Amex points": None,
    }
    meanings = {text: reference().find_programs(text) for text in programs}
    assert meanings == {text: (slug,) if slug else () for text, slug in programs.items()}


def test_the_bare_name_of_a_bank_of_several_countries_means_all_of_them() -> None:
    assert {len(reference().find_programs(text)) for text in ("HSBC", "HSBC rewards", "hsbc points")} == {4}


@pytest.mark.parametrize("word", COMMON)
def test_a_common_word_decides_nothing(word: str) -> None:
    assert len(reference().find_programs(word)) != 1


@pytest.mark.parametrize("text", ["QXZ Points", "Zorg miles", "ABK Rewards", "Wondrous club", "Dotzz"])
def test_shared_common_words_make_no_likeness(text: str) -> None:
    with pytest.raises(NotFound) as refused:
        reference().program(text)
    assert refused.value.facts["nearest"] == []


@pytest.mark.parametrize("word", ["pacific", "new", "india", "lines", "kong"])
def test_a_word_inside_the_name_of_one_airline_does_not_decide(word: str) -> None:
    assert len(reference().find_airlines(word)) != 1
