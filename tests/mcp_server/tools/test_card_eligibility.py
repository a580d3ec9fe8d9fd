"""Whom issuers refuse, through the gate: what cannot be had stands below with its day, and a year's plan for two."""

from datetime import UTC, date, datetime
from typing import Any

import pytest

from tests.mcp_server.tools.conftest import Use
from tests.support.people import People
from tests.support.settings_and_clock import StandingClock

FIVE = {
    "us-amex-gold": "2025-03-02",
    "us-citi-double-cash": "2025-06-10",
    "us-capital-one-venture-x": "2025-09-15",
    "us-bofa-premium-rewards": "2026-02-01",
    "us-wells-fargo-autograph": "2026-05-05",
}
SPEND = {"other": 3_000, "dining": 600}


@pytest.fixture(autouse=True)
def november(standing_clock: StandingClock) -> None:
    """The day these offers were gathered: they age, so the day matters."""
    standing_clock.set(datetime(2026, 11, 22, 12, tzinfo=UTC))


def keep_five(use: Use, who: Any) -> None:
    for slug, day in FIVE.items():
        use(who, "add_card", card=slug, opened_on=day)


def test_cards_an_issuer_would_refuse_stand_below_with_the_day_they_can_be_had(people: People, use: Use) -> None:
    free = use(people.charlie, "recommend_cards", country="US", limit=10)
    chase = [r["slug"] for r in free["recommendations"] if r["slug"].startswith("us-chase")]
    assert chase
    assert free["not_yet"] == []
    keep_five(use, people.alice)
    answer = use(people.alice, "recommend_cards", country="US", limit=10)
    assert not [r["slug"] for r in answer["recommendations"] if r["slug"].startswith("us-chase")]
    waiting = {c["slug"]: c for c in answer["not_yet"]}
    assert set(chase) <= waiting.keys()
    assert waiting[chase[0]]["refused"] == "card"
    assert waiting[chase[0]]["free_on"] == "2027-03-03"
    assert "Possible from 3 Mar 2027." in waiting[chase[0]]["reason"]
    assert "Issuers' rules stand against" in answer["message"]
    assert "Chase counts 5 of 5 cards as used; the next one leaves on 3 Mar 2027." in answer["message"]
    slot = next(s for s in answer["slots"] if s["rule"] == "chase-5-24")
    assert (slot["open"], slot["opens_on"][:2]) == (0, ["2027-03-03", "2027-06-11"])


def test_a_bonus_that_was_paid_counts_no_more_and_its_return_is_told(people: People, use: Use) -> None:
    held = {"opened_on": "2022-01-05", "closed_on": "2024-01-05", "bonus_status": "earned"}
    use(people.alice, "add_card", card="us-chase-sapphire-preferred", bonus_earned_on="2022-04-01", **held)
    use(people.alice, "add_card", card="us-citi-aadvantage-platinum", bonus_earned_on="2023-04-01", **held)
    answer = use(people.alice, "recommend_cards", country="US", limit=10)
    assert not {"us-citi-aadvantage-platinum", "us-chase-sapphire-preferred"} & {
        r["slug"] for r in answer["recommendations"]
    }
    again = {b["slug"]: b["free_on"] for b in answer["bonuses_again"]}
    assert again == {"us-citi-aadvantage-platinum": "2027-04-02", "us-chase-sapphire-preferred": None}
    fewer = use(people.alice, "recommend_cards", country="GB", limit=10)
    assert fewer["slots"] == []


def test_a_british_card_of_american_express_takes_the_bonus_of_others_but_not_of_another_family(
    people: People, use: Use
) -> None:
    use(people.alice, "add_card", card="uk-amex-nectar", opened_on="2024-01-05", closed_on="2025-12-31")
    answer = use(people.alice, "recommend_cards", country="GB", limit=10)
    told = {r["slug"]: (r["refused"], r["free_on"]) for r in answer["recommendations"]}
    assert told.get("uk-amex-preferred-gold", ("bonus", "2028-01-01")) == ("bonus", "2028-01-01")
    assert told.get("uk-amex-platinum", (None, None)) == (None, None)


def test_a_plan_for_two_takes_one_bonus_after_another_within_the_spending(people: People, use: Use) -> None:
    keep_five(use, people.alice)
    use(people.alice, "add_card", card="us-amex-delta-gold", member="Sam", opened_on="2024-01-05", custom=False)
    asked = {"country": "US", "plan_months": 12, "plan_with_member": "sam"}
    answer = use(people.alice, "recommend_cards", **asked, monthly_spend=SPEND)
    steps = answer["bonus_plan"]
    assert answer["message"].startswith("Plan for 12 months within 3,600 USD a month: 22 Nov 2026 ")
    assert len(answer["message"]) < 500
    assert {s["member"] for s in steps} == {None, "Sam"}
    assert [s["open_on"] for s in steps[1:]] >= [s["spent_by"] for s in steps[:-1]]
    assert all(s["open_on"] >= "2027-03-03" for s in steps if "chase" in s["slug"] and s["member"] is None)
    assert not [s for s in steps if s["member"] == "Sam" and s["slug"] == "us-amex-delta-gold"]
    without = use(people.alice, "recommend_cards", **asked)
    assert without["bonus_plan"] == []
    assert "A plan needs what you spend a month" in without["message"]


def test_an_open_bonus_is_spent_for_before_the_plan_begins(people: People, use: Use) -> None:
    open_bonus = {"spend_requirement": 6_000, "spend_deadline_on": "2027-02-01", "bonus_status": "pending"}
    use(people.alice, "add_card", card="us-amex-platinum", opened_on="2026-11-01", **open_bonus)
    answer = use(people.alice, "recommend_cards", country="US", plan_months=6, monthly_spend=SPEND)
    assert date.fromisoformat(answer["bonus_plan"][0]["open_on"]) == date(2027, 1, 22)


def test_categories_go_by_their_everyday_names(people: People, use: Use) -> None:
    named = use(people.alice, "recommend_cards", country="US", category="Taxes", monthly_spend={"taxes": 500})
    plain = use(people.alice, "recommend_cards", country="US", category="tax", monthly_spend={"tax": 500})
    assert named["status"] == "ok"
    assert named["recommendations"] == plain["recommendations"]
    twice = use(people.alice, "recommend_cards", monthly_spend={"dining": 5, "restaurants": 7})
    assert (twice["status"], "names a category twice" in twice["message"]) == ("invalid", True)


def test_where_an_issuer_refuses_every_card_the_first_words_say_so_and_from_when(people: People, use: Use) -> None:
    keep_five(use, people.alice)
    answer = use(people.alice, "recommend_cards", country="US", goal_program="chase-ultimate-rewards")
    assert {r["refused"] for r in answer["recommendations"]} == {"card"}
    assert answer["message"].startswith("Issuers' rules stand against each of ")
    assert "today. First from 3 Mar 2027: " in answer["message"]
    assert len(answer["message"]) < 500


def test_one_large_purchase_counts_towards_the_bonus_of_a_card_that_it_would_open(people: People, use: Use) -> None:
    asked = {"country": "US", "category": "tax", "limit": 10}
    answer = use(people.alice, "recommend_cards", purchase_amount=9000, **asked)
    reached = [r for r in answer["recommendations"] if r["welcome_offer"] and r["welcome_offer"]["spend"]]
    assert reached
    for card in reached:
        within = card["welcome_offer"]["spend"] <= 9000
        assert card["welcome_offer"]["reachable"] == ("yes" if within else "no"), card["name"]
        assert bool(card["breakdown"]["bonus"]) == within, card["name"]
    values = [r["first_year_value"] for r in answer["recommendations"]]
    assert values == sorted(values, reverse=True)
    assert "A fee for paying tax by card is not known and not counted." in answer["message"]
    small = use(people.alice, "recommend_cards", purchase_amount=100, **asked)
    assert small["recommendations"][0]["first_year_value"] < answer["recommendations"][0]["first_year_value"]
