"""Transfer ratios that depend on the card or the day, as a user reads them."""

from datetime import UTC, datetime
from typing import Any

import pytest

from mcp_server.toolkit.context import Caller
from tests.mcp_server.tools.conftest import Use
from tests.support.people import People
from tests.support.settings_and_clock import StandingClock

BY_CARD = "1:1 with Chase Sapphire Reserve; 4:3 with Ink Business Preferred or Chase Sapphire Preferred"


def find_way(use: Use, who: Caller, source: str, target: str, needed: int, **more: Any) -> dict[str, Any]:
    answer = use(
        who,
        "find_transfer_paths",
        from_program=source,
        target_program=target,
        points_needed=needed,
        max_hops=1,
        **more,
    )
    assert answer["status"] == "ok", answer
    return {**answer["paths"][0], "message": answer["message"]}


def test_find_transfer_paths_counts_the_lowest_ratio_and_names_the_better_one(people: People, use: Use) -> None:
    way = find_way(use, people.bob, "chase", "hyatt", 30_000)
    assert (way["source_points"], way["delivered_points"]) == (40_000, 30_000)
    assert BY_CARD in way["message"]
    assert "Counted at 4:3, the lowest, because no card is known that decides it." in way["message"]
    rates = way["steps"][0]["ratios_by_card"]
    assert [(r["cards"], r["ratio_from"], r["ratio_to"]) for r in rates] == [
        (["us-chase-sapphire-reserve"], 1.0, 1.0),
        (["us-chase-ink-preferred", "us-chase-sapphire-preferred"], 4.0, 3.0),
    ]


@pytest.mark.parametrize(
    ("cards", "points"),
    [
        (["us-chase-sapphire-preferred"], 40_000),
        (["us-chase-sapphire-reserve"], 30_000),
        (["us-chase-sapphire-preferred", "us-chase-sapphire-reserve"], 30_000),
        (["us-chase-freedom-unlimited"], 40_000),
    ],
)
def test_find_transfer_paths_counts_the_ratio_of_saved_cards(
    people: People, use: Use, cards: list[str], points: int
) -> None:
    for card in cards:
        use(people.bob, "add_card", card=card)
    assert find_way(use, people.bob, "chase", "hyatt", 30_000)["source_points"] == points


def test_find_transfer_paths_never_counts_one_to_one_for_sapphire_preferred(people: People, use: Use) -> None:
    use(people.bob, "add_card", card="us-chase-sapphire-preferred")
    way = find_way(use, people.bob, "chase", "hyatt", 30_000)
    assert "Counted at 4:3, for Chase Sapphire Preferred." in way["message"]
    assert way["effective_ratio"] == 0.75


def test_find_transfer_paths_takes_the_cards_of_the_question_before_the_saved(people: People, use: Use) -> None:
    use(people.bob, "add_card", card="us-chase-sapphire-preferred")
    way = find_way(use, people.bob, "chase", "hyatt", 30_000, cards=["Chase Sapphire Reserve"])
    assert way["source_points"] == 30_000
    assert find_way(use, people.bob, "chase", "hyatt", 30_000, cards=[])["source_points"] == 40_000


def test_find_transfer_paths_asks_which_card_a_loose_name_means(people: People, use: Use) -> None:
    asked = {"from_program": "chase", "target_program": "hyatt", "cards": ["sapphire"]}
    answer = use(people.bob, "find_transfer_paths", **asked)
    assert answer["status"] == "candidates"
    assert "saved" not in answer["message"]


def test_find_transfer_paths_forgets_a_closed_card(people: People, use: Use) -> None:
    use(people.bob, "add_card", card="us-chase-sapphire-reserve", opened_on="2020-01-01", closed_on="2026-01-01")
    assert find_way(use, people.bob, "chase", "hyatt", 30_000)["source_points"] == 40_000


def test_find_transfer_paths_uses_the_ratio_of_its_day(people: People, use: Use, standing_clock: StandingClock) -> None:
    for day, points in (
        (datetime(2026, 9, 30, 12, tzinfo=UTC), 30_000),
        (datetime(2026, 10, 2, 12, tzinfo=UTC), 40_000),
    ):
        standing_clock.set(day)
        assert find_way(use, people.bob, "chase", "hyatt", 30_000)["source_points"] == points


def test_find_transfer_paths_from_citi_to_choice_by_card_and_day(
    people: People, use: Use, standing_clock: StandingClock
) -> None:
    premium, basic = {"cards": ["us-citi-strata-premier"]}, {"cards": ["us-citi-double-cash"]}
    way = find_way(use, people.bob, "citi", "choice", 30_000, **premium)
    assert way["source_points"] == 20_000
    assert "Counted at 2:3, for Citi Strata Premier." in way["message"]
    assert find_way(use, people.bob, "citi", "choice", 30_000, **basic)["source_points"] == 29_000
    assert find_way(use, people.bob, "citi", "choice", 30_000)["source_points"] == 29_000
    standing_clock.set(datetime(2026, 4, 18, 12, tzinfo=UTC))
    assert find_way(use, people.bob, "citi", "choice", 30_000, **premium)["source_points"] == 15_000


def test_a_route_known_for_other_cards_alone_is_not_counted_for_these(people: People, use: Use) -> None:
    """Malaysia Airlines is listed for the Strata Premier and Elite."""
    for cards, reached in (([], True), (["us-citi-strata-premier"], True), (["us-citi-double-cash"], False)):
        partners = use(people.bob, "list_transfer_partners", program="citi", cards=cards)["partners"]
        assert ("malaysia-airlines-enrich" in {p["program"] for p in partners}) is reached, cards


def test_a_detour_is_told_with_the_direct_route_that_is_in_doubt(people: People, use: Use) -> None:
    for target, in_doubt in (("finnair", True), ("emirates", False)):
        told = use(people.bob, "find_transfer_paths", from_program="amex uk", target_program=target)
        assert ("A direct one is in doubt, so it is not counted." in told["message"]) is in_doubt


def test_list_transfer_partners_says_which_cards_give_which_ratio(people: People, use: Use) -> None:
    def hyatt(**more: Any) -> dict[str, Any]:
        answer = use(people.bob, "list_transfer_partners", program="chase", **more)
        assert BY_CARD in answer["message"]
        return next(p for p in answer["partners"] if p["program"] == "world-of-hyatt")

    unknown = hyatt()
    assert (unknown["ratio_from"], unknown["ratio_to"]) == (4.0, 3.0)
    assert len(unknown["ratios_by_card"]) == 2
    reserve = hyatt(cards=["us-chase-sapphire-reserve"])
    assert (reserve["ratio_from"], reserve["ratio_to"]) == (1.0, 1.0)


def test_list_transfer_partners_of_citi_sums_up_that_all_depend_on_the_card(people: People, use: Use) -> None:
    answer = use(people.bob, "list_transfer_partners", program="citi")
    assert "the ratio depends on the card (ratios_by_card); counted is the lowest" in answer["message"]
    by = {p["program"]: p for p in answer["partners"]}
    assert (by["flying-blue"]["ratio_from"], by["flying-blue"]["ratio_to"]) == (10.0, 7.0)
    use(people.bob, "add_card", card="us-citi-strata-premier")
    answer = use(people.bob, "list_transfer_partners", program="citi")
    assert "counted is that of Citi Strata Premier" in answer["message"]
    by = {p["program"]: p for p in answer["partners"]}
    assert (by["flying-blue"]["ratio_from"], by["flying-blue"]["ratio_to"]) == (1.0, 1.0)


def test_list_transfer_partners_leaves_out_what_has_ended(people: People, use: Use) -> None:
    def partners(program: str) -> set[str]:
        return {p["program"] for p in use(people.bob, "list_transfer_partners", program=program)["partners"]}

    assert "emirates-skywards" not in partners("chase")
    assert "etihad-guest" not in partners("amex")
    assert not {"aer-lingus-aerclub", "british-airways-club"} & partners("citi")


@pytest.mark.parametrize(
    ("source", "target", "needed", "sent"),
    [
        ("marriott", "united", 30_000, 60_000),  # 3:1, and 10,000 extra for 60,000 points
        ("marriott", "united", 10_000, 30_000),
        ("marriott", "flying blue", 25_000, 60_000),  # 3:1, and 5,000 extra
        ("marriott", "american airlines", 30_000, 90_000),  # no extra
        ("hyatt", "american airlines", 2_000, 5_000),
        ("hyatt", "american airlines", 25_000, 50_000),  # 5:2, and 5,000 extra for 50,000 points
        ("amex", "emirates", 20_000, 25_000),
        ("capital one", "emirates", 30_000, 40_000),
        ("bilt", "hyatt", 30_000, 30_000),
    ],
)
def test_find_transfer_paths_counts_minimums_and_extra_points(
    people: People, use: Use, source: str, target: str, needed: int, sent: int
) -> None:
    assert find_way(use, people.bob, source, target, needed)["source_points"] == sent


def test_find_transfer_paths_counts_a_bonus_only_while_it_runs(
    people: People, use: Use, standing_clock: StandingClock
) -> None:
    plain = find_way(use, people.bob, "amex", "virgin atlantic", 65_000)
    assert (plain["source_points"], plain["bonus_ends_on"]) == (65_000, None)
    standing_clock.set(datetime(2026, 7, 10, 12, tzinfo=UTC))
    boosted = find_way(use, people.bob, "amex", "virgin atlantic", 65_000)
    assert (boosted["source_points"], boosted["bonus_ends_on"]) == (50_000, "2026-07-31")
    words = "Counted with the bonus of 30% to Virgin Atlantic Flying Club, which ends on 31 Jul 2026."
    assert words in boosted["message"]
    assert "bonus" not in plain["message"]


def test_update_points_balance_keeps_membership_rewards_of_each_country_apart(people: People, use: Use) -> None:
    saved = use(people.alice, "update_points_balance", program="amex-membership-rewards", balance=90_000, country="AU")
    assert saved["balance"]["program"] == "amex-membership-rewards-au"
    assert "Australia" in saved["message"]
    wanted = {"target_program": "delta-skymiles", "points_needed": 10_000}  # a partner in the US only
    assert use(people.alice, "compare_transfer_options", **wanted)["status"] == "no_data"
    wanted = {"target_program": "qantas-frequent-flyer", "points_needed": 30_000}
    way = use(people.alice, "compare_transfer_options", **wanted)["options"][0]
    assert (way["from_program"], way["source_points"]) == ("amex-membership-rewards-au", 60_000)
    gone = use(people.alice, "delete_points_balance", program="amex-membership-rewards", country="AU")
    assert gone["removed"] == {"program": "amex-membership-rewards-au", "balance": 90_000}


def test_list_points_balances_names_the_countries_of_membership_rewards(people: People, use: Use) -> None:
    listed = use(people.bob, "list_points_balances", include_supported=True)["supported_programs"]
    countries = {p["program"]: p["countries"] for p in listed}
    assert countries["amex-membership-rewards"] == ["AU", "CA", "DE", "GB", "HK", "IN", "SG", "US"]
    assert countries["flying-blue"] == []
    ours = use(people.bob, "update_points_balance", program="flying-blue", balance=1, country="GB")
    assert ours["balance"]["program"] == "flying-blue"


def test_list_transfer_partners_knows_membership_rewards_by_country(people: People, use: Use) -> None:
    def program(name: str) -> dict[str, Any]:
        return use(people.bob, "list_transfer_partners", program=name)

    assert program("Amex MR")["program"] == "amex-membership-rewards"
    assert program("Amex Australia")["program"] == "amex-membership-rewards-au"
    assert program("american express canada")["program"] == "amex-membership-rewards-ca"
    assert program("amex germany")["program"] == "amex-membership-rewards-de"
    assert program("membership rewards points")["status"] == "candidates"


def test_whats_on_sale_says_which_card_a_bonus_ratio_is_for(
    people: People, use: Use, standing_clock: StandingClock
) -> None:
    standing_clock.set(datetime(2026, 10, 5, 12, tzinfo=UTC))
    offers = use(people.bob, "whats_on_sale", category="transfer")["transfer_bonuses"]
    citi = next(o for o in offers if o["from_program"] == "citi-thankyou-rewards")
    assert "depends on the card" in citi["ratio_note"]
    amex = next(o for o in offers if o["from_program"] == "amex-membership-rewards")
    assert amex["ratio_note"] is None


@pytest.mark.parametrize(
    ("name", "asked"),
    [
        ("find_transfer_paths", {"from_program": "chase", "target_program": "hyatt"}),
        ("list_transfer_partners", {"program": "chase"}),
    ],
)
def test_an_answer_that_is_kept_goes_to_those_alone_whose_cards_give_the_same(
    people: People, use: Use, name: str, asked: dict[str, Any]
) -> None:
    use(people.alice, "add_card", card="us-chase-sapphire-reserve")
    lowest, best = use(people.bob, name, **asked), use(people.alice, name, **asked)
    assert lowest != best
    assert (use(people.bob, name, **asked), use(people.alice, name, **asked)) == (lowest, best)
    use(people.bob, "add_card", card="us-chase-sapphire-reserve")
    assert use(people.bob, name, **asked) == best
