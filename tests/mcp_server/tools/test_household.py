"""One household, one purse: what members hold is pooled where the programme allows it, else named and left apart."""

from datetime import timedelta
from typing import Any

import pytest

from shared import clock
from tests.mcp_server.tools.conftest import Use
from tests.mcp_server.tools.test_trip_plans import AMEX, BA, search_arguments, seats
from tests.support.fake_seats import WithSources, live, seat, selling, with_sources
from tests.support.people import People

__all__ = ["live", "with_sources"]

AA = "american-airlines-aadvantage"
WANTED = {"target_program": BA, "points_needed": 300_000}


@pytest.fixture
def household(people: People, use: Use) -> People:
    """210,000 of the holder and 95,000 of Sam where members pool, and 40,000 of Sam where they do not."""
    use(people.alice, "update_points_balance", program=BA, balance=210_000)
    use(people.alice, "update_points_balance", program=BA, balance=95_000, member="Sam")
    use(people.alice, "update_points_balance", program=AA, balance=40_000, member="Sam")
    return people


def test_transfer_options_offer_the_household_pooled(household: People, use: Use) -> None:
    answer = use(household.alice, "compare_transfer_options", **WANTED)
    assert (answer["status"], answer["shortfall"]) == ("ok", 0)
    assert answer["options"][0]["covers_target"] is True
    assert answer["pooled_with"] == [{"program": BA, "member": "Sam", "points": 90_000, "pooling": "yes"}]
    assert "covered with Sam's 90,000 of The British Airways Club, pooled with yours" in answer["message"]


def test_transfer_options_leave_members_alone_where_ones_own_is_enough(household: People, use: Use) -> None:
    answer = use(household.alice, "compare_transfer_options", **WANTED | {"points_needed": 200_000})
    assert (answer["shortfall"], answer["pooled_with"], answer["apart"]) == (0, [], [])
    assert "Sam" not in answer["message"]


def test_points_that_need_no_transfer_go_before_those_that_do(household: People, use: Use) -> None:
    use(household.alice, "update_points_balance", program=AMEX, balance=500_000)
    answer = use(household.alice, "compare_transfer_options", **WANTED)
    assert answer["pooled_with"] == [{"program": BA, "member": "Sam", "points": 90_000, "pooling": "yes"}]
    assert "pooled with yours" in answer["message"]


def test_transfer_options_name_what_a_member_holds_and_cannot_join(household: People, use: Use) -> None:
    use(household.alice, "update_points_balance", program=AA, balance=10_000)
    answer = use(household.alice, "compare_transfer_options", target_program=AA, points_needed=45_000)
    assert (answer["shortfall"], answer["pooled_with"]) == (35_000, [])
    assert answer["apart"] == [{"program": AA, "member": "Sam", "points": 40_000, "pooling": "no"}]
    assert "Sam's 40,000 of American Airlines AAdvantage cannot be joined" in answer["message"]
    assert "They pay for a ticket booked apart." in answer["message"]


def test_transfer_options_count_the_missing_points_of_everybody(household: People, use: Use) -> None:
    answer = use(household.alice, "compare_transfer_options", **WANTED | {"points_needed": 310_000})
    assert answer["shortfall"] == 5_000
    missing = "5,000 are missing even with every balance, Sam's 95,000 of The British Airways Club pooled."
    assert answer["message"].startswith(f"310,000 points of The British Airways Club: {missing}")


def test_a_trip_for_four_is_paid_by_the_household(household: People, use: Use, with_sources: WithSources) -> None:
    source, _ = seats({"points": 75_000, "program": BA, "seats": 4})
    with_sources(source)
    answer = use(household.alice, "plan_trip", **search_arguments(), passengers=4)
    assert answer["best"]["points_total"] == 300_000
    assert answer["best"]["balances_after"] == [{"program": BA, "name": "The British Airways Club", "points": 5_000}]
    assert "Sam's 90,000 of The British Airways Club pooled with yours" in answer["message"]
    assert any("pool Sam's 90,000" in step for step in answer["best"]["steps"])


def test_two_shortfalls_of_one_plan_count_the_same_points_once(
    people: People, use: Use, with_sources: WithSources
) -> None:
    use(people.alice, "update_points_balance", program=AMEX, balance=60_000, country="AU")
    there, _ = seats({"points": 50_000, "program": BA})
    with_sources(there)
    one = use(people.alice, "plan_trip", **search_arguments(), passengers=2)["nearest"]["lacking"]
    assert one == [{"program": BA, "points": 80_000}]


def test_a_member_s_points_are_counted_where_seats_were_seen(
    household: People, use: Use, with_sources: WithSources
) -> None:
    day = clock.today() + timedelta(days=30)
    with_sources(selling("one", seat(day, cabin="economy", points=250_000), seat(day, cabin="economy", program=AA)))
    use(household.alice, "search_all_airlines", origin="LHR", destination="JFK", date=day.isoformat())
    listed = use(household.alice, "list_flights", affordable_only=True)
    assert [f["points"] for f in listed["flights"]] == [250_000]
    assert "Sam's 95,000 of The British Airways Club counted too, pooled with yours." in listed["message"]
    explored = use(household.alice, "explore_destinations", origin="LHR")
    assert explored["destinations"][0]["reachable"] == "direct"
    assert "pooled with yours" in explored["message"]


def test_partner_options_count_the_household(household: People, use: Use) -> None:
    asked: dict[str, Any] = {"origin": "LHR", "destination": "JFK", "cabin": "business", "passengers": 3}
    options = use(household.alice, "get_partner_award_options", **asked)["options"]
    mine = [option for option in options if option["program"] == BA]
    assert all((option["reachable"] == "balance") == (option["points_total"] <= 305_000) for option in mine)


def test_other_accounts_members_are_never_counted(household: People, use: Use) -> None:
    use(household.bob, "update_points_balance", program=BA, balance=900_000, member="Sam")
    assert (
        use(household.alice, "compare_transfer_options", **WANTED | {"points_needed": 400_000})["shortfall"] == 95_000
    )
