"""A non-stop flight that a search has shown is known, whatever the lists of routes say."""

from datetime import timedelta
from decimal import Decimal
from typing import Any

import pytest

from shared import clock
from shared.db.base import transaction
from shared.db.observations import FareObservation
from tests.mcp_server.tools.conftest import Use
from tests.support.fake_seats import live
from tests.support.people import People

__all__ = ["live"]
ASK = {"origin": "CDG", "destination": "JFK", "cabin": "economy"}


def store_fare(**more: Any) -> None:
    """A fare of an earlier search, which anybody may see."""
    facts: dict[str, Any] = {
        "source": "shop",
        "origin": "JFK",
        "destination": "CDG",
        "date": clock.today() + timedelta(days=40),
        "return_date": None,
        "cabin": "economy",
        "passengers": 1,
        "price": Decimal("420.00"),
        "currency": "EUR",
        "carriers": ["AS"],
        "stops": 0,
        "seen_at": clock.now() - timedelta(days=2),
        "asker_id": None,
    }
    with transaction() as session:
        session.add(FareObservation(**(facts | more)))


def ask_price(people: People, use: Use) -> dict[str, Any]:
    return use(people.bob, "get_pricing", program="american-airlines-aadvantage", partner_airline="AS", **ASK)


def test_a_fare_without_a_stop_makes_the_flight_known(people: People, use: Use, live: None) -> None:
    assert ask_price(people, use)["route"] == "none_known"
    store_fare()
    answer = ask_price(people, use)
    assert (answer["route"], answer["if_flown"]) == ("known", None)
    assert answer["cabins"]["economy"] != "no_data"
    options = use(people.bob, "get_partner_award_options", operating_airline="AS", **ASK)
    assert {o["route"] for o in options["options"]} == {"known"}


@pytest.mark.parametrize(
    "other", [{"stops": 1}, {"stops": None}, {"carriers": ["AS", "AF"]}, {"carriers": ["DL"]}, {"city_wide": True}]
)
def test_other_fares_say_nothing_of_it(people: People, use: Use, live: None, other: dict[str, Any]) -> None:
    store_fare(**other)
    assert ask_price(people, use)["route"] == "none_known"


def test_an_invented_fare_says_nothing_of_it(people: People, use: Use) -> None:
    store_fare(source="sandbox")
    assert ask_price(people, use)["route"] == "none_known"
