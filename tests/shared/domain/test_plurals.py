"""Words with numbers: the unit of points is said once."""

import re

import pytest

from shared.domain.plurals import name_points
from shared.reference.load import reference


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("Aeroplan", "Aeroplan points"),
        ("GOL Smiles", "GOL Smiles points"),
        ("Delta SkyMiles", "Delta SkyMiles"),
        ("Citi Points (Hong Kong)", "Citi Points (Hong Kong)"),
        ("Cathay (Asia Miles)", "Cathay (Asia Miles)"),
        ("My village miles", "My village miles"),
    ],
)
def test_a_name_that_ends_in_its_unit_is_not_followed_by_it(name: str, words: str) -> None:
    assert name_points(name) == words


def test_no_known_programme_has_its_unit_twice() -> None:
    for program in reference().programs.values():
        assert not re.search(r"(points|(?<!s)miles)\)? points$", name_points(program.name).casefold()), program.name
