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
    assert "is history (seen in May 2026)" in card["reasons"][0]  # an offer of that age is not counted
    assert answer["valuation_as_of"] == "2026-03-21"


def test_recommend_cards_leaves_rent_and_tax_out_until_asked_and_says_what_it_rests_on(
    people: People, use: Use
) -> None:
    sums = {"PY *RENTPAYMENT": 2000, "IRS USATAXPYMT": 1000, "Tesco": 100, "Zorblatt": 300}
    rows = [{"date": "2026-10-03", "description": words, "amount": amount} for words, amount in sums.items()]
    use(people.alice, "import_spending_statement", rows=rows, currency="USD")
    plain = use(people.alice, "recommend_cards", country="US", limit=10)
    assert "75% of this spending has no category" in plain["message"]
    assert "About 36,000 USD a year of rent and tax is left out" in plain["message"]
    offers = [r["welcome_offer"] for r in plain["recommendations"] if r["welcome_offer"]]
    assert {o["own_spend"] for o in offers if o["window_months"] == 3} == {1200.0}
    use(people.alice, "add_card", card="us-bilt-blue")
    own = use(people.alice, "recommend_cards", only_held=True, category="rent")
    assert "A fee for paying rent by card is not known" in own["message"]
    asked = use(people.alice, "recommend_cards", country="US", category="rent", include_held=True, limit=10)
    assert "About 12,000 USD a year of tax is left out" in asked["message"]
    assert "A fee for paying rent by card is not known" in asked["message"]
    offers = [r["welcome_offer"] for r in asked["recommendations"] if r["welcome_offer"]]
    assert {o["own_spend"] for o in offers if o["window_months"] == 3} <= {7200.0}
    bilt = next(r for r in asked["recommendations"] if r["slug"].startswith("us-bilt"))
    assert any("on rent bring" in words for words in bilt["reasons"])
    assert any("by everyday spending" in words or "everyday" in words for words in bilt["reasons"])


def test_recommend_cards_says_when_a_bonus_is_unknown_or_out_of_reach(people: People, use: Use) -> None:
    small = use(people.alice, "recommend_cards", country="GB", monthly_spend={"other": 100}, limit=10)
    unknown = [r for r in small["recommendations"] if r["breakdown"]["bonus"] is None]
    assert unknown
    first = {r["slug"]: r["reasons"][0] for r in unknown}
    past = first.pop("uk-barclaycard-avios")
    assert past.startswith("No current welcome offer is known; the last one, 5,000 Avios for 1,000 GBP")
    assert past.endswith("is history (seen on 11 Jan 2024). It is not counted.")
    missing = {
        reason for reason in first.values() if not reason.endswith("is history (seen in May 2026). It is not counted.")
    }
    assert missing == {"Its welcome bonus is unknown; none is counted."}
    assert "without a known welcome bonus" in small["message"]


def test_recommend_cards_ranks_one_category_by_its_return(people: People, use: Use) -> None:
    answer = use(people.alice, "recommend_cards", country="US", category="groceries", limit=3)
    assert answer["recommendations"][0]["slug"] == "us-amex-gold"
    assert any("groceries" in reason for reason in answer["recommendations"][0]["reasons"])


def test_recommend_cards_never_values_canadian_points_like_american_ones(people: People, use: Use) -> None:
    answer = use(people.alice, "recommend_cards", country="CA", category="groceries", limit=10)
    assert "ca-amex-cobalt" not in by_slug(answer)  # no one values them, and those of the US are other points


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


SPEND = {"dining": 500, "groceries": 600, "airfare": 300, "other": 800}
FREEDOM, GOLD = "us-chase-freedom-unlimited", "us-amex-gold"


def test_recommend_cards_puts_cards_that_need_another_card_last(people: People, use: Use) -> None:
    asked = {"goal_program": "hyatt", "country": "US", "monthly_spend": SPEND, "max_annual_fee": 95, "limit": 10}
    first = use(people.alice, "recommend_cards", **asked)
    reach = [r["reaches_goal"] for r in first["recommendations"]]
    assert reach[0] == "alone"
    assert reach == sorted(reach)  # alone before with_another_card
    assert first["recommendations"][0]["welcome_offer"]["reachable"] == "yes"
    assert "USD in the first year, " in first["message"]
    freedom = by_slug(first)[FREEDOM]
    assert {m["slug"] for m in freedom["missing_cards"]} == {PREFERRED, "us-chase-sapphire-reserve"}
    assert freedom["goal_points_per_year"] is None
    said = (
        "Chase Freedom Unlimited points move to World of Hyatt only with Chase Sapphire Preferred or"
        " Chase Sapphire Reserve, none of which you hold; they are counted as cash, 1 US cent each."
    )
    assert said in freedom["reasons"]
    use(people.alice, "add_card", card=PREFERRED)
    with_it = by_slug(use(people.alice, "recommend_cards", **asked))[FREEDOM]
    assert (with_it["reaches_goal"], with_it["missing_cards"]) == ("alone", [])
    assert with_it["goal_points_per_year"] > 0


def test_recommend_cards_values_points_that_move_nowhere_as_cash(people: People, use: Use) -> None:
    asked = {"country": "US", "category": "dining", "max_annual_fee": 0, "limit": 10}
    alone = by_slug(use(people.alice, "recommend_cards", **asked))[FREEDOM]
    assert "100 USD on dining bring 3.00 back." in alone["reasons"]
    use(people.alice, "add_card", card=PREFERRED)
    paired = by_slug(use(people.alice, "recommend_cards", **asked))[FREEDOM]
    assert "100 USD on dining bring 6.00 back." in paired["reasons"]


def test_recommend_cards_knows_credits_or_says_they_are_unknown(people: People, use: Use) -> None:
    cards = by_slug(use(people.alice, "recommend_cards", country="US", category="dining", limit=10))
    gold = cards[GOLD]
    assert (gold["breakdown"]["credits"], gold["credits_not_counted"]) == (0, 120 + 84 + 100 + 120)
    reserve = cards["us-chase-sapphire-reserve"]
    assert reserve["breakdown"]["credits"] == 300
    unknown = [c for c in cards.values() if c["breakdown"]["credits"] is None]
    assert all(c["credits_not_counted"] is None for c in unknown)


def test_recommend_cards_tells_rules_of_issuers_and_counts_the_cards_kept(people: People, use: Use) -> None:
    asked = {"goal_program": "hyatt", "country": "US", "limit": 10}
    before = by_slug(use(people.alice, "recommend_cards", **asked))["us-chase-hyatt"]
    rule = {r["rule"]: r for r in before["issuer_rules"]}["chase-5-24"]
    assert (rule["applies"], rule["count"], rule["since"]) == ("no", 0, "2024-11-22")
    assert rule["source_url"].startswith("https://")
    for number in range(5):
        use(people.alice, "add_card", card=f"House card {number}", custom=True, opened_on="2025-06-01")
    after = by_slug(use(people.alice, "recommend_cards", **asked))["us-chase-hyatt"]
    assert {r["rule"]: r["applies"] for r in after["issuer_rules"]}["chase-5-24"] == "yes"
    told = [r for r in after["reasons"] if r.startswith("You opened 5 cards since 22 Nov 2024: Chase usually declines")]
    assert told


def test_recommend_cards_only_held_names_the_card_to_pay_with(people: People, use: Use) -> None:
    nothing = use(people.alice, "recommend_cards", only_held=True, category="dining")
    assert (nothing["status"], "add_card" in nothing["message"]) == ("no_data", True)
    for card in (PREFERRED, GOLD):
        use(people.alice, "add_card", card=card)
    use(people.alice, "add_card", card="House card", custom=True)
    answer = use(people.alice, "recommend_cards", only_held=True, category="dining", purchase_amount=200)
    first, second = answer["recommendations"]
    assert answer["message"].startswith(
        "Use your American Express Gold Card: 4 Membership Rewards points per USD on dining, about 8.0 cents per USD;"
        " how much of the cap of 50,000 USD a year is used is not known"
    )
    assert "Not compared, as the catalogue lacks them: 1 card." in answer["message"]
    assert (first["slug"], first["held"], first["breakdown"]["fee"]) == (GOLD, True, 0)
    assert (first["purchase"]["points"], first["purchase"]["value"]) == (800, 16)
    assert (second["slug"], second["purchase"]["value"], second["issuer_rules"]) == (PREFERRED, 12, [])


def test_recommend_cards_only_held_counts_what_statements_show_of_a_cap(people: People, use: Use) -> None:
    gold = use(people.alice, "add_card", card=GOLD)["card"]["card_id"]
    use(people.alice, "add_card", card="us-chase-freedom-unlimited")
    lines = [
        {"date": "2026-10-02", "description": "Zed Ltd", "amount": "25000", "category": "groceries"},
        {"date": "2026-10-03", "description": "Zed Ltd", "amount": "-100", "category": "groceries"},
    ]
    use(people.alice, "import_spending_statement", rows=lines, currency="USD", card_id=gold)
    asked = {"only_held": True, "category": "groceries", "purchase_amount": 200}
    answer = use(people.alice, "recommend_cards", **asked)
    best = answer["recommendations"][0]
    assert best["slug"] == GOLD
    assert best["purchase"]["points"] == 100 * 4 + 100 * 1
    cap = {"amount": 25000, "cycle": "year", "used": 24900, "remaining": 100, "statements_until": "2026-10-03"}
    assert best["purchase"]["cap"] == cap
    assert "the cap of 25,000 USD a year is not reached as far as statements to 3 Oct 2026 show" in answer["message"]
    assert "100 USD are left" in answer["message"]


def test_recommend_cards_never_says_to_open_a_card_that_is_held(people: People, use: Use) -> None:
    use(people.alice, "add_card", card=GOLD)
    answer = use(people.alice, "recommend_cards", country="US", category="dining", include_held=True, limit=10)
    assert answer["recommendations"][0]["slug"] == GOLD
    assert answer["message"].startswith(
        f"First of {answer['total_found']} cards: American Express Gold Card, which you hold, about 0 USD in the first"
    )
    assert {r["slug"]: r["held"] for r in answer["recommendations"]}[GOLD] is True
    assert (by_slug(answer)[GOLD]["first_year_value"], by_slug(answer)[GOLD]["welcome_offer"]) == (0, None)


def test_recommend_cards_counts_the_account_holders_cards_alone(people: People, use: Use) -> None:
    for number in range(5):
        opened = {"custom": True, "opened_on": "2025-06-01", "member": "Anna"}
        use(people.alice, "add_card", card=f"House card {number}", **opened)
    use(people.alice, "add_card", card=PREFERRED, member="Anna")
    cards = by_slug(use(people.alice, "recommend_cards", goal_program="hyatt", country="US", limit=10))
    rules = {r["rule"]: r for r in cards["us-chase-hyatt"]["issuer_rules"]}
    assert (rules["chase-5-24"]["applies"], rules["chase-5-24"]["count"]) == ("no", 0)
    assert not any(card["held"] for card in cards.values())
    assert use(people.alice, "recommend_cards", only_held=True, category="dining")["status"] == "no_data"


def test_a_card_that_was_held_says_that_its_bonus_is_in_doubt(people: People, use: Use) -> None:
    card = use(people.alice, "add_card", card="us-amex-gold", opened_on="2021-03-01")["card"]["card_id"]
    use(people.alice, "update_card", card_id=card, closed_on="2023-03-10")
    asked = {"country": "US", "category": "dining", "goal_program": "Amex Membership Rewards"}
    message = use(people.alice, "recommend_cards", **asked)["message"]
    assert "You had it before, so its bonus is in doubt: American Express pays the welcome bonus" in message


def test_recommend_cards_ranks_cards_whose_currency_is_fixed_to_the_dollar(people: People, use: Use) -> None:
    answer = use(people.alice, "recommend_cards", country="AE", monthly_spend={"groceries": 1000}, spend_currency="AED")
    assert {r["slug"] for r in answer["recommendations"]} > {"ae-enbd-skywards-signature"}
    assert "No exchange rate" not in answer["message"]
