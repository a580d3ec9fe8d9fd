"""Names that strangers choose: what cannot be seen or passes for another name is refused, alphabets are said."""

import pytest

from shared.domain.display_names import UnfitName, describe_alphabets, parse_name

FIT = {
    "Claude": "Claude",
    "Claude Code (award-travel)": "Claude Code (award-travel)",
    "VS-Code, zed!": "VS-Code, zed!",
    "  Trip\u00a0 planner \u2013 \u00e9t\u00e9 ": "Trip planner \u2013 \u00e9t\u00e9",
    "e\u0301te\u0301": "\u00e9t\u00e9",
    "\u042f\u043d\u0434\u0435\u043a\u0441 Maps": "\u042f\u043d\u0434\u0435\u043a\u0441 Maps",
    "\u65e5\u672c\u306eAI\u30c4\u30fc\u30eb": "\u65e5\u672c\u306eAI\u30c4\u30fc\u30eb",
    "\ud55c\uad6d Trip": "\ud55c\uad6d Trip",
    "Vi\u1ec7t Nam": "Vi\u1ec7t Nam",
    "\u0e17\u0e35\u0e48": "\u0e17\u0e35\u0e48",
    "\uff23\uff4c\uff41\uff55\uff44\uff45": "Claude",  # full width
    "\U0001d402laude": "Claude",  # mathematical bold
    "\u2764\ufe0f Travel": "\u2764 Travel",
    "<b>{{ 7*7 }}</b> & 'x'": "<b>{{ 7*7 }}</b> & 'x'",
    "5ire 0.1": "5ire 0.1",
}
UNSEEN = ["\u3164", "\u2800", "\u115f", "\uffa0", "Cl\u00adaude", "Claude\u200b", "a\u202eb", "a\nb", "a\u2028b"]
UNSEEN += ["Claude\u034f", "x\u180ey", "\ud800", "\ue000", "a\U000e0041", "a\U000e0101", "\u2066Claude\u2069"]
MIXED = ["Cl\u0430ude", "\u0421laude", "Gro\u03ba", "Curs\u043er Tools", "\uabaflaude", "\u03f9laude"]
LOOK_ALIKE = [
    "C1aude",
    "CIaude",
    "Cl\u00e0ude",
    "Gr0k",
    "C|aude Code",
    "V5 C0de",
    "My Curs0r",
    "\u0421\u043e\u0501\u0435\u0445",
]


@pytest.mark.parametrize("typed", FIT)
def test_a_name_people_can_read_is_kept_in_its_plain_form(typed: str) -> None:
    assert parse_name(typed) == FIT[typed]


@pytest.mark.parametrize("typed", UNSEEN)
def test_a_name_with_something_invisible_is_refused(typed: str) -> None:
    with pytest.raises(UnfitName, match="cannot be seen"):
        parse_name(typed)


@pytest.mark.parametrize(
    ("typed", "words"), [("", "1 to 100"), ("  ", "1 to 100"), ("x" * 101, "1 to"), ("...", "no letter")]
)
def test_a_name_must_say_something_in_a_hundred_characters(typed: str, words: str) -> None:
    with pytest.raises(UnfitName, match=words):
        parse_name(typed)


@pytest.mark.parametrize("typed", ["a\u0301\u0302\u0303", "Cl\u0323\u0323\u0323aude", "Z\u0337\u0337\u0337o"])
def test_accents_are_not_stacked(typed: str) -> None:
    with pytest.raises(UnfitName, match="accents"):
        parse_name(typed)


@pytest.mark.parametrize("typed", MIXED)
def test_one_word_is_written_in_one_alphabet(typed: str) -> None:
    with pytest.raises(UnfitName, match="mixes letters"):
        parse_name(typed)


@pytest.mark.parametrize("typed", LOOK_ALIKE)
def test_a_well_known_name_in_other_signs_is_refused(typed: str) -> None:
    with pytest.raises(UnfitName, match="looks like"):
        parse_name(typed)


def test_alphabets_that_look_like_latin_are_named() -> None:
    assert describe_alphabets("\u041f\u043b\u0430\u043d") == "Cyrillic"
    assert describe_alphabets("\u0391\u0392 \u041f\u043b\u0430\u043d") == "Cyrillic and Greek"
    assert [describe_alphabets(name) for name in ("Claude \u00e9", "\u65e5\u672c", "\ud55c\uad6d")] == [None] * 3


def test_faults_are_worded_in_ascii_and_never_repeat_the_name() -> None:
    """They stand in error_description (RFC 6749 5.2), where other characters and quotes are not allowed."""
    for typed in (*UNSEEN, *MIXED, *LOOK_ALIKE, "", "..."):
        with pytest.raises(UnfitName) as unfit:
            parse_name(typed)
        assert str(unfit.value).isascii()
        assert not {'"', "\\"} & set(str(unfit.value))
        assert not typed or typed == "..." or typed not in str(unfit.value)
