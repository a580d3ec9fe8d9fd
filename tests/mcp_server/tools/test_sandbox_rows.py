"""Rows invented by the sandbox are marked in every result that shows them; real rows carry no marks."""

from datetime import date, timedelta
from decimal import Decimal
from typing import Any

import pytest

from shared import clock
from shared.db.base import transaction
from shared.db.observations import FareObservation
from tests.mcp_server.tools.conftest import Use
from tests.mcp_server.tools.test_hotel_prices import add, priced
from tests.support.fake_seats import WithSources, live, seat, selling, with_sources
from tests.support.people import People
from tests.support.sandbox_seats import set_seat

__all__ = ["live", "with_sources"]


def travel_day() -> date:
    return clock.today() + timedelta(days=60)


def travel_month() -> str:
    return f"{travel_day():%Y-%m}"


ROUTE = {"origin": "LHR", "destination": "JFK"}
MARKS = {"source", "synthetic", "live", "generated_at"}


FINE = ("sandbox", True, True)


def unmarked(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    assert rows
    return [r for r in rows if (r.get("source"), r.get("synthetic"), bool(r.get("generated_at"))) != FINE]


@pytest.fixture
def searched(people: People, use: Use) -> dict[str, Any]:
    """A search whose rows later tools show again, on a day with an economy seat whatever is drawn for it."""
    set_seat("open:4", "LHR", "JFK", travel_day(), "economy", "BA")
    found = use(people.alice, "search_availability", airline="BA", date=travel_day().isoformat(), **ROUTE)
    assert found["options"]
    return found


def test_the_best_of_each_cabin_and_journeys_in_two_parts_are_marked(
    people: People, use: Use, searched: dict[str, Any]
) -> None:
    cabins = [offer for offer in searched["cabins"].values() if offer != "no_data"]
    answer = use(people.alice, "search_hybrid", date=travel_day().isoformat(), **ROUTE)
    assert unmarked([*cabins, *answer["hybrids"]]) == []


def test_seats_seen_earlier_are_marked(people: People, use: Use, searched: dict[str, Any]) -> None:
    flights = use(people.alice, "list_flights")["flights"]
    one = use(people.alice, "get_flight", flight_id=flights[0]["flight_id"])["flight"]
    places = use(
        people.alice,
        "explore_destinations",
        origin="LHR",
        month_from=travel_month(),
        month_to=travel_month(),
        cabin="economy",
    )
    fees = use(people.alice, "estimate_award_fees", **ROUTE, cabin="economy")
    assert unmarked([*flights, one, *places["destinations"], *fees["fees"]]) == []


def test_the_flights_and_links_behind_an_offer_are_marked(people: People, use: Use, searched: dict[str, Any]) -> None:
    trip = use(people.alice, "get_award_trip_details", trip_id=searched["options"][0]["trip_id"])
    assert unmarked([*trip["segments"], *trip["booking_links"]]) == []


def test_the_days_of_a_month_are_marked(people: People, use: Use) -> None:
    answer = use(people.alice, "search_monthly_availability", airline="BA", month=travel_month(), **ROUTE)
    assert unmarked([*answer["days"], *answer["cheapest"]]) == []


@pytest.fixture
def watched(people: People, use: Use) -> int:
    priced("points:150000")
    return add(use, people.alice, kind="award", original_points=210_000)


def test_prices_and_drops_of_a_logged_stay_are_marked(people: People, use: Use, watched: int) -> None:
    answer = use(people.alice, "check_hotel_booking_price", booking_id=watched)
    history = use(people.alice, "get_hotel_price_history", booking_id=watched)
    shown = use(people.alice, "get_hotel_booking", booking_id=watched)["booking"]
    rows = [*answer["snapshots"], answer["drop"], *history["snapshots"], history["lowest"], history["highest"]]
    assert unmarked([*rows, history["against_original"], shown["latest"], shown["drop"]]) == []


def test_a_status_run_with_an_invented_fare_is_marked_and_one_without_is_not(people: People, use: Use) -> None:
    facts = {"source": "sandbox", "origin": "CPH", "destination": "NRT", "cabin": "business", "passengers": 1}
    day = clock.today() + timedelta(days=40)
    dates = {"date": day, "return_date": day + timedelta(days=4), "seen_at": clock.now()}
    with transaction() as session:
        price = {"price": Decimal(2040), "currency": "EUR", "carriers": ["AF"], "stops": 1}
        session.add(FareObservation(**facts, **dates, **price))
    deadline = (clock.today() + timedelta(days=90)).isoformat()
    goal = {"goal_program": "flying-blue", "goal_tier": "Silver", "deadline": deadline, "home_airport": "CPH"}
    runs = use(people.alice, "find_status_run", **goal)["runs"]
    priced_runs = [r for r in runs if r["fare"] != "no_data"]
    assert unmarked(priced_runs) == []
    assert not [r for r in runs if r not in priced_runs and MARKS & set(r)]


def test_real_rows_carry_no_marks(people: People, use: Use, with_sources: WithSources) -> None:
    with_sources(selling("one", seat(travel_day(), airline="BA", cabin="economy")))
    use(people.alice, "search_availability", airline="BA", date=travel_day().isoformat(), **ROUTE)
    (flight,) = use(people.alice, "list_flights")["flights"]
    assert (flight["source"], MARKS & set(flight)) == ("one", {"source"})
    answer = use(people.alice, "search_monthly_availability", airline="BA", month=travel_month(), **ROUTE)
    assert not [d for d in answer["days"] if MARKS & set(d)]
