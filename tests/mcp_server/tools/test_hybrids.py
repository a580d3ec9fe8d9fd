"""Hybrid journeys, called through the gate: costs, connections, warnings and unanswered legs."""

from datetime import date, timedelta
from decimal import Decimal
from typing import Any

import pytest

from shared import clock
from shared.providers.contract import FaresQuestion, Provider, SeatsQuestion, Unanswered
from tests.mcp_server.tools.conftest import Use
from tests.support.fake_rates import answering, failing_with, fare, rates_of
from tests.support.fake_seats import WithSources, live, seat, with_sources
from tests.support.people import People

__all__ = ["live", "with_sources"]
TOOL = "search_hybrid"


def travel_day() -> date:
    return clock.today() + timedelta(days=45)


def next_day() -> date:
    return travel_day() + timedelta(days=1)


def search_arguments() -> dict[str, Any]:
    return {"origin": "MAN", "destination": "BKK", "date": travel_day().isoformat(), "hubs": ["AMS"]}


BANK = rates_of(USD="1.12", GBP="0.84")


def seats(*more: dict[str, Any], name: str = "seats") -> tuple[Provider, list[SeatsQuestion]]:
    """A source with these seats on whatever it is asked."""
    asked: list[SeatsQuestion] = []

    def award_seats(question: SeatsQuestion) -> Any:
        asked.append(question)
        ends = {"origin": question.origin, "destination": question.destination}
        return tuple(seat(question.latest, **(ends | m)) for m in more)

    return answering(name, {"award_seats": award_seats}), asked


def shop(*more: dict[str, Any]) -> tuple[Provider, list[FaresQuestion]]:
    asked: list[FaresQuestion] = []

    def cash_fares(question: FaresQuestion) -> Any:
        asked.append(question)
        return tuple(fare("300", **({"cabin": "business"} | m)) for m in more)

    return answering("shop", {"cash_fares": cash_fares}), asked


AWARD = {"points": 60_000, "taxes": Decimal("84.00"), "taxes_currency": "GBP"}


def leg_times() -> dict[str, Any]:
    return {"departs_at": f"{next_day()}T09:00", "arrives_at": f"{next_day()}T23:00"}


def early_leg_times() -> dict[str, Any]:
    return {"departs_at": f"{travel_day()}T18:00", "arrives_at": f"{travel_day()}T20:30"}


def test_search_hybrid_adds_fare_taxes_and_the_worth_of_the_points(
    people: People, use: Use, with_sources: WithSources
) -> None:
    source, asked = seats(AWARD | leg_times())
    market, priced = shop(early_leg_times())
    with_sources(source, market, BANK)
    answer = use(people.alice, TOOL, **search_arguments(), points_value_cents=1.25, passengers=2)
    assert answer["status"] == "ok"
    one = answer["hybrids"][0]
    assert (one["hub"], one["award_first"], one["points"]) == ("AMS", False, 120_000)
    night = "The connection at AMS lasts the night (12 hours): plan a hotel."
    assert night in one["warnings"]
    assert night in answer["message"]
    assert (one["cash"], one["effective_cost"], one["currency"]) == (
        524,
        2024,
        "USD",
    )  # 300 + 2 x 112; + 120,000 x 1.25
    assert one["layover_minutes"] == 12 * 60 + 30
    assert (one["cash_leg"]["price"], one["award_leg"]["taxes_currency"]) == (300, "GBP")
    assert (answer["direct_cash"]["price"], answer["direct_cash_cost"]) == (300, 300)
    assert (answer["full_award"]["points"], answer["full_award_cost"]) == (60_000, 1724)
    assert SeatsQuestion("AMS", "BKK", travel_day(), next_day()) in asked
    assert FaresQuestion("MAN", "AMS", travel_day(), None, "business", 2, "USD") in priced
    assert "Cheapest of all: the direct fare" in answer["message"]


def test_search_hybrid_says_for_how_many_people_its_prices_are(people: People, use: Use) -> None:
    answer = use(people.alice, TOOL, **search_arguments(), passengers=2)
    one = answer["hybrids"][0]
    leg = one["award_leg"]
    assert (leg["per"], one["points"]) == ("person", 2 * leg["points"])
    assert f"{leg['points']:,} points of" in answer["message"]
    assert f"each, {2 * leg['points']:,} for two" in answer["message"]
    assert "for two travellers" in answer["message"]


def test_search_hybrid_says_what_holds_for_all_journeys_once(people: People, use: Use) -> None:
    answer = use(people.alice, TOOL, **search_arguments())
    assert any("the second airline owes you nothing" in w for w in answer["warnings"])
    assert not any("owes you nothing" in w for one in answer["hybrids"] for w in one["warnings"])


def test_search_hybrid_puts_the_separate_ticket_warnings_on_every_journey(people: People, use: Use) -> None:
    answer = use(people.alice, TOOL, **(search_arguments() | {"hubs": None}))
    assert len(answer["hybrids"]) > 1
    for one in answer["hybrids"]:
        assert any("Two separate tickets" in w for w in one["warnings"])
        assert any(one["hub"] in w and "Bags" in w for w in one["warnings"])
        assert 180 <= one["layover_minutes"] <= 1440
        assert one["synthetic"] is True
    assert answer["hubs_tried"]
    costs = [h["effective_cost"] for h in answer["hybrids"]]
    assert costs == sorted(costs)


def test_search_hybrid_drops_a_connection_that_cannot_be_caught(
    people: People, use: Use, with_sources: WithSources
) -> None:
    tight = {"departs_at": f"{travel_day()}T22:00", "arrives_at": f"{next_day()}T07:00"}
    with_sources(seats(AWARD | tight)[0], shop(early_leg_times())[0], BANK)
    assert use(people.alice, TOOL, **search_arguments())["hybrids"] == []


def test_search_hybrid_says_when_a_source_tells_no_times_or_taxes(
    people: People, use: Use, with_sources: WithSources
) -> None:
    with_sources(
        seats(AWARD | {"taxes": None, "seats": None})[0], shop(early_leg_times() | {"city_wide": True})[0], BANK
    )
    one = use(people.alice, TOOL, **search_arguments())["hybrids"][0]
    assert (one["layover_minutes"], one["cash"], one["effective_cost"]) == (None, "no_data", "no_data")
    told = " ".join(one["warnings"])
    for word in ("times are not known", "whole city", "seats are left is not known", "taxes of the award"):
        assert word in told


def test_search_hybrid_asks_the_onward_fare_on_the_day_the_award_lands(
    people: People, use: Use, with_sources: WithSources
) -> None:
    asked = search_arguments() | {"origin": "SEA", "destination": "LIS", "hubs": ["OPO"]}
    lands = {"departs_at": f"{travel_day()}T09:00", "arrives_at": f"{next_day()}T22:30"}
    market, priced = shop({"departs_at": f"{next_day() + timedelta(days=1)}T09:00"})
    with_sources(seats(AWARD | lands)[0], market, BANK)
    answer = use(people.alice, TOOL, **asked)
    assert FaresQuestion("OPO", "LIS", next_day() + timedelta(days=1), None, "business", 1, "USD") in priced
    assert (answer["hybrids"][0]["award_first"], answer["hybrids"][0]["layover_minutes"]) == (True, 630)
    market, priced = shop({})
    with_sources(seats(AWARD, name="silent")[0], market, BANK)
    use(people.alice, TOOL, **asked)
    assert FaresQuestion("OPO", "LIS", next_day(), None, "business", 1, "USD") in priced


def test_search_hybrid_names_what_was_not_answered(people: People, use: Use, with_sources: WithSources) -> None:
    market, _ = shop(early_leg_times())
    lost = failing_with("seats", "award_seats", Unanswered("down", "http_503"))
    with_sources(lost, market, BANK)
    answer = use(people.alice, TOOL, **search_arguments())
    assert (answer["status"], answer["full_award"], answer["hybrids"]) == ("partial", None, [])
    assert {"origin": "AMS", "destination": "BKK", "kind": "award", "source": "seats", "reason": "down"} in answer[
        "unanswered"
    ]
    assert "award AMS-BKK (seats, down)" in answer["message"]
    assert answer["coverage"]["failed"] == [{"name": "seats", "reason": "down"}]
    with_sources(lost)
    assert use(people.alice, TOOL, **search_arguments())["status"] == "backend_unavailable"
    with_sources(seats()[0])
    assert use(people.alice, TOOL, **search_arguments())["status"] == "no_data"


def test_search_hybrid_asks_no_more_than_two_questions_a_hub_and_two_direct(
    people: People, use: Use, with_sources: WithSources
) -> None:
    source, asked = seats(AWARD | leg_times())
    market, priced = shop(early_leg_times())
    with_sources(source, market, BANK)
    hubs = ["AMS", "CPH", "HEL", "DXB", "DOH", "IST", "FRA", "ZRH"]
    answer = use(people.alice, TOOL, **(search_arguments() | {"hubs": hubs}))
    assert answer["hubs_tried"] == hubs
    assert len(asked) == len(priced) == 9
    assert use(people.alice, TOOL, **(search_arguments() | {"hubs": [*hubs, "MUC"]}))["status"] == "invalid"


@pytest.mark.parametrize(
    ("given", "status"),
    [
        ({"hubs": ["QQQ"]}, "not_found"),
        ({"hubs": ["MAN"]}, "invalid"),
        ({"hubs": []}, "invalid"),
        ({"points_value_cents": 0}, "invalid"),
        ({"points_value_cents": 10.5}, "invalid"),
        ({"destination": "MAN"}, "invalid"),
        ({"date": "2020-01-01"}, "invalid"),
    ],
)
def test_search_hybrid_refuses_what_cannot_be(people: People, use: Use, given: dict[str, Any], status: str) -> None:
    assert use(people.alice, TOOL, **(search_arguments() | given))["status"] == status


def test_search_hybrid_is_premium(people: People, use: Use) -> None:
    assert use(people.bob, TOOL, **search_arguments())["status"] == "paywall"
