"""Transfer partners, paths, bonuses and sales, called through the gate."""

import pytest

from shared import clock
from shared.domain.dates import format_iso_day
from shared.reference.load import reference
from tests.mcp_server.tools.conftest import Use
from tests.support.people import People
from tests.support.settings_and_clock import StandingClock


def test_list_transfer_partners_names_where_points_go(people: People, use: Use) -> None:
    answer = use(people.bob, "list_transfer_partners", program="amex membership rewards")
    assert answer["status"] == "ok"
    assert answer["program"] == "amex-membership-rewards"
    by = {p["program"]: p for p in answer["partners"]}
    assert (by["cathay-asia-miles"]["ratio_from"], by["cathay-asia-miles"]["ratio_to"]) == (5, 4)
    assert "etihad-guest" not in by
    assert by["flying-blue"]["verified_on"] == "2026-09-24"  # the day of its page
    assert by["flying-blue"]["source_url"]


def test_list_transfer_partners_names_where_points_come_from(people: People, use: Use) -> None:
    answer = use(people.bob, "list_transfer_partners", program="flying-blue", direction="to")
    assert {"amex-membership-rewards", "bilt-rewards"} <= {p["program"] for p in answer["partners"]}


def test_list_transfer_partners_asks_when_a_name_is_shared(people: People, use: Use) -> None:
    answer = use(people.bob, "list_transfer_partners", program="avios")
    assert answer["status"] == "candidates"
    assert len(answer["candidates"]) == 6


@pytest.mark.spec("s4.4.find_transfer_paths.params", "s4.4.find_transfer_paths.result")
def test_find_transfer_paths_tells_the_exact_source_points(people: People, use: Use) -> None:
    answer = use(
        people.bob,
        "find_transfer_paths",
        from_program="amex-membership-rewards",
        target_program="cathay-asia-miles",
        points_needed=50_000,
    )
    best = answer["paths"][0]
    assert best["source_points"] == 63_000
    assert best["delivered_points"] == 50_400
    assert best["leftover"] == 400
    assert best["hops"] == 1
    assert answer["total_found"] == len(answer["paths"])
    assert (answer["from_program"], answer["target_program"]) == ("amex-membership-rewards", "cathay-asia-miles")
    steps = {step["to_program"] for path in answer["paths"] for step in path["steps"]}
    assert set(answer["names"]) == steps | {"amex-membership-rewards", *answer["dead_ends"]}
    assert not steps & set(answer["dead_ends"])
    assert "emirates-skywards" in answer["dead_ends"]


@pytest.mark.spec("s4.4.find_transfer_paths.hops")
def test_find_transfer_paths_limits_hops_to_three(people: People, use: Use) -> None:
    ask = {"from_program": "amex-membership-rewards", "target_program": "vueling-club"}
    counts = [use(people.bob, "find_transfer_paths", max_hops=n, **ask).get("total_found", 0) for n in (1, 2, 3)]
    assert counts == sorted(counts)
    assert use(people.bob, "find_transfer_paths", max_hops=4, **ask)["status"] == "invalid"
    assert use(people.bob, "find_transfer_paths", **ask)["total_found"] == counts[2]


def test_find_transfer_paths_without_a_way_is_no_data(people: People, use: Use) -> None:
    answer = use(
        people.bob, "find_transfer_paths", from_program="delta-skymiles", target_program="american-airlines-aadvantage"
    )
    assert answer["status"] == "no_data"
    assert answer["missing"] == ["transfer path"]


@pytest.mark.spec("s4.3.whats_on_sale_category", "s4.3.whats_on_sale_free", "s4.3.whats_on_sale_returns")
def test_whats_on_sale_lists_only_what_runs(people: People, use: Use, standing_clock: StandingClock) -> None:
    from datetime import UTC, datetime

    nothing = use(people.bob, "whats_on_sale", category="transfer")
    assert nothing["status"] == "ok"
    standing_clock.set(datetime(2026, 4, 30, 12, tzinfo=UTC))
    use(people.bob, "update_points_balance", program="chase-ultimate-rewards", balance=10_000)
    answer = use(people.bob, "whats_on_sale", category="transfer")
    ihg = next(b for b in answer["transfer_bonuses"] if b["to_program"] == "ihg-one-rewards")
    assert (ihg["bonus_percent"], ihg["days_left"]) == (70, 0)
    assert answer["for_your_balances"] == ["chase-ultimate-rewards"]
    assert answer["points_sales"] == []


def test_whats_on_sale_says_how_old_the_newest_list_of_offers_is(people: People, use: Use) -> None:
    answer = use(people.bob, "whats_on_sale")
    assert answer["transfer_bonuses"] == []
    rows = reference().rows("transfer_bonuses.csv")
    assert answer["message"] == (
        "Nothing known is running today. The newest list of offers is of"
        f" {format_iso_day(max(row.as_of for row in rows if row.as_of))}; newer ones may exist."
    )
    assert answer["checked_on"] == max(row.as_of for row in rows if row.audited_on)


def test_the_day_of_a_check_is_null_where_a_route_was_never_checked(people: People, use: Use) -> None:
    answer = use(people.bob, "find_transfer_paths", from_program="citi", target_program="choice privileges")
    assert any(step["unaudited"] for path in answer["paths"] for step in path["steps"])
    assert answer["checked_on"] is None


def test_whats_on_sale_refuses_an_unknown_category_and_names_the_known(people: People, use: Use) -> None:
    answer = use(people.bob, "whats_on_sale", category="shoes")
    assert answer["status"] == "invalid"
    assert answer["errors"][0]["expected"] == "transfer, points or all"


def test_whats_on_sale_tells_past_bonuses_with_their_days_and_forecasts_nothing(people: People, use: Use) -> None:
    patterns = use(people.bob, "whats_on_sale")["past_patterns"]
    assert patterns
    for one in patterns:
        assert len(one["bonuses"]) >= 2
        assert all((b["starts_on"] or b["ends_on"]) <= clock.today().isoformat() for b in one["bonuses"])
        assert "Past bonuses do not announce the next." in one["pattern"]
    assert use(people.bob, "whats_on_sale", category="points")["past_patterns"] == []


def test_list_transfer_partners_counts_all_partners_where_only_those_with_a_bonus_are_listed(
    people: People, use: Use
) -> None:
    every = use(people.alice, "list_transfer_partners", program="amex-membership-rewards")
    answer = use(people.alice, "list_transfer_partners", program="amex-membership-rewards", bonus_only=True)
    running = [p for p in every["partners"] if p["bonus"]]
    assert [p["program"] for p in answer["partners"]] == [p["program"] for p in running]
    count = f"{len(every['partners'])} programmes known here, among them: "
    assert count in answer["message"]


def test_find_transfer_paths_says_which_way_is_instant_where_the_cheapest_is_not(people: People, use: Use) -> None:
    slow = use(people.alice, "find_transfer_paths", from_program="marriott", target_program="united")
    assert all(p["slowest_posting_time"] != "instant" for p in slow["paths"])
    assert "None of them is instant, so a seat may be gone in the meantime." in slow["message"]
    fast = use(people.alice, "find_transfer_paths", from_program="chase-ultimate-rewards", target_program="united")
    assert fast["paths"][0]["slowest_posting_time"] == "instant"
    assert "instant" not in fast["message"]
