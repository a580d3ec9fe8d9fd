"""SerpApi's pages of fares: its key is never shown."""

import dataclasses
import json
import logging
from collections.abc import Iterator
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any

import httpx
import pytest
import respx

from shared.providers.ask import Ask
from shared.providers.contract import Reading, Unanswered
from shared.providers.serpapi import client
from shared.redis import connect
from shared.settings import settings
from tests.shared.providers.fakes import SECRET, recorded
from tests.shared.providers.fakes.serpapi import QUESTION
from tests.support.fake_seats import reading_of

MADE = datetime(2026, 11, 21, 8, 0, tzinfo=UTC)
PAGE = recorded("serpapi", "one_way.json")


@pytest.fixture
def wire(live: None, monkeypatch: pytest.MonkeyPatch) -> Iterator[respx.Route]:
    monkeypatch.setenv("SERPAPI_API_KEY", SECRET)
    settings.cache_clear()
    with respx.mock(assert_all_called=False, assert_all_mocked=True) as mocked:
        route = mocked.get("https://serpapi.com/search.json")
        yield route.mock(return_value=httpx.Response(200, content=PAGE))


def asked(question: Any = QUESTION) -> Reading[Any]:
    return reading_of(Ask(1), "serpapi", "cash_fares", question)


def changed(**more: Any) -> bytes:
    return json.dumps(json.loads(PAGE) | more).encode()


def test_fares_of_both_lists_come_cheapest_first() -> None:
    first, second = client.parse_fares(PAGE, QUESTION, MADE)
    assert (first.price, first.carriers, first.flight_numbers, first.stops) == (
        Decimal("2115.5"),
        ("EI",),
        ("EI151", "EI105"),
        1,
    )
    assert (second.price, second.currency, second.cabin, second.duration_minutes) == (2790, "USD", "business", 485)
    assert (second.departs_at, second.arrives_at) == ("2027-03-09T11:20", "2027-03-09T14:25")
    assert second.booking_url == "https://www.google.com/travel/flights?hl=en&gl=us&curr=USD&tfs=CBwQAg"


def test_the_cabin_is_that_of_the_longest_flight_and_others_are_left_out() -> None:
    economy = dataclasses.replace(QUESTION, cabin="economy")
    assert [fare.flight_numbers for fare in client.parse_fares(PAGE, economy, MADE)] == [("Z0701",)]
    assert client.parse_fares(PAGE, dataclasses.replace(QUESTION, cabin="first"), MADE) == ()


def test_a_row_without_a_price_is_never_shown_as_free() -> None:
    assert "DL2" not in [number for fare in client.parse_fares(PAGE, QUESTION, MADE) for number in fare.flight_numbers]


def test_routes_with_only_the_second_list_are_read() -> None:
    body = json.loads(PAGE)
    del body["best_flights"]
    assert [fare.price for fare in client.parse_fares(json.dumps(body).encode(), QUESTION, MADE)] == [Decimal("2115.5")]


def test_an_answer_the_source_had_kept_shows_its_age() -> None:
    fresh, *_ = client.parse_fares(PAGE, QUESTION, MADE)
    kept, *_ = client.parse_fares(PAGE, QUESTION, datetime(2026, 11, 21, 8, 40, tzinfo=UTC))
    assert (fresh.checked_at, kept.checked_at) == (None, MADE)


def test_a_link_elsewhere_is_not_passed_on() -> None:
    body = changed(search_metadata={"status": "Success", "google_flights_url": "https://evil.invalid/travel/"})
    assert client.parse_fares(body, QUESTION, MADE)[0].booking_url is None


def test_nothing_found_is_an_empty_answer_and_any_other_error_is_none() -> None:
    assert client.parse_fares(recorded("serpapi", "empty.json"), QUESTION, MADE) == ()
    for body in (changed(error="Something broke."), changed(search_metadata={"status": "Error"})):
        with pytest.raises(Unanswered, match="down: source_error"):
            client.parse_fares(body, QUESTION, MADE)


def test_one_way_is_said_because_a_round_trip_would_be_assumed(wire: respx.Route) -> None:
    asked()
    assert dict(wire.calls.last.request.url.params) == {
        "api_key": SECRET,
        "engine": "google_flights",
        "departure_id": "LHR",
        "arrival_id": "JFK",
        "outbound_date": "2027-03-09",
        "type": "2",
        "travel_class": "3",
        "adults": "1",
        "currency": "USD",
        "hl": "en",
    }
    asked(dataclasses.replace(QUESTION, return_date=date(2027, 3, 20), passengers=2))
    params = wire.calls.last.request.url.params
    assert (params["type"], params["return_date"], params["adults"]) == ("1", "2027-03-20", "2")


def test_a_price_is_for_all_passengers_already(wire: respx.Route) -> None:
    reading = asked(dataclasses.replace(QUESTION, passengers=2))
    assert min(fare.price for fare in reading.value) == Decimal("2115.5")


@pytest.mark.parametrize(
    "trouble",
    [
        httpx.Response(401, json={"error": f"Invalid API key {SECRET}"}),
        httpx.Response(500, text=f"api_key={SECRET}"),
        httpx.Response(200, text=f"<html>{SECRET}"),
        httpx.Response(200, content=changed(error=f"bad key {SECRET}")),
        httpx.ConnectError(f"no route to https://serpapi.com/search.json?api_key={SECRET}"),
        httpx.ReadTimeout(f"slow: api_key={SECRET}"),
    ],
    ids=["401", "500", "html", "error", "unreachable", "timeout"],
)
def test_the_key_in_the_address_is_seen_nowhere(
    wire: respx.Route, trouble: Any, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    wire.mock(side_effect=trouble) if isinstance(trouble, Exception) else wire.mock(return_value=trouble)
    reading = asked()
    assert not reading.has_answer
    kept = repr([connect().hgetall(name) for name in connect().keys("*health*")])
    assert SECRET not in caplog.text + repr(reading) + kept
