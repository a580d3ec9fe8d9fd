"""Fares of status runs: only fares seen for that run count, with their age, never as a base fare."""

from dataclasses import replace
from datetime import date, timedelta
from decimal import Decimal
from typing import Any

import anyio
import pytest

from mcp_server.toolkit.context import Caller
from shared import clock
from shared.db.base import transaction
from shared.db.observations import FareObservation
from shared.providers.ask import Ask
from shared.services.search.exchange_rates import rates
from tests.mcp_server.tools.conftest import Use
from tests.support.dates import evaluate
from tests.support.fake_rates import fare, fares_of, rates_of
from tests.support.fake_seats import WithSources, live, with_sources
from tests.support.people import People

__all__ = ["live", "with_sources"]
TOOL = "find_status_run"


def travel_day() -> date:
    return clock.today() + timedelta(days=40)


def search_arguments() -> dict[str, Any]:
    return {
        "goal_program": "flying-blue",
        "goal_tier": "Silver",
        "deadline": (clock.today() + timedelta(days=90)).isoformat(),
        "home_airport": "CPH",
    }


ROUTE = "CPH-CDG-NRT-CDG-CPH"


def seen(caller: Caller | None = None, **more: Any) -> None:
    """A fare for that run that an earlier search saw."""
    facts: dict[str, Any] = {
        "source": "shop",
        "origin": "CPH",
        "destination": "NRT",
        "date": travel_day(),
        "return_date": travel_day() + timedelta(days=4),
        "cabin": "business",
        "passengers": 1,
        "price": Decimal("2040.00"),
        "currency": "EUR",
        "carriers": ["AF"],
        "stops": 1,
        "seen_at": clock.now() - timedelta(days=2),
        "asker_id": caller.account_id if caller else None,
    }
    with transaction() as session:
        session.add(FareObservation(**(facts | more)))


def of_route(found: dict[str, Any], route: str = ROUTE) -> dict[str, Any]:
    run: dict[str, Any] = next(r for r in found["runs"] if r["route"] == route)
    return run


@pytest.mark.spec("s4.4.find_status_run.sources")
def test_find_status_run_prices_a_run_by_a_fare_seen_lately_and_shows_its_age(
    people: People, use: Use, with_sources: WithSources
) -> None:
    with_sources()
    cabin = of_route(use(people.alice, TOOL, **search_arguments()))["cabin"]
    seen(cabin=cabin)
    answer = use(people.alice, TOOL, **search_arguments())
    run = answer["runs"][0]  # a known cost comes first
    assert (run["route"], run["fare"], run["currency"], run["total_cost"]) == (ROUTE, 2040, "EUR", 2040)
    assert run["cost_per_unit"] == 20  # 102 XP
    assert (run["fare_age_seconds"] // 86_400, run["fare_source"], run["fare_for"]) == (
        2,
        "shop",
        travel_day().isoformat(),
    )
    assert answer["freshness"]["mode"] == "cached"
    assert "14 days" in answer["message"]
    assert {r["fare"] for r in answer["runs"][1:]} == {"no_data"}


@pytest.mark.parametrize(
    "other",
    [
        {"carriers": ["SK"]},
        {"carriers": []},
        {"carriers": ["AF", "KL"]},
        {"stops": 0},
        {"stops": None},
        {"city_wide": True},
        {"cabin": "first"},
        {"passengers": 2},
        {"return_date": None},
        {"return_date": lambda: clock.today() + timedelta(days=200)},
        {"seen_at": lambda: clock.now() - timedelta(days=15)},
        {"currency": "USD"},
    ],
)
def test_find_status_run_takes_no_fare_of_another_journey(
    people: People, use: Use, with_sources: WithSources, other: dict[str, Any]
) -> None:
    other = evaluate(other)
    with_sources()
    cabin = of_route(use(people.alice, TOOL, **search_arguments()))["cabin"]
    seen(**({"cabin": cabin} | other))
    assert {r["fare"] for r in use(people.alice, TOOL, **search_arguments())["runs"]} == {"no_data"}


def test_find_status_run_converts_by_rates_that_are_kept(people: People, use: Use, with_sources: WithSources) -> None:
    with_sources(rates_of(USD="1.02"))
    cabin = of_route(use(people.alice, TOOL, **search_arguments()))["cabin"]
    seen(cabin=cabin, currency="USD")
    assert of_route(use(people.alice, TOOL, **search_arguments()))["fare"] == "no_data"
    anyio.run(rates, Ask(), ("USD", "EUR"))
    assert of_route(use(people.alice, TOOL, **search_arguments()))["fare"] == 2000


def test_find_status_run_shows_nobody_a_fare_of_anothers_connection(
    people: People, use: Use, with_sources: WithSources
) -> None:
    with_sources()
    cabin = of_route(use(people.alice, TOOL, **search_arguments()))["cabin"]
    seen(people.alice, cabin=cabin)
    assert of_route(use(people.alice, TOOL, **search_arguments()))["fare"] == 2040
    assert of_route(use(people.charlie, TOOL, **search_arguments()))["fare"] == "no_data"


def test_recommend_status_path_takes_the_same_fare_as_a_cost(
    people: People, use: Use, with_sources: WithSources
) -> None:
    with_sources()
    seen(cabin=of_route(use(people.alice, TOOL, **search_arguments()))["cabin"])
    asked = {"target_program": "flying-blue", "target_tier": "Silver", "home_airport": "CPH"}
    paths = use(people.alice, "recommend_status_path", **asked, deadline=search_arguments()["deadline"])["paths"]
    path = next(path for path in paths if path["kind"] == "status_run")
    assert (path["cost"], path["currency"]) == (2040, "EUR")
    assert path["freshness"]["source"] == "shop"


BA_GOAL = {"goal_program": "british-airways-club", "goal_tier": "Bronze", "home_airport": "LHR"}


def test_find_status_run_uses_the_fare_of_its_own_airline_from_one_search(
    people: People, use: Use, with_sources: WithSources
) -> None:
    shop = [fare("300", carriers=("VS",)), fare("412.50", carriers=("BA",)), fare("380", carriers=("BA",), stops=1)]
    with_sources(fares_of("shop", *(replace(f, currency="GBP", cabin="business") for f in shop)))
    given = BA_GOAL | {"deadline": search_arguments()["deadline"]}
    run = use(people.alice, TOOL, **given)["runs"][0]
    ends = run["route"].split("-")
    asked = {"origin": ends[0], "destination": ends[1], "cabin": "business", "currency": "GBP"}
    back = travel_day() + timedelta(days=3)
    use(people.alice, "search_cash_flights", **asked, date=travel_day().isoformat(), return_date=back.isoformat())
    priced = of_route(use(people.alice, TOOL, **given), run["route"])
    assert (priced["fare"], priced["currency"]) == (412.5, "GBP")
    # 1 point per pound at most, as the taxes in the fare count nothing, and the extra for each flight
    assert priced["earned_at_most"] == priced["earned_without_fare"] + 412.5
    assert priced["qualifying_earned"] == priced["runs_needed"] == priced["total_cost"] == "no_data"
    assert priced["total_cost_at_least"] == priced["runs_needed_at_least"] * 412.5


def test_find_status_run_names_the_search_that_would_show_a_fare(
    people: People, use: Use, with_sources: WithSources
) -> None:
    with_sources()
    answer = use(people.alice, TOOL, **search_arguments())
    first = answer["fare_searches"][0]
    stops = next(r["route"] for r in answer["runs"] if r["fare"] == "no_data").split("-")
    assert (first["origin"], first["destination"]) == (stops[0], stops[len(stops) // 2])
    assert f"A search of cash flights from {first['origin']} to {first['destination']} and back" in answer["message"]
