"""Ways to a tier through the gate: known runs without invented fares, and paths with their reasons."""

from datetime import UTC, date, datetime, timedelta
from typing import Any

import pytest

from shared import clock
from shared.db.base import transaction
from shared.db.bookings import HotelPrice
from shared.domain.dates import format_day
from shared.reference import hotels
from shared.reference.load import reference
from tests.mcp_server.tools.conftest import Use
from tests.support.people import People
from tests.support.settings_and_clock import StandingClock

BA, FB, AA = "british-airways-club", "flying-blue", "american-airlines-aadvantage"
TOOL = "find_status_run"


def goal_deadline() -> str:
    return (clock.today() + timedelta(days=90)).isoformat()


def asked(**given: Any) -> dict[str, Any]:
    return {"goal_program": FB, "goal_tier": "Silver", "deadline": goal_deadline(), "home_airport": "CPH"} | given


@pytest.mark.spec("s4.4.find_status_run.sources")
def test_find_status_run_counts_known_routings_and_invents_no_fare(people: People, use: Use) -> None:
    answer = use(people.alice, TOOL, **asked())
    assert answer["gap"] == {"metric": "xp", "required": 100, "have": 0, "missing": 100}
    routings = {r.routing for r in reference().rows("status_run_routes.csv")}
    assert {r["route"] for r in answer["runs"]} <= routings
    best = answer["runs"][0]
    assert (best["route"], best["qualifying_earned"], best["runs_needed"]) == ("CPH-CDG-NRT-CDG-CPH", 102, 1)
    for run in answer["runs"]:
        assert [run[n] for n in ("fare", "total_cost", "cost_per_unit")] == ["no_data"] * 3
        assert run["fare_age_seconds"] is None
    assert (answer["freshness"]["mode"], answer["freshness"]["fetched_at"]) == ("none", None)
    assert "No cash fare for these runs" in answer["message"]


def test_find_status_run_begins_at_home_then_nearby(people: People, use: Use) -> None:
    away = [r["miles_from_home"] for r in use(people.alice, TOOL, **asked())["runs"]]
    assert away == sorted(away, key=lambda m: m > 0)
    assert away[0] == 0
    assert max(away) <= 600


@pytest.mark.spec("s4.4.find_status_run.free_top_three")
def test_find_status_run_shows_three_runs_on_the_free_plan_and_says_how_many_there_are(
    people: People, use: Use
) -> None:
    free, paid = use(people.bob, TOOL, **asked()), use(people.alice, TOOL, **asked())
    assert len(free["runs"]) == 3
    assert free["runs"] == paid["runs"][:3]
    assert free["total_found"] == paid["total_found"] == len(paid["runs"]) > 3


@pytest.mark.spec("s4.4.find_status_run.goal_tier_default")
def test_find_status_run_aims_at_the_tracked_target_or_the_next_tier(people: People, use: Use) -> None:
    plain = {k: v for k, v in asked().items() if k != "goal_tier"}
    assert use(people.alice, TOOL, **plain)["goal_tier"] == "Silver"
    use(people.alice, "set_loyalty_status", program=FB, tier="Silver", progress=100)
    answer = use(people.alice, TOOL, **plain)
    assert (answer["goal_tier"], answer["gap"]["missing"]) == ("Gold", 80)
    use(people.alice, "set_loyalty_status", program=FB, tier="Silver", target_tier="Platinum")
    answer = use(people.alice, TOOL, **plain)
    assert (answer["goal_tier"], answer["gap"]["required"], answer["gap"]["missing"]) == ("Platinum", 480, 380)


def test_find_status_run_of_a_fare_based_programme_gives_the_part_that_needs_no_fare(people: People, use: Use) -> None:
    answer = use(people.alice, TOOL, **asked(goal_program=BA, goal_tier="Bronze", home_airport="LON"))
    extras = {r["route"]: r["earned_without_fare"] for r in answer["runs"]}
    assert extras["LHR-SOF-LHR"] == 350
    assert extras["LHR-EDI-LHR"] == 150
    assert {r["qualifying_earned"] for r in answer["runs"]} == {"no_data"}
    assert {r["runs_needed"] for r in answer["runs"]} == {"no_data"}
    assert any("sectors" in a for a in answer["assumptions"])


def test_find_status_run_where_everything_follows_the_fare_is_no_data(people: People, use: Use) -> None:
    answer = use(people.alice, TOOL, **asked(goal_program=AA, goal_tier="Gold", home_airport="JFK"))
    assert (answer["status"], answer["missing"]) == ("no_data", ["cash fares"])
    assert "40,000" in answer["message"]


def test_find_status_run_that_nobody_can_fly_is_no_data(people: People, use: Use) -> None:
    far = use(people.alice, TOOL, **asked(home_airport="SYD"))
    assert (far["status"], far["missing"]) == ("no_data", ["status runs"])
    soon = use(people.alice, TOOL, **asked(goal_tier="Platinum", deadline=clock.today().isoformat()))
    assert soon["status"] == "no_data"
    other = use(people.alice, TOOL, **asked(goal_program="delta-skymiles", goal_tier="Gold Medallion"))
    assert "Flying Blue" in other["message"]
    uxp = use(people.alice, TOOL, **asked(goal_tier="Ultimate"))
    assert uxp["status"] == "no_data"


def test_find_status_run_of_a_tier_already_reached_has_no_runs(people: People, use: Use) -> None:
    use(people.alice, "set_loyalty_status", program=FB, tier="Explorer", progress=120)
    answer = use(people.alice, TOOL, **asked())
    assert (answer["status"], answer["runs"], answer["gap"]["missing"]) == ("ok", [], 0)


@pytest.mark.spec("s4.4.find_status_run.params")
@pytest.mark.parametrize(
    ("given", "status"),
    [
        ({"deadline": "2020-01-01"}, "invalid"),
        ({"deadline": "2027-02-30"}, "invalid"),
        ({"home_airport": "QQQ"}, "not_found"),
        ({"goal_program": "zorblatt miles"}, "not_found"),
        ({"goal_tier": "Ruby"}, "candidates"),
    ],
)
def test_find_status_run_refuses_what_cannot_be(people: People, use: Use, given: dict[str, str], status: str) -> None:
    assert use(people.alice, TOOL, **asked(**given))["status"] == status
    for name in ("goal_program", "deadline", "home_airport"):
        assert use(people.alice, TOOL, **{k: v for k, v in asked().items() if k != name})["status"] == "invalid"


def test_find_status_run_says_when_the_deadline_is_past_the_qualifying_year(people: People, use: Use) -> None:
    late = (clock.today() + timedelta(days=400)).isoformat()
    answer = use(people.alice, TOOL, **asked(goal_program=BA, goal_tier="Bronze", home_airport="LHR", deadline=late))
    assert any("counts towards the next one" in a for a in answer["assumptions"])


def test_recommend_status_path_ranks_what_is_known_and_names_what_is_closed(people: People, use: Use) -> None:
    given = {"target_program": FB, "target_tier": "Silver", "home_airport": "CPH", "max_cash": 500}
    answer = use(people.alice, "recommend_status_path", **given)
    assert answer["gap"]["missing"] == 100
    assert {(p["kind"], p["cost"]) for p in answer["paths"]} == {("status_run", "no_data")}
    assert answer["paths"][0]["runs"] == 1
    told = " ".join(answer["unreachable_reasons"])
    assert "were last seen on 29 Apr 2026 and may have ended" in told  # past offers never rank
    assert "Planned flying" in told
    assert "500" in told


def test_recommend_status_path_without_a_home_airport_says_what_is_missing(people: People, use: Use) -> None:
    answer = use(people.alice, "recommend_status_path", target_program=FB, target_tier="Silver")
    assert (answer["status"], answer["paths"]) == ("ok", [])
    assert any("home_airport" in r for r in answer["unreachable_reasons"])


def test_recommend_status_path_of_a_hotel_tells_this_year_and_the_next_and_nights_as_a_path(
    people: People, use: Use, standing_clock: StandingClock
) -> None:
    standing_clock.set(datetime(2026, 11, 28, 12, tzinfo=UTC))
    use(people.alice, "set_loyalty_status", program="Hyatt", tier="Explorist", progress=41)
    asked = {"target_program": "Hyatt", "target_tier": "Globalist", "home_airport": "LHR"}
    answer = use(people.alice, "recommend_status_path", deadline="2027-06-30", **asked)
    assert answer["message"].startswith(
        "19 nights to go for Globalist by 31 Dec 2026, or 60 from 1 Jan 2027. Stay 19 nights from"
    )
    assert answer["next_year"] == {"begins_on": "2027-01-01", "required": 60, "missing": 60}
    (path,) = answer["paths"]
    assert (path["kind"], path["cost"], path["days_needed"], path["gap_covered"]) == ("nights", "no_data", 19, 19)
    assert path["steps"][0].startswith("Stay 19 nights from 28 Nov 2026 to 31 Dec 2026 at the cheapest hotels")
    assert not any("flying" in reason or "runs" in reason for reason in answer["unreachable_reasons"])
    soon = use(people.alice, "recommend_status_path", deadline="2026-12-10", **asked)
    assert soon["message"].startswith("19 nights to go for Globalist. No path is known.")
    assert soon["unreachable_reasons"][-1] == "Nights: 19 nights do not fit before 10 Dec 2026."


def test_recommend_status_path_counts_booked_nights_and_prices_the_others(
    people: People, use: Use, standing_clock: StandingClock
) -> None:
    standing_clock.set(datetime(2026, 11, 28, 12, tzinfo=UTC))
    use(people.alice, "set_loyalty_status", program="Hyatt", tier="Explorist", progress=41)
    hotel = next(row for row in reference().rows("hotels.csv") if row.program == "world-of-hyatt")
    stay = {"check_in_date": "2026-12-01", "check_out_date": "2026-12-05", "kind": "cash", "original_pay_rate_usd": 400}
    use(people.alice, "add_hotel_booking", hotel_id=hotels.code(hotel), **stay)
    with transaction(people.alice.account_id) as session:
        session.add(
            HotelPrice(
                hotel_code=hotels.code(hotel),
                check_in_date=date(2026, 12, 1),
                check_out_date=date(2026, 12, 5),
                captured_at=clock.now(),
                cash=320,
                currency="USD",
                source="sandbox",
                mode="live",
            )
        )
    answer = use(people.alice, "recommend_status_path", target_program="Hyatt", target_tier="Globalist")
    (path,) = answer["paths"]
    assert path["steps"][0] == "Stay the 4 nights booked."
    assert (path["cost"], path["currency"]) == (15 * 80, "USD")


def test_recommend_status_path_is_premium_and_wants_a_day_to_come(people: People, use: Use) -> None:
    given = {"target_program": FB, "target_tier": "Silver"}
    assert use(people.bob, "recommend_status_path", **given)["status"] == "paywall"
    assert use(people.alice, "recommend_status_path", deadline="2020-01-01", **given)["status"] == "invalid"


def test_recommend_status_path_to_a_tier_already_reached_has_nothing_to_do(people: People, use: Use) -> None:
    use(people.alice, "set_loyalty_status", program="Hyatt", tier="Explorist", progress=61)
    answer = use(people.alice, "recommend_status_path", target_program="Hyatt", target_tier="Globalist")
    assert (answer["paths"], answer["gap"]["missing"]) == ([], 0)


def test_recommend_status_path_counts_what_is_booked_already(people: People, use: Use) -> None:
    use(people.alice, "set_loyalty_status", program="flying-blue", tier="Silver", progress=60)
    day = (clock.today() + timedelta(days=20)).isoformat()
    leg = {"airline": "AF", "origin": "CDG", "destination": "JFK", "cabin_class": "business", "departure_date": day}
    use(people.alice, "add_flight_booking", **leg, kind="cash", cash_paid=900)
    answer = use(people.alice, "recommend_status_path", target_program="flying-blue", target_tier="Gold")
    (path,) = [p for p in answer["paths"] if p["kind"] == "flying"]
    assert (path["cost"], path["days_needed"], path["gap_covered"]) == (0, 20, 30)
    assert path["steps"] == [f"Fly as booked: AF CDG-JFK on {format_day(date.fromisoformat(day))}."]
    assert not any("Planned flying" in reason for reason in answer["unreachable_reasons"])
