"""Progress towards tiers through the gate: reported numbers against what each programme asks."""

from datetime import date, timedelta

import pytest

from shared import clock
from shared.domain import status_tiers
from tests.mcp_server.tools.conftest import Use
from tests.support.people import People

BA, FB = "british-airways-club", "flying-blue"
TOOL = "get_status_progress"


def test_get_status_progress_reckons_the_gap_of_every_tracked_programme(people: People, use: Use) -> None:
    use(people.bob, "set_loyalty_status", program=BA, tier="Bronze", progress=4000)
    use(people.bob, "set_loyalty_status", program=FB, tier="Silver", progress=60, target_tier="Platinum")
    answer = use(people.bob, TOOL)
    ba, fb = answer["progress"]
    left = (date(2027, 3, 31) - clock.today()).days
    gaps = (
        f"The British Airways Club: 3,500 tier points to Silver by 31 Mar 2027 ({left} days left), or 7,500 from"
        " 1 Apr 2027; Bronze is kept for another year. Flying Blue: 420 XP to Platinum; 40 XP to keep Silver. Checked"
    )
    assert answer["message"].startswith(gaps)
    assert (ba["days_left"], ba["keep"]["tier"], ba["keep"]["met"], fb["keep"]["met"]) == (left, "Bronze", True, False)
    assert (ba["next_tier"], ba["required"], ba["reported"], ba["gap"]) == ("Silver", 7_500, 4_000, 3_500)
    assert (ba["metric"], ba["estimated_from_bookings"], ba["bookings_counted"]) == ("tier_points", 0, [])
    assert (fb["next_tier"], fb["target_tier"], fb["required"], fb["gap"]) == ("Gold", "Platinum", 480, 420)
    assert (fb["year_ends_on"], fb["on_track"]) == (None, None)


def test_get_status_progress_knows_when_the_year_ends_and_whether_the_pace_holds(people: People, use: Use) -> None:
    use(people.bob, "set_loyalty_status", program=BA, tier="Bronze", progress=7_400)
    (one,) = use(people.bob, TOOL, program="BA")["progress"]
    ends = status_tiers.find_year_end("1 Apr - 31 Mar", clock.today())
    assert ends is not None
    assert one["year_ends_on"] == ends.isoformat()
    near = use(people.bob, TOOL, program=BA, as_of=ends.isoformat())["progress"][0]
    assert near["on_track"] is (7_400 >= 7_500 * 364 / 365)
    assert any("sectors" in a for a in one["assumptions"])


def test_get_status_progress_does_not_count_a_year_that_is_over(people: People, use: Use) -> None:
    use(people.bob, "set_loyalty_status", program=BA, tier="Bronze", progress=3000, progress_as_of="2020-05-01")
    (one,) = use(people.bob, TOOL, program=BA)["progress"]
    assert (one["reported"], one["gap"], one["on_track"]) == (3_000, None, None)
    assert any("is over" in a for a in one["assumptions"])


def test_get_status_progress_without_a_report_guesses_nothing(people: People, use: Use) -> None:
    use(people.bob, "set_loyalty_status", program=BA, tier="Silver")
    (one,) = use(people.bob, TOOL, program=BA)["progress"]
    assert (one["required"], one["reported"], one["gap"], one["on_track"]) == (20_000, None, None, None)


def test_get_status_progress_of_the_highest_tier_is_what_keeps_it(people: People, use: Use) -> None:
    use(people.bob, "set_loyalty_status", program="world-of-hyatt", tier="Globalist", progress=20)
    (one,) = use(people.bob, TOOL)["progress"]
    assert (one["next_tier"], one["required"], one["gap"], one["metric"]) == (None, 60, 40, "nights")
    assert one["year_ends_on"] == date(clock.today().year, 12, 31).isoformat()


def test_get_status_progress_of_what_is_not_tracked_or_not_known(people: People, use: Use) -> None:
    assert use(people.bob, TOOL)["status"] == "no_data"
    assert use(people.bob, TOOL, program=BA)["status"] == "not_found"
    use(people.bob, "set_loyalty_status", program="aegean-miles-and-bonus", tier="Gold", progress=5)
    answer = use(people.bob, TOOL)
    assert (answer["status"], answer["missing"]) == ("no_data", ["tier thresholds"])


@pytest.mark.parametrize("day", ["0001-01-01", "9999-12-31", "2027-13-01"])
def test_get_status_progress_on_an_impossible_day_is_invalid(people: People, use: Use, day: str) -> None:
    use(people.bob, "set_loyalty_status", program=BA, tier="Silver", progress=1)
    assert use(people.bob, TOOL, as_of=day)["status"] == "invalid"


def test_get_status_progress_shows_nothing_of_another_account(people: People, use: Use) -> None:
    use(people.alice, "set_loyalty_status", program=BA, tier="Silver", progress=5000)
    assert use(people.charlie, TOOL)["status"] == "no_data"


LEG = {"airline": "AF", "origin": "CDG", "destination": "JFK", "cabin_class": "business", "kind": "cash"}


def day(offset: int) -> str:
    return (clock.today() + timedelta(days=offset)).isoformat()


def test_get_status_progress_counts_paid_flights_on_own_airlines_apart_from_what_was_reported(
    people: People, use: Use
) -> None:
    use(people.alice, "set_loyalty_status", program=FB, tier="Silver", progress=60)
    ids = []
    for more in (
        {"departure_date": day(20), "cash_paid": 900},
        {"departure_date": day(27), "cash_paid": 0, "origin": "JFK", "destination": "CDG"},
        {"departure_date": day(20), "cash_paid": 900, "airline": "LH"},
        {"departure_date": day(-20), "cash_paid": 900},
        {"departure_date": day(500), "cash_paid": 900},
        {"departure_date": day(21), "kind": "award", "points_spent": 1},
    ):
        answer = use(people.alice, "add_flight_booking", **LEG | more)
        assert answer["status"] == "ok", answer
        ids.append(answer["booking"]["booking_id"])
    (one,) = use(people.alice, TOOL)["progress"]
    assert (one["reported"], one["estimated_from_bookings"], one["bookings_counted"]) == (60, 60, ids[:2])
    assert one["gap"] == one["required"] - 120
    assert any("taken as credited" in a for a in one["assumptions"])


def test_get_status_progress_counts_a_fare_only_where_it_is_known_without_taxes(people: People, use: Use) -> None:
    use(people.alice, "set_loyalty_status", program=BA, tier="Bronze", progress=0, progress_as_of=day(-1))
    flown = LEG | {"airline": "BA", "origin": "LHR", "departure_date": day(0)}
    use(people.alice, "add_flight_booking", **flown, cash_paid=3000, taxes_currency="GBP")
    (one,) = use(people.alice, TOOL)["progress"]
    assert one["estimated_from_bookings"] == 400
    use(
        people.alice,
        "add_flight_booking",
        **flown,
        cash_paid=3000,
        taxes_paid=500,
        taxes_currency="GBP",
        passengers=2,
        again=True,
    )
    (one,) = use(people.alice, TOOL)["progress"]
    assert one["estimated_from_bookings"] == 400 + 400 + 1500
    assert any("1 of 2 flights" in a for a in one["assumptions"])


def test_get_status_progress_estimates_nothing_without_an_earning_rule(people: People, use: Use) -> None:
    use(people.alice, "set_loyalty_status", program="delta-skymiles", tier="Silver Medallion", progress=5000)
    use(people.alice, "add_flight_booking", **LEG | {"airline": "DL"}, departure_date=day(3), cash_paid=900)
    (one,) = use(people.alice, TOOL)["progress"]
    assert (one["estimated_from_bookings"], one["bookings_counted"]) == (0, [])
    assert any("not known for this programme" in a for a in one["assumptions"])


UNITED = "united-mileageplus"


def test_get_status_progress_of_a_tier_with_two_counters_wants_both(people: People, use: Use) -> None:
    gold = {"program": UNITED, "tier": "Premier Gold"}
    use(people.bob, "set_loyalty_status", **gold, progress=22_000, target_tier="Premier 1K")
    answer = use(people.bob, TOOL)
    (one,) = answer["progress"]
    assert (one["required"], one["gap"], one["on_track"]) == (22_000, 0, None)
    both, alone = one["ways"]
    assert [(c["metric"], c["required"], c["gap"]) for c in both["counters"]] == [("pqp", 22_000, 0), ("pqf", 60, None)]
    assert (both["met"], alone["met"], alone["counters"][0]["gap"]) == (None, False, 6_000)
    assert "60 PQF (not recorded here), or 6,000 PQP to Premier 1K" in answer["message"]
    use(people.bob, "set_loyalty_status", **gold, other_progress={"PQF": 42})
    answer = use(people.bob, TOOL)
    assert "MileagePlus: 18 PQF, or 6,000 PQP to Premier 1K by 31 Dec 2026" in answer["message"]
    assert answer["progress"][0]["on_track"] is False
    use(people.bob, "set_loyalty_status", **gold, other_progress={"pqf": 60})
    answer = use(people.bob, TOOL)
    assert "Premier 1K is reached" in answer["message"]
    assert answer["progress"][0]["on_track"] is True


def test_get_status_progress_of_a_tier_for_life_asks_for_nothing(people: People, use: Use) -> None:
    use(people.bob, "set_loyalty_status", program="world-of-hyatt", tier="Globalist", lifetime=True, progress=12)
    answer = use(people.bob, TOOL)
    (one,) = answer["progress"]
    assert "Globalist is yours for life" in answer["message"]
    assert (one["required"], one["gap"], one["ways"], one["on_track"], one["lifetime"]) == (None, None, [], True, True)
    use(people.bob, "set_loyalty_status", program="Marriott", tier="Platinum", lifetime=True, progress=60)
    marriott = use(people.bob, TOOL, program="Marriott")["progress"][0]
    assert (marriott["goal_tier"], marriott["gap"], marriott["keep"]) == ("Titanium", 15, None)


def test_get_status_progress_follows_a_tier_that_rose_past_its_target(people: People, use: Use) -> None:
    use(people.bob, "set_loyalty_status", program=BA, tier="Silver", progress=9_000, target_tier="Gold")
    answer = use(people.bob, "set_loyalty_status", program=BA, tier="Gold", progress=20_500)
    assert answer["loyalty_status"]["target_tier"] is None
    assert "Your target Gold is reached and no longer set." in answer["message"]
    answer = use(people.bob, TOOL)
    assert (answer["progress"][0]["goal_tier"], answer["progress"][0]["keep"]["met"]) == ("Gold Guest List", True)
    assert "Gold is kept for another year" in answer["message"]
    use(people.bob, "set_loyalty_status", program=BA, tier="Gold", progress=19_000, target_tier="Gold")
    assert "1,000 tier points to keep Gold by 31 Mar 2027" in use(people.bob, TOOL)["message"]


def test_get_status_progress_names_what_renews_a_tier_where_it_differs(people: People, use: Use) -> None:
    eva = "eva-air-infinity-mileagelands"
    use(people.bob, "set_loyalty_status", program=eva, tier="Diamond", progress=150_000)
    (one,) = use(people.bob, TOOL)["progress"]
    assert (one["goal_tier"], one["required"], one["gap"]) == ("Diamond", 200_000, 50_000)


def test_get_status_progress_tells_members_of_a_household_apart(people: People, use: Use) -> None:
    use(people.bob, "set_loyalty_status", program=BA, tier="Bronze", progress=5_000)
    use(people.bob, "set_loyalty_status", program=BA, tier="Blue", progress=1_000, member="Anna")
    answer = use(people.bob, TOOL)
    assert [(p["member"], p["gap"]) for p in answer["progress"]] == [(None, 2_500), ("Anna", 2_500)]
    assert "The British Airways Club of Anna: 2,500 tier points to Bronze" in answer["message"]
    assert use(people.bob, "delete_loyalty_status", program=BA, member="anna")["removed"]["tier"] == "Blue"
    assert [s["member"] for s in use(people.bob, "list_loyalty_statuses")["statuses"]] == [None]


def test_get_status_progress_counts_the_flights_of_each_member(people: People, use: Use) -> None:
    for member in ({}, {"member": "Anna"}):
        use(people.alice, "set_loyalty_status", program="flying-blue", tier="Explorer", progress=0, **member)
    leg = LEG | {"departure_date": day(20), "cash_paid": 900}
    flight = use(people.alice, "add_flight_booking", **leg, member="Anna")["booking"]["booking_id"]
    progress = use(people.alice, TOOL)["progress"]
    assert [(p["member"], p["bookings_counted"]) for p in progress] == [(None, []), ("Anna", [flight])]
