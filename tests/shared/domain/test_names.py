"""Loose names: spellings meet, shared names ask, strangers get the nearest."""

from shared.domain.names import find_meanings, find_nearest, normalize_name

KNOWN = {"air france": ("AF",), "air canada": ("AC",), "british airways": ("BA",), "avios": ("ba", "ib")}


def test_spelling_case_and_accents_do_not_matter() -> None:
    assert normalize_name("  Aéro-México! ") == "aero mexico"
    assert find_meanings("AIR  FRANCE", KNOWN) == ("AF",)


def test_a_shared_name_gives_everything_it_can_mean() -> None:
    assert find_meanings("avios", KNOWN) == ("ba", "ib")


def test_part_of_a_name_is_enough_when_only_one_has_it() -> None:
    assert find_meanings("british", KNOWN) == ("BA",)
    assert find_meanings("air", KNOWN) == ("AC", "AF")


def test_a_stray_letter_means_nothing() -> None:
    assert find_meanings("a", KNOWN) == ()
    assert find_meanings("", KNOWN) == ()


def test_names_that_are_alike_are_named_and_no_others() -> None:
    assert find_nearest("brittish airway", KNOWN)[0] == "british airways"
    assert find_nearest("zzzz", KNOWN) == []
