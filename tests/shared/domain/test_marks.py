"""Marks: each programme has its own two letters, and whatever else is named has the same ones on every machine."""

from hypothesis import given
from hypothesis import strategies as st

from shared.domain.marks import _MARKS, HUES, LetterMark, find_mark
from shared.reference.load import reference


def test_every_programme_has_a_mark_of_its_own() -> None:
    slugs = {program.slug for program in reference().programs.values()}
    assert slugs - set(_MARKS) == set(), "give the programme its letters and a hue"


@given(st.text(max_size=30), st.text(max_size=30))
def test_anything_has_one_or_two_letters_on_a_hue(slug: str, name: str) -> None:
    mark = find_mark(slug, name)
    assert mark == find_mark(slug, name)
    assert 1 <= mark.hue <= HUES
    assert 1 <= len(mark.letters) <= 6  # upper case of a ligature is longer


def test_an_airline_goes_by_its_code_and_others_by_their_initials() -> None:
    assert find_mark("UA") == find_mark("united-mileageplus")
    assert find_mark("zz").letters == "ZZ"
    assert find_mark("", "Alder Lodge of the river").letters == "AL"
    assert find_mark("hyatt") == find_mark("world-of-hyatt") == LetterMark("WH", 5)
