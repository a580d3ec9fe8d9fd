"""Loose names: spellings meet, shared names ask, strangers get the nearest."""

from shared.domain.names import meanings, nearest, plain

KNOWN = {"air france": ("AF",), "air canada": ("AC",), "british airways": ("BA",), "avios": ("ba", "ib")}


def test_spelling_case_and_accents_do_not_matter() -> None:
    assert plain("  Aéro-México! ") == "aero mexico"
    assert meanings("AIR  FRANCE", KNOWN) == ("AF",)


def test_a_shared_name_gives_everything_it_can_mean() -> None:
    assert meanings("avios", KNOWN) == ("ba", "ib")


def test_part_of_a_name_is_enough_when_only_one_has_it() -> None:
    assert meanings("british", KNOWN) == ("BA",)
    assert meanings("air", KNOWN) == ("AC", "AF")


def test_a_stray_letter_means_nothing() -> None:
    assert meanings("a", KNOWN) == ()
    assert meanings("", KNOWN) == ()


def test_the_nearest_three_are_named() -> None:
    assert nearest("brittish airway", KNOWN)[0] == "british airways"
    assert len(nearest("zzzz", KNOWN)) == 3
