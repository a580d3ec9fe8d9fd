"""Posts about offers: what is understood of them, and when two say the same."""

import pytest

from shared.domain.offer_posts import OfferPost, judge_post, rate_likeness, read_post
from shared.reference.load import reference


def offer(text: str) -> OfferPost:
    return read_post(text, reference().mentions(text))


def find_named(text: str) -> set[frozenset[str]]:
    return set(reference().mentions(text))


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("30% transfer bonus from Chase to Flying Blue", "transfer_bonus"),
        ("Convert Amex points to Avios: 25% extra when you transfer", "transfer_bonus"),
        ("40% bonus Amex to Virgin Atlantic", "transfer_bonus"),
        ("Buy Avios with up to 50% off", "points_sale"),
        ("Hilton sells points with a 100% bonus", "points_sale"),
        ("Flying Blue Promo Rewards for December", "award_sale"),
        ("Amex Platinum: welcome bonus of 175,000 points", "welcome_bonus"),
        ("Hyatt status match now open", "status_match"),
        ("Earn double points on every stay", "earning_bonus"),
        ("A nice photo of a lounge", None),
    ],
)
def test_the_kind_of_an_offer_is_read_from_its_words(text: str, kind: str | None) -> None:
    assert offer(text).kind == kind


def test_programmes_are_found_by_their_longest_names_and_codes_in_capitals_only() -> None:
    assert find_named("As part of it, UA and Avianca LifeMiles join") == {
        frozenset({"united-mileageplus"}),
        frozenset({"avianca-lifemiles"}),
    }
    assert find_named("as ua ba aa") == set()


def test_a_shared_name_says_nothing_beside_the_programme_it_means() -> None:
    assert find_named("British Airways Avios: Avios sale") == {frozenset({"british-airways-club"})}
    (shared,) = find_named("Avios sale this week")
    assert {"british-airways-club", "iberia-club"} <= shared


def test_dates_and_percentages_are_read_in_the_usual_forms() -> None:
    text = offer("25% to 40 percent until 3 March 2027, or March 9th, or 2027-03-12")
    assert text.percents == {25, 40}
    assert text.days == {(3, 3), (3, 9), (3, 12)}


def test_another_last_day_makes_it_doubtful_and_another_percentage_makes_it_new() -> None:
    old = offer("Chase to Flying Blue: 25% transfer bonus until 31 October")
    assert judge_post(offer("Chase to Flying Blue: 25% transfer bonus until 15 March"), [old]).verdict == "unsure"
    assert judge_post(offer("Chase to Flying Blue: 30% transfer bonus until 15 March"), [old]).verdict == "new"


def test_another_bank_or_another_goal_is_another_offer() -> None:
    old = [offer("Chase to Flying Blue: 25% transfer bonus")]
    assert judge_post(offer("Citi to Flying Blue: 25% transfer bonus"), old).verdict == "new"
    assert judge_post(offer("Chase to Aeroplan: 25% transfer bonus"), old).verdict == "new"
    assert judge_post(offer("Flying Blue: 25% transfer bonus"), old).verdict == "duplicate"


def test_likeness_is_the_same_both_ways_and_never_out_of_bounds() -> None:
    posts = [
        offer(t) for t in ("", "Avios sale", "Buy Avios 50% off", "Chase to Aeroplan 20% transfer bonus", "x" * 9_000)
    ]
    for a in posts:
        for b in posts:
            assert rate_likeness(a, b) == rate_likeness(b, a)
            assert 0 <= rate_likeness(a, b) <= 1


def test_a_post_that_nobody_understands_is_at_most_doubtful_unless_word_for_word() -> None:
    odd = "Something wonderful happens at the bakery"
    assert judge_post(offer(odd), [offer(odd)]).verdict == "duplicate"
    assert judge_post(offer(odd), [offer("Something else happens at the bakery today")]).verdict != "duplicate"
