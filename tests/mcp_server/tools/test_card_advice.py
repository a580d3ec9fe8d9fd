"""Which card next, through the gate: values a person can check, spending, goals, cards held and the plan's share."""

from datetime import UTC, datetime
from typing import Any

import pytest

from tests.mcp_server.tools.conftest import Use
from tests.support.fake_rates import read_dollars
from tests.support.people import People
from tests.support.settings_and_clock import StandingClock

AVIOS = "uk-barclaycard-avios-plus"
PREFERRED = "us-chase-sapphire-preferred"


@pytest.fixture(autouse=True)
def november(standing_clock: StandingClock) -> None:
    """The day these facts were gathered: offers age, so the day matters."""
    standing_clock.set(datetime(2026, 11, 22, 12, tzinfo=UTC))


def by_slug(answer: dict[str, Any]) -> dict[str, dict[str, Any]]:
    return {r["slug"]: r for r in answer["recommendations"]}


def test_recommend_cards_without_spending_ranks_on_bonus_and_fee_and_says_so(people: People, use: Use) -> None:
    answer = use(people.alice, "recommend_cards", country="US", limit=10)
    assert (answer["spend_source"], answer["spend_months"]) == ("none", 0)
    assert "welcome bonus and fee alone" in answer["message"]
    values = [r["first_year_value"] for r in answer["recommendations"]]
    assert values == sorted(values, reverse=True)
    assert all(r["breakdown"]["bonus"] for r in answer["recommendations"])  # not the cards without a fee


def test_recommend_cards_says_how_old_the_offers_are(people: People, use: Use, standing_clock: StandingClock) -> None:
    answer = use(people.alice, "recommend_cards", country="US", limit=10)
    assert "Welcome offers as seen on " in answer["message"]
    assert "they change often" in answer["message"]
    assert all("as seen on " in r["reasons"][0] for r in answer["recommendations"])
    standing_clock.set(datetime(2027, 6, 1, 12, tzinfo=UTC))
    later = use(people.alice, "recommend_cards", country="US", limit=10)
    assert "Welcome offers as seen on " not in later["message"]
    assert all(r["breakdown"]["bonus"] is None for r in later["recommendations"])


def test_recommend_cards_leaves_out_a_card_closed_to_new_applicants(people: People, use: Use) -> None:
    spend = {"groceries": 400, "other": 100}
    answer = use(people.alice, "recommend_cards", country="US", monthly_spend=spend, max_annual_fee=0, limit=10)
    assert "us-citi-custom-cash" not in by_slug(answer)


def test_recommend_cards_says_when_a_card_may_no_longer_be_offered(people: People, use: Use) -> None:
    answer = use(people.alice, "recommend_cards", country="CA", monthly_spend={"other": 2_000}, limit=10)
    reasons = {r["slug"]: r["reasons"] for r in answer["recommendations"]}
    said = [slug for slug, words in reasons.items() if "It is not known whether this card is still offered." in words]
    assert said == ["ca-mbna-alaska-we"]


def test_recommend_cards_counts_spending_in_any_currency(people: People, use: Use) -> None:
    spend = {"groceries": 500, "other": "1000"}
    answer = use(
        people.alice,
        "recommend_cards",
        country="uk",
        monthly_spend=spend,
        spend_currency="gbp",
        goal_program="british-airways-club",
        limit=10,
    )
    card = by_slug(answer)[AVIOS]
    assert answer["spend_source"] == "argument"
    assert card["goal_points_per_year"] == 27_000  # 18,000 pounds at 1.5
    assert card["breakdown"]["earn"] == pytest.approx(27_000 * 0.013 / read_dollars("GBP"), abs=0.01)
    assert card["breakdown"]["bonus"] is None
    assert "is history (seen on 11 Jan 2024)" in card["reasons"][0]  # an offer of that age is not counted
    assert answer["valuation_as_of"] == "2026-03-21"


def test_recommend_cards_says_when_a_bonus_is_unknown_or_out_of_reach(people: People, use: Use) -> None:
    small = use(people.alice, "recommend_cards", country="GB", monthly_spend={"other": 100}, limit=10)
    unknown = [r for r in small["recommendations"] if r["breakdown"]["bonus"] is None]
    assert unknown
    first = {r["slug"]: r["reasons"][0] for r in unknown}
    past = first.pop("uk-barclaycard-avios")
    assert past.startswith("No current welcome offer is known; the last one, 5,000 Avios for 1,000 GBP")
    assert past.endswith("is history (seen on 11 Jan 2024). It is not counted.")
    first.pop(AVIOS, None)
    assert set(first.values()) == {"No welcome bonus is known; none is counted."}
    assert "without a known welcome bonus" in small["message"]


def test_recommend_cards_ranks_one_category_by_its_return(people: People, use: Use) -> None:
    answer = use(people.alice, "recommend_cards", country="US", category="groceries", limit=3)
    assert answer["recommendations"][0]["slug"] == "us-amex-gold"
    assert any("groceries" in reason for reason in answer["recommendations"][0]["reasons"])


def test_recommend_cards_never_values_canadian_points_like_american_ones(people: People, use: Use) -> None:
    answer = use(people.alice, "recommend_cards", country="CA", category="groceries", limit=10)
    assert "ca-amex-cobalt" not in by_slug(answer)  # nobody values them, and those of the US are other points


def test_recommend_cards_reckons_a_bonus_with_all_spending_even_for_one_category(people: People, use: Use) -> None:
    asked = {"country": "US", "category": "dining", "limit": 10}
    enough = by_slug(use(people.alice, "recommend_cards", **asked, monthly_spend={"dining": 100, "other": 1_700}))
    assert enough[PREFERRED]["breakdown"]["bonus"] > 0
    assert enough[PREFERRED]["breakdown"]["earn"] < enough[PREFERRED]["breakdown"]["bonus"]
    little = by_slug(use(people.alice, "recommend_cards", **asked, monthly_spend={"dining": 100, "other": 500}))
    assert little[PREFERRED]["breakdown"]["bonus"] == 0


def test_recommend_cards_leaves_out_held_cards_and_what_they_already_earn(people: People, use: Use) -> None:
    asked = {"country": "CA", "monthly_spend": {"groceries": 1000}, "spend_currency": "CAD", "limit": 10}
    before = by_slug(use(people.alice, "recommend_cards", **asked))
    use(people.alice, "add_card", card="ca-td-aeroplan-vip")
    after = by_slug(use(people.alice, "recommend_cards", **asked))
    assert "ca-td-aeroplan-vip" in before
    assert "ca-td-aeroplan-vip" not in after
    shared = (set(before) & set(after)).pop()
    assert (after[shared]["breakdown"]["earn"] or 0) <= (before[shared]["breakdown"]["earn"] or 0)
    assert "ca-td-aeroplan-vip" in by_slug(use(people.charlie, "recommend_cards", **asked))
    use(people.alice, "add_card", card=PREFERRED)
    held = by_slug(use(people.alice, "recommend_cards", country="US", category="dining", include_held=True, limit=10))
    assert held[PREFERRED]["breakdown"]["bonus"] == 0


def test_recommend_cards_follows_points_to_the_goal(people: People, use: Use) -> None:
    answer = use(people.alice, "recommend_cards", goal_program="flying blue", country="US", limit=10)
    words = " ".join(reason for r in answer["recommendations"] for reason in r["reasons"])
    assert "Points move to" in words
    assert use(people.alice, "recommend_cards", goal_program="zzzz")["status"] == "not_found"


def test_recommend_cards_shows_free_accounts_three(people: People, use: Use) -> None:
    answer = use(people.bob, "recommend_cards", limit=10)
    assert len(answer["recommendations"]) == 3
    assert answer["total_found"] > 100
    assert len(use(people.alice, "recommend_cards", limit=10)["recommendations"]) == 10


@pytest.mark.parametrize(
    ("spend", "field"),
    [
        ({"beer": 10}, "monthly_spend.beer"),
        ({"dining": -1}, "monthly_spend.dining"),
        ({"dining": "lots"}, "monthly_spend.dining"),
        ({"dining": True}, "monthly_spend.dining"),
    ],
)
def test_recommend_cards_names_a_bad_amount(people: People, use: Use, spend: dict[str, Any], field: str) -> None:
    refused = use(people.alice, "recommend_cards", monthly_spend=spend)
    assert (refused["status"], refused["errors"][0]["field"]) == ("invalid", field)


def test_recommend_cards_has_no_data_for_a_country_without_cards(people: People, use: Use) -> None:
    nothing = use(people.alice, "recommend_cards", country="FR")
    assert (nothing["status"], nothing["missing"]) == ("no_data", ["cards"])


def test_recommend_cards_ranks_points_nobody_values_last(people: People, use: Use) -> None:
    asked = {"query": "avion"}
    slugs = {c["slug"] for c in use(people.alice, "search_card_catalog", **asked)["cards"]}
    answer = use(people.alice, "recommend_cards", country="CA", limit=10)
    assert slugs
    assert not slugs & set(by_slug(answer))
