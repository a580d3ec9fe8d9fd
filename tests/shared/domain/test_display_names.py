"""Names that strangers choose: what cannot be seen or passes for another name is refused, alphabets are said."""

import unicodedata
from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shared.domain.display_names import UnfitName, describe_alphabets, parse_name

PLAIN_CATEGORIES = {"Lu", "Ll", "Lt", "Lm", "Lo", "Mn", "Mc", "Me", "Nd", "Nl", "No", "Sc", "Zs"}
PLAIN_CATEGORIES |= {"Pc", "Pd", "Ps", "Pe", "Pi", "Pf", "Po"}
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
    "<b>{{ 7*7 }}</b> & 'x'": "<b>{{ 7*7 }}</b> & 'x'",
    "5ire 0.1": "5ire 0.1",
    "Points \u00d7 Miles: 5 \u20ac": "Points \u00d7 Miles: 5 \u20ac",
}
UNSEEN = ["\u3164", "\u2800", "\u115f", "\uffa0", "Cl\u00adaude", "Claude\u200b", "a\u202eb", "a\nb", "a\u2028b"]
UNSEEN += [
    "Cl\ufe0faude",
    "\u2764\ufe0f Travel",
    "Claude\u034f",
    "x\u180ey",
    "\ud800",
    "\ue000",
    "a\U000e0041",
    "a\U000e0101",
    "\u2066Claude\u2069",
]
SIGNS = [
    "Claude \u2705",
    "\u2714 Claude",
    "\u2611 Claude",
    "Claude \u221a",
    "Claude \U00010102",
    "\u2764 Travel",
    "Claude\u2122",
]
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


def to_full_width(sign: str) -> str:
    return chr(ord(sign) + 0xFEE0) if sign.isascii() and sign.isalpha() else sign


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


@pytest.mark.parametrize("typed", SIGNS)
def test_a_name_with_a_picture_or_a_mark_of_approval_is_refused(typed: str) -> None:
    with pytest.raises(UnfitName, match="pictures or signs"):
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


# --- names that others read


SERVICE = "Award Travel"
OWN = [
    SERVICE,
    "Award Travel Security Team",
    "award-travel",
    "The AWARDTRAVEL app",
    "Aw\u00e1rd Trave1",
    "Help (Award Travel)",
]
ROLES = ["Support", "Secure login", "Sign in to continue", "Account security", "The Help Desk", "S3cure-Log1n"]
ROLES += ["Kundendienst", "S\u00e9curit\u00e9", "Your account"]
CLAIMS = ["Claude, v e r i f i e d", "Trip planner - 0fficial", "Anthropic, PBC \u2014 reads only", "Read-only helper"]
CLAIMS += ["gepr\u00fcft", "Trip planner (gepr\u00fcft)", "Certifi\u00e9", "Aprobado por Anthropic"]
CLAIMS += ["Offizielle App", "V\u00e9rifi\u00e9 par Anthropic", "Approved by Anthropic"]
HARMLESS = [
    *("Zendesk Support", "Test client", "MCP Inspector", "Account planner", "Security Insights"),
    "Award planner",
    "Travel awards",
    "Office assistant",
    "Certificates and vouchers",
    "Verify my prices",
    "Readwise",
]


@pytest.mark.parametrize(
    ("typed", "words"),
    [(t, "name of this") for t in OWN] + [(t, "staff or pages") for t in ROLES] + [(t, "only this") for t in CLAIMS],
)
def test_what_only_the_service_could_say_is_refused_in_names_that_others_read(typed: str, words: str) -> None:
    assert parse_name(typed)
    with pytest.raises(UnfitName, match=words):
        parse_name(typed, service=SERVICE)


@pytest.mark.parametrize("typed", HARMLESS)
def test_a_name_that_claims_nothing_is_taken(typed: str) -> None:
    assert parse_name(typed, service=SERVICE) == typed


def test_a_short_name_of_the_service_counts_as_a_whole_word() -> None:
    assert parse_name("Smiles planner", service="Miles") == "Smiles planner"
    with pytest.raises(UnfitName, match="name of this"):
        parse_name("Miles planner", service="Miles")


@pytest.mark.parametrize("called", ["award-travel", "verified", "award-travel-readonly"])
def test_what_a_person_calls_this_server_is_left_out_behind_a_known_application(called: str) -> None:
    """Claude Code sends the name that its owner gave to the server."""
    assert parse_name(f"Claude Code ({called})", service=SERVICE) == "Claude Code"
    assert parse_name("Claude Code (miles)", service=SERVICE) == "Claude Code (miles)"
    with pytest.raises(UnfitName):
        parse_name(f"Another one ({called})", service=SERVICE)


disguises = st.sampled_from([str.upper, str.lower, "{} ".format, "{}\u0301".format, "-{}".format, to_full_width])


@given(
    st.sampled_from(["verified", "official", "certified", "trusted", "reads only", SERVICE]),
    st.lists(disguises, min_size=12, max_size=12),
    st.sampled_from(["{}", "Trip {}", "{} planner", "Claude: {}"]),
)
def test_no_claim_passes_in_another_spelling(claim: str, ways: list[Callable[[str], str]], frame: str) -> None:
    disguised = "".join(way(sign) for way, sign in zip(ways, claim, strict=False))
    with pytest.raises(UnfitName):
        parse_name(frame.format(disguised), service=SERVICE)


@settings(max_examples=50)
@given(st.text(max_size=12) | st.text(st.sampled_from("Claude \u2705\ufe0f\u0301(1verified)\u0430"), max_size=12))
def test_a_name_that_is_taken_holds_plain_signs_and_is_taken_again(typed: str) -> None:
    try:
        name = parse_name(typed, service=SERVICE)
    except UnfitName:
        return
    assert parse_name(name, service=SERVICE) == name
    assert {unicodedata.category(sign) for sign in name if ord(sign) > 0xFF} <= PLAIN_CATEGORIES


def test_faults_are_worded_in_ascii_and_never_repeat_the_name() -> None:
    """They stand in error_description (RFC 6749 5.2), where other characters and quotes are not allowed."""
    for typed in (*UNSEEN, *MIXED, *LOOK_ALIKE, *SIGNS, "", "..."):
        with pytest.raises(UnfitName) as unfit:
            parse_name(typed)
        assert str(unfit.value).isascii()
        assert not {'"', "\\"} & set(str(unfit.value))
        assert not typed or typed == "..." or typed not in str(unfit.value)
