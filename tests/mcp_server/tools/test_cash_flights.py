"""Cash fares through the gate: order, currencies with rate and day, stops; nothing on sale is not no answer."""

from datetime import date, timedelta
from decimal import Decimal
from typing import Any

import pytest

from shared import clock
from shared.db.base import transaction
from shared.db.observations import FareObservation
from shared.providers.contract import FaresQuestion, Unanswered
from tests.mcp_server.tools.conftest import Use
from tests.support.dates import evaluate
from tests.support.fake_rates import answering, failing_with, fare, fares_of, rates_of
from tests.support.fake_seats import WithSources, live, with_sources
from tests.support.people import People

__all__ = ["live", "with_sources"]
TOOL = "search_cash_flights"


def travel_day() -> date:
    return clock.today() + timedelta(days=45)


def search_arguments() -> dict[str, Any]:
    return {"origin": "lhr", "destination": "JFK", "date": travel_day().isoformat()}


def test_search_cash_flights_lists_fares_cheapest_first_and_marks_inventions(people: People, use: Use) -> None:
    answer = use(people.alice, TOOL, **search_arguments(), limit=3)
    assert answer["status"] == "ok"
    prices = [f["price"] for f in answer["fares"]]
    assert prices == sorted(prices)
    assert len(prices) == 3 < answer["total_found"]
    one = answer["fares"][0]
    assert (one["source"], one["mode"], one["synthetic"], one["live"]) == ("sandbox", "sandbox", True, False)
    assert one["generated_at"]
    assert (answer["freshness"]["mode"], answer["coverage"]["answered"]) == ("sandbox", ["sandbox"])


def test_search_cash_flights_is_premium(people: People, use: Use) -> None:
    refused = use(people.bob, TOOL, **search_arguments())
    assert (refused["status"], refused["required_tier"]) == ("paywall", "premium")


def test_search_cash_flights_keeps_the_quoted_currency_and_shows_the_rate(
    people: People, use: Use, with_sources: WithSources
) -> None:
    quoted = (fare("340.00", currency="GBP"), fare("440.00"), fare("900.00", currency="QAR"))
    with_sources(fares_of("shop", *quoted), rates_of(USD="1.12", GBP="0.84"))
    answer = use(people.alice, TOOL, **search_arguments())
    assert [(f["price"], f["currency"]) for f in answer["fares"]] == [(440, "USD"), (340, "GBP"), (900, "QAR")]
    plain, pounds, unknown = (f["converted"] for f in answer["fares"])
    assert plain == {"amount": 440, "currency": "USD", "rate": None, "rate_source": None, "rate_date": None}
    assert (pounds["amount"], pounds["currency"], round(pounds["rate"], 6)) == (453.33, "USD", 1.333333)
    assert pounds["rate_source"] == "European Central Bank"
    assert pounds["rate_date"] == (clock.today() - timedelta(days=1)).isoformat()
    assert unknown is None
    assert "QAR" in answer["message"]
    assert "From 440 USD, the total for one traveller." in answer["message"]
    back = (travel_day() + timedelta(days=7)).isoformat()
    together = use(people.alice, TOOL, **search_arguments(), passengers=2, return_date=back)
    assert "the total for two travellers, there and back." in together["message"]


def test_search_cash_flights_counts_stops_and_never_guesses_them(
    people: People, use: Use, with_sources: WithSources
) -> None:
    with_sources(fares_of("shop", fare("100", stops=None), fare("120", stops=2), fare("150", stops=1), fare("200")))
    assert [f["stops"] for f in use(people.alice, TOOL, **search_arguments())["fares"]] == [None, 2, 1, 0]
    answer = use(people.alice, TOOL, **search_arguments(), max_stops=1)
    assert [f["price"] for f in answer["fares"]] == [150, 200]
    assert "2 with more stops, or with stops not stated" in answer["message"]
    assert use(people.alice, TOOL, **search_arguments(), max_stops=0)["total_found"] == 1


def test_search_cash_flights_tells_nothing_on_sale_from_no_answer(
    people: People, use: Use, with_sources: WithSources
) -> None:
    with_sources(fares_of("shop"))
    empty = use(people.alice, TOOL, **search_arguments())
    assert (empty["status"], empty["missing"]) == ("no_data", ["cash fares"])
    with_sources(failing_with("other", "cash_fares", Unanswered("down", "http_503")))
    down = use(people.alice, TOOL, **search_arguments())
    assert down["status"] == "backend_unavailable"
    assert [(b["name"], b["reason"]) for b in down["backends"]] == [("other", "down")]
    assert down["backends"][0]["since"] is not None
    assert "says nothing about fares" in down["message"]
    with_sources(fares_of("shop"), failing_with("third", "cash_fares", Unanswered("quota_exhausted", "quota")))
    half = use(people.alice, TOOL, **search_arguments())
    assert (half["status"], half["fares"]) == ("partial", [])
    assert half["coverage"]["failed"] == [{"name": "third", "reason": "quota_exhausted"}]
    assert "third (quota_exhausted)" in half["message"]
    with_sources()
    assert use(people.alice, TOOL, **search_arguments())["status"] == "backend_unavailable"


def test_search_cash_flights_asks_for_everybody_and_both_ways(
    people: People, use: Use, with_sources: WithSources
) -> None:
    asked: list[FaresQuestion] = []

    def cash_fares(question: FaresQuestion) -> Any:
        asked.append(question)
        return tuple(
            fare(price, cabin="business", city_wide=wide)
            for price, wide in (("812.50", True), ("820", True), ("990", False), ("950", False))
        )

    with_sources(answering("shop", {"cash_fares": cash_fares}))
    back = travel_day() + timedelta(days=9)
    given = search_arguments() | {
        "return_date": back.isoformat(),
        "cabin": "business",
        "passengers": 3,
        "currency": "eur",
    }
    answer = use(people.alice, TOOL, **given)
    assert asked == [FaresQuestion("LHR", "JFK", travel_day(), back, "business", 3, "EUR")]
    assert answer["fares"][0]["city_wide"] is True
    assert "check which airports" in answer["message"]
    with transaction(people.alice.account_id) as session:
        rows = session.query(FareObservation).order_by(FareObservation.price).all()
    assert [(row.price, row.city_wide) for row in rows] == [(Decimal("812.50"), True), (Decimal(950), False)]
    assert {(row.passengers, row.return_date, row.asker_id) for row in rows} == {(3, back, None)}


@pytest.mark.parametrize(
    ("given", "field"),
    [
        ({"destination": "LHR"}, "destination"),
        ({"date": "2020-01-01"}, "date"),
        ({"return_date": lambda: (travel_day() - timedelta(days=1)).isoformat()}, "return_date"),
        ({"max_stops": 4}, "max_stops"),
        ({"currency": "DOLLARS"}, "currency"),
    ],
)
def test_search_cash_flights_refuses_what_cannot_be(
    people: People, use: Use, given: dict[str, Any], field: str
) -> None:
    given = evaluate(given)
    refused = use(people.alice, TOOL, **(search_arguments() | given))
    assert (refused["status"], refused["errors"][0]["field"]) == ("invalid", field)
