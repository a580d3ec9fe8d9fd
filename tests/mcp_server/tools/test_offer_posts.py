"""Repeated posts about offers, called through the gate."""

import pytest

from tests.mcp_server.tools.conftest import Use
from tests.support.people import People

POSTS = [
    "Last chance: buy Hilton Honors points with a 100% bonus, ends 30 November",
    "Citi ThankYou: 25% transfer bonus to Avianca LifeMiles until 18 December 2026",
    "Get a 30% bonus when you transfer Amex points to Virgin Atlantic Flying Club, through Dec 31",
]


@pytest.mark.spec("s4.4.admin_check_offer_duplicate.result")
def test_admin_check_offer_duplicate_finds_the_same_offer_in_other_words(people: People, use: Use) -> None:
    new = "Until 31 December: transfer Membership Rewards to Virgin Atlantic and receive 30% extra"
    answer = use(people.ada, "admin_check_offer_duplicate", candidate=new, recent=POSTS)
    assert (answer["verdict"], answer["match_index"], answer["match"]) == ("duplicate", 2, POSTS[2])
    assert (answer["program"], answer["offer_kind"]) == ("virgin-atlantic-flying-club", "transfer_bonus")
    assert answer["confidence"] >= 0.75


@pytest.mark.parametrize(
    ("candidate", "verdict"),
    [
        ("Citi ThankYou: 25% transfer bonus to Turkish Miles&Smiles until 18 December 2026", "new"),
        ("Buy IHG points with a 100% bonus, ends 30 November", "new"),
        ("Hilton Honors status match for 2027", "new"),
        ("Buy Hilton Honors points with an 80% bonus, ends 15 January", "new"),
        ("Buy Hilton Honors points with a bonus", "unsure"),
        ("Citi to LifeMiles: 25% transfer bonus", "duplicate"),
    ],
)
def test_admin_check_offer_duplicate_tells_offers_apart(people: People, use: Use, candidate: str, verdict: str) -> None:
    answer = use(people.ada, "admin_check_offer_duplicate", candidate=candidate, recent=POSTS)
    assert answer["verdict"] == verdict, answer
    assert (answer["match"] is None) == (verdict == "new")


def test_admin_check_offer_duplicate_prefers_the_newest_of_equals(people: People, use: Use) -> None:
    answer = use(people.ada, "admin_check_offer_duplicate", candidate=POSTS[0], recent=[POSTS[1], POSTS[0], POSTS[0]])
    assert (answer["verdict"], answer["match_index"], answer["confidence"]) == ("duplicate", 1, 0.99)


@pytest.mark.spec("s4.4.admin_check_offer_duplicate.params", "s8.ranges_as_listed")
def test_admin_check_offer_duplicate_takes_fifty_posts_and_admins_only(people: People, use: Use) -> None:
    assert use(people.ada, "admin_check_offer_duplicate", candidate="x", recent=["y"] * 51)["status"] == "invalid"
    assert use(people.ada, "admin_check_offer_duplicate", candidate="", recent=[])["status"] == "invalid"
    none = use(people.ada, "admin_check_offer_duplicate", candidate="Anything at all", recent=[])
    assert (none["verdict"], none["match_index"], none["program"]) == ("new", None, None)
    assert use(people.paula, "admin_check_offer_duplicate", candidate="x", recent=[])["status"] == "admin_only"
