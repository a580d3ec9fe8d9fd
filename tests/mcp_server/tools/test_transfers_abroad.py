"""Points of banks outside the United States: where they go, under which of several ratios, and what is in doubt."""

from typing import Any

import pytest

from tests.mcp_server.tools.conftest import Use
from tests.support.people import People


def list_ratios(use: Use, who: Any, program: str, **given: Any) -> dict[str, tuple[float, float]]:
    partners = use(who, "list_transfer_partners", program=program, **given)["partners"]
    return {p["program"]: (p["ratio_from"], p["ratio_to"]) for p in partners}


@pytest.mark.parametrize(
    ("program", "partner", "ratio"),
    [
        ("Livelo", "gol-smiles", (1, 1)),
        ("Livelo", "latam-pass", (1, 1)),
        ("Esfera", "iberia-club", (2, 1)),
        ("HDFC", "singapore-krisflyer", (1, 1)),
        ("HDFC Reward Points", "british-airways-club", (2, 1)),
        ("Axis EDGE Miles", "singapore-krisflyer", (1, 2)),
        ("Axis EDGE Miles", "finnair-plus", (2, 1)),
        ("Amex India", "marriott-bonvoy", (1, 1)),
        ("DBS Points", "singapore-krisflyer", (1, 2)),
        ("UNI$", "cathay-asia-miles", (1, 2)),
        ("Amex Hong Kong", "cathay-asia-miles", (18, 1)),
        ("Rakuten Points", "ana-mileage-club", (2, 1)),
        ("Payback Punkte", "lufthansa-miles-and-more", (1, 1)),
        ("Westpac Altitude", "virgin-australia-velocity", (3, 1)),
    ],
)
def test_list_transfer_partners_knows_banks_of_many_countries(
    people: People, use: Use, program: str, partner: str, ratio: tuple[float, float]
) -> None:
    assert list_ratios(use, people.bob, program)[partner] == ratio


def test_list_transfer_partners_asks_which_of_two_currencies_of_a_bank(people: People, use: Use) -> None:
    answer = use(people.bob, "list_transfer_partners", program="Axis EDGE")
    assert {c["program"] for c in answer["candidates"]} == {"axis-edge-miles", "axis-edge-rewards"}


def test_list_transfer_partners_counts_the_lowest_ratio_until_a_card_decides(people: People, use: Use) -> None:
    fewer = list_ratios(use, people.bob, "Axis EDGE Reward Points")["singapore-krisflyer"]
    more = list_ratios(use, people.bob, "Axis EDGE Reward Points", cards=["in-axis-magnus-burgundy"])
    assert (fewer, more["singapore-krisflyer"]) == ((5, 2), (5, 4))
    assert list_ratios(use, people.bob, "HSBC RewardCash")["cathay-asia-miles"] == (1, 10)


def test_find_transfer_paths_counts_no_route_whose_ratio_was_not_seen(people: People, use: Use) -> None:
    doubtful = use(people.bob, "list_transfer_partners", program="OCBC Rewards")
    ratios = {r["program"]: (r["ratio_from"], r["ratio_to"]) for r in doubtful["doubtful"]}
    assert ratios["cathay-asia-miles"] == (None, None)  # that of KrisFlyer stood there once, and was too good
    assert "Not counted, because in doubt: " in doubtful["message"]
    assert list(list_ratios(use, people.bob, "OCBC Rewards")) == ["singapore-krisflyer"]
    path = use(people.bob, "find_transfer_paths", from_program="UNI$", target_program="KrisFlyer", points_needed=9_000)
    assert path["paths"][0]["source_points"] == 5_000


def test_update_points_balance_keeps_points_of_a_country(people: People, use: Use) -> None:
    def keep(**given: Any) -> str:
        return str(use(people.bob, "update_points_balance", balance=1, **given)["balance"]["program"])

    assert keep(program="amex-membership-rewards", country="IN") == "amex-membership-rewards-in"
    assert keep(program="citi-thankyou-rewards", country="sg") == "citi-thankyou-rewards-sg"
    assert keep(program="", other_name="Livelo") == "livelo"
    assert keep(program="", other_name="Maharaja Points") == "air-india-maharaja-club"
    refused = use(people.bob, "update_points_balance", program="citi-thankyou-rewards", country="DE", balance=1)
    assert refused["errors"][0]["field"] == "country"


def test_points_of_a_bank_are_those_of_the_country_a_person_holds_or_lives_in(people: People, use: Use) -> None:
    asked, named, wrong = "amex-membership-rewards", "American Express Membership Rewards (US)", []
    uk = f"{asked}-uk"
    steps = [
        ("nothing is known", None, {asked: asked, named: asked}),
        ("home", ("update_profile", {"country": "DE"}), {asked: f"{asked}-de", named: asked, uk: uk}),
        ("held", ("update_points_balance", {"program": asked, "country": "GB"}), {asked: uk, named: asked}),
        ("two held", ("update_points_balance", {"program": asked}), {asked: asked}),
    ]
    for step, change, meant in steps:
        if change:
            tool, given = change
            use(people.bob, tool, **given | ({"balance": 85_000} if "program" in given else {}))
        for said, slug in meant.items():
            partners = use(people.bob, "list_transfer_partners", program=said)["program"]
            path = use(people.bob, "find_transfer_paths", from_program=said, target_program="flying-blue")
            wrong += [(step, said, got) for got in (partners, path["from_program"]) if got != slug]
    assert wrong == []
