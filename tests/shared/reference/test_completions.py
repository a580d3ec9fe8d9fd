"""What may follow the letters someone typed: codes first, then the best known places."""

import pytest

from shared.reference.completions import complete_places, complete_programs
from shared.reference.load import reference


@pytest.mark.parametrize(
    ("text", "first"),
    [
        ("lhr", "LHR (London Heathrow Airport, London, GB)"),
        ("LON", "LON (London, England, GB)"),
        ("Tok", "TYO (Tokyo, JP)"),
        ("são pau", "SAO (Sao Paulo, São Paulo, BR)"),
        ("heathrow", "LHR (London Heathrow Airport, London, GB)"),
    ],
)
def test_the_best_known_comes_first(text: str, first: str) -> None:
    values, _ = complete_places(reference(), text, 5)
    assert values[0] == first


def test_a_code_comes_before_a_city_that_is_better_known() -> None:
    values, total = complete_places(reference(), "san", 20)
    assert values[0].startswith("SAN (San Diego")
    assert values[1].startswith("SFO (San Francisco")
    assert total > 20


def test_nothing_typed_is_everything_and_nonsense_is_nothing() -> None:
    values, total = complete_places(reference(), "", 5)
    assert (len(values), total > 5_000) == (5, True)
    assert complete_places(reference(), "qqqq", 5) == ([], 0)


def test_programmes_by_any_word() -> None:
    assert complete_programs(reference(), "bonvoy", 5) == (["Marriott Bonvoy"], 1)
