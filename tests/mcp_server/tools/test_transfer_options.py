"""Ways to a points target from saved balances, called through the gate."""

import pytest

from mcp_server.toolkit.context import Caller
from shared.reference.load import reference
from tests.mcp_server.tools.conftest import Use
from tests.support.people import People


def _hold(use: Use, who: Caller, **balances: int) -> None:
    for program, balance in balances.items():
        use(who, "update_points_balance", program=program.replace("_", "-"), balance=balance)


@pytest.mark.spec("s4.4.compare_transfer_options.premium")
def test_compare_transfer_options_is_premium_and_wants_a_target(people: People, use: Use) -> None:
    assert use(people.bob, "compare_transfer_options", target_program="BA", points_needed=1)["status"] == "paywall"
    assert use(people.alice, "compare_transfer_options", target_program="BA")["status"] == "invalid"
    assert use(people.alice, "compare_transfer_options", target_program="BA", points_needed=0)["status"] == "invalid"


def test_compare_transfer_options_names_the_cheapest_of_all_in_the_person_s_own_values(
    people: People, use: Use
) -> None:
    _hold(use, people.alice, flying_blue=10_000, capital_one_miles=60_000, amex_membership_rewards=60_000)
    arguments = {"target_program": "flying blue", "points_needed": 50_000}
    answer = use(people.alice, "compare_transfer_options", **arguments)
    costs = [o["cost_cents"] for o in (*answer["options"], *answer["combinations"]) if o["covers_target"]]
    assert f"worth about {min(costs) / 100:,.2f} USD" in answer["message"]
    own = {"program": "amex-membership-rewards", "balance": 60_000, "cents_per_point": 0.5}
    use(people.alice, "update_points_balance", **own)
    answer = use(people.alice, "compare_transfer_options", **arguments)
    assert answer["options"][0]["cost_cents"] == 25_000
    name = reference().programs["amex-membership-rewards"].name
    assert f"The cheapest spends 50,000 of {name}, worth about 250.00 USD." in answer["message"]
    assert "2 of 3 balances can reach it alone" in answer["message"]


@pytest.mark.spec("s4.4.compare_transfer_options.ranking")
def test_compare_transfer_options_ranks_by_what_the_points_are_worth(people: People, use: Use) -> None:
    use(people.alice, "add_card", card="us-citi-strata-premier")
    _hold(use, people.alice, amex_membership_rewards=100_000, citi_thankyou_rewards=100_000, marriott_bonvoy=200_000)
    answer = use(people.alice, "compare_transfer_options", target_program="flying blue", points_needed=50_000)
    alone = [o for o in answer["options"] if o["covers_target"]]
    costs = [o["cost_cents"] for o in alone]
    assert costs == sorted(costs)
    citi = next(o for o in alone if o["from_program"] == "citi-thankyou-rewards" and o["hops"] == 1)
    assert (citi["source_points"], citi["cost_cents"], citi["cents_per_point"]) == (50_000, 85_000.0, 1.7)
    amex = next(o for o in alone if o["from_program"] == "amex-membership-rewards" and o["hops"] == 1)
    assert (amex["cost_cents"], amex["leftover"]) == (100_000.0, 0)
    assert amex["route"]["steps"][0]["source_url"]
    assert answer["shortfall"] == 0
    assert (answer["currency"], answer["valuations_as_of"]) == ("USD", "2026-03-21")


def test_compare_transfer_options_names_balances_that_lead_nowhere(people: People, use: Use) -> None:
    _hold(use, people.alice, amex_membership_rewards=100_000, delta_skymiles=30_000)
    answer = use(people.alice, "compare_transfer_options", target_program="flying blue", points_needed=50_000)
    assert answer["dead_ends"] == [{"program": "delta-skymiles", "points": 30_000}]
    assert (answer["target_program"], answer["points_needed"]) == ("flying-blue", 50_000)
    assert {"delta-skymiles", "flying-blue", "amex-membership-rewards"} <= set(answer["names"])


def test_compare_transfer_options_puts_balances_together_where_none_is_enough(people: People, use: Use) -> None:
    use(people.alice, "add_card", card="us-citi-strata-premier")
    _hold(use, people.alice, flying_blue=10_000, citi_thankyou_rewards=25_500, amex_membership_rewards=30_000)
    answer = use(people.alice, "compare_transfer_options", target_program="flying blue", points_needed=50_000)
    assert not any(o["covers_target"] for o in answer["options"])
    best = answer["combinations"][0]
    assert best["covers_target"] is True
    assert [(p["from_program"], p["source_points"]) for p in best["parts"]] == [
        ("flying-blue", 10_000),
        ("citi-thankyou-rewards", 25_000),
        ("amex-membership-rewards", 15_000),
    ]
    assert best["cost_cents"] == 10_000 * 1.3 + 25_000 * 1.7 + 15_000 * 2.0
    assert answer["shortfall"] == 0


def test_compare_transfer_options_says_how_much_stays_missing(people: People, use: Use) -> None:
    use(people.alice, "add_card", card="us-citi-strata-premier")
    _hold(use, people.alice, flying_blue=10_000, citi_thankyou_rewards=5_500)
    answer = use(people.alice, "compare_transfer_options", target_program="flying blue", points_needed=50_000)
    assert (answer["shortfall"], answer["combinations"]) == (35_000, [])
    held = next(o for o in answer["options"] if o["hops"] == 0)
    assert (held["route"], held["source_points"], held["covers_target"]) == (None, 10_000, False)


def test_compare_transfer_options_uses_the_callers_balances_only(people: People, use: Use) -> None:
    _hold(use, people.charlie, amex_membership_rewards=500_000)
    answer = use(people.alice, "compare_transfer_options", target_program="flying blue", points_needed=1_000)
    assert (answer["status"], answer["missing"]) == ("no_data", ["balances"])
    _hold(use, people.alice, delta_skymiles=90_000)
    none = use(people.alice, "compare_transfer_options", target_program="flying blue", points_needed=1_000)
    assert none["missing"] == ["transfer path"]


def test_compare_transfer_options_counts_the_lowest_ratio_until_a_card_is_known(people: People, use: Use) -> None:
    _hold(use, people.alice, chase_ultimate_rewards=100_000)
    wanted = {"target_program": "world-of-hyatt", "points_needed": 30_000}

    def sent() -> tuple[int, str]:
        way = next(o for o in use(people.alice, "compare_transfer_options", **wanted)["options"] if o["hops"] == 1)
        return way["source_points"], way["route"]["warnings"][0]

    points, words = sent()
    assert points == 40_000
    assert "1:1 with Chase Sapphire Reserve; 4:3 with Ink Business Preferred or Chase Sapphire Preferred" in words
    assert "because no card is known" in words
    use(people.alice, "add_card", card="us-chase-sapphire-reserve")
    points, words = sent()
    assert points == 30_000
    assert "Counted at 1:1, for Chase Sapphire Reserve." in words


def test_compare_transfer_options_names_what_arrives_at_once_where_the_cheapest_does_not(
    people: People, use: Use
) -> None:
    _hold(use, people.alice, marriott_bonvoy=185_000, chase_ultimate_rewards=80_000)
    arguments = {"target_program": "virgin atlantic", "points_needed": 50_000}
    answer = use(people.alice, "compare_transfer_options", **arguments)
    assert "The cheapest spends" in answer["message"]
    assert "of Marriott Bonvoy, worth about" in answer["message"]
    assert "To arrive at once: 50,000 of Chase Ultimate Rewards." in answer["message"]
