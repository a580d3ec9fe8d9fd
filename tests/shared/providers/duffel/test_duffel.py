"""Duffel's offers: recorded answers become fares that are truly of the cabin; invented ones never do."""

import json
from collections.abc import Iterator
from dataclasses import replace
from datetime import date
from decimal import Decimal
from typing import Any

import httpx
import pytest
import respx

from shared.providers.ask import Ask
from shared.providers.contract import CashFare, Reading, Unanswered
from shared.providers.duffel import client
from shared.settings import settings
from tests.shared.providers.fakes import SECRET, recorded
from tests.shared.providers.fakes.duffel import FAKES, offered
from tests.support.fake_seats import reading_of

QUESTION = FAKES[0].question
PAGE = recorded("duffel", "offers.json")


@pytest.fixture
def wire(live: None, monkeypatch: pytest.MonkeyPatch) -> Iterator[respx.Route]:
    monkeypatch.setenv("DUFFEL_API_KEY", SECRET)
    settings.cache_clear()
    with respx.mock(assert_all_called=False, assert_all_mocked=True) as mocked:
        route = mocked.post("https://api.duffel.com/air/offer_requests")
        yield route.mock(return_value=httpx.Response(200, content=PAGE))


def asked(question: Any = QUESTION) -> Reading[Any]:
    return reading_of(Ask(7), "duffel", "cash_fares", question)


def fares(change: Any = None, cabin: str = "business") -> tuple[CashFare, ...]:
    told = offered()
    if change:
        change(told["data"])
    return client.parse_fares(json.dumps(told).encode(), cabin)


def test_fares_come_cheapest_first_with_their_flights() -> None:
    one_stop, nonstop = fares()
    assert nonstop == CashFare(
        price=Decimal("2810.40"),
        currency="GBP",
        cabin="business",
        carriers=("BA",),
        flight_numbers=("BA117",),
        departs_at="2027-03-09T11:20",
        arrives_at="2027-03-09T14:25",
        duration_minutes=485,
        stops=0,
        booking_url=None,
        checked_at=None,
    )
    assert (one_stop.price, one_stop.carriers, one_stop.flight_numbers) == (
        Decimal("1990.00"),
        ("BA", "EI"),
        ("BA830", "EI105"),
    )
    assert (one_stop.stops, one_stop.duration_minutes, one_stop.arrives_at) == (1, 26 * 60 + 30, "2027-03-10T02:00")


def test_an_offer_with_one_segment_in_another_cabin_is_no_fare_of_the_cabin() -> None:
    assert Decimal("1500.00") not in [f.price for f in fares()]
    assert fares(cabin="economy") == ()


def test_the_airline_of_their_tests_is_never_shown() -> None:
    assert Decimal("99.00") not in [f.price for f in fares()]


@pytest.mark.parametrize("mode", [False, None, "true"])
def test_an_answer_that_is_not_live_is_refused_whole(mode: Any) -> None:
    with pytest.raises(Unanswered) as told:
        fares(lambda data: data.update(live_mode=mode))
    assert (told.value.status, told.value.reason) == ("not_permitted", "test_data")


def test_a_single_offer_that_is_not_live_is_left_out() -> None:
    assert len(fares(lambda data: data["offers"][0].update(live_mode=False))) == 1


def test_with_a_test_key_duffel_is_not_asked(wire: respx.Route, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DUFFEL_API_KEY", "duffel_test_abc")
    settings.cache_clear()
    reading = asked()
    assert (reading.status, reading.reason, wire.called) == ("not_permitted", "test_key", False)


def test_both_ways_are_counted_together() -> None:
    def back(data: Any) -> None:
        data["offers"] = data["offers"][:1]
        there = data["offers"][0]["slices"]
        there.append({**there[0], "duration": "PT7H"})

    (fare,) = fares(back)
    assert (fare.stops, fare.duration_minutes, fare.departs_at) == (0, 485 + 420, "2027-03-09T11:20")


@pytest.mark.parametrize("span", [None, "", "P", "8 hours"])
def test_a_duration_that_cannot_be_read_is_unknown(span: str | None) -> None:
    (nonstop,) = (f for f in fares(lambda d: d["offers"][0]["slices"][0].update(duration=span)) if f.stops == 0)
    assert nonstop.duration_minutes is None


def test_an_offer_that_cannot_be_read_costs_only_itself() -> None:
    assert len(fares(lambda data: data["offers"][0].pop("total_amount"))) == 1
    with pytest.raises(Unanswered) as told:
        fares(lambda data: data.update(offers=[{"id": "off_1"}]))
    assert told.value.status == "down"


def test_fifty_fares_are_enough() -> None:
    assert len(fares(lambda data: data.update(offers=data["offers"][:1] * 80))) == client.MAX_FARES


# the question


def test_the_question_is_put_in_the_words_of_duffel(wire: respx.Route) -> None:
    asked(replace(QUESTION, return_date=date(2027, 3, 16), passengers=2, cabin="premium_economy"))
    request = wire.calls.last.request
    assert json.loads(request.content) == {
        "data": {
            "slices": [
                {"origin": "LHR", "destination": "JFK", "departure_date": "2027-03-09"},
                {"origin": "JFK", "destination": "LHR", "departure_date": "2027-03-16"},
            ],
            "passengers": [{"type": "adult"}, {"type": "adult"}],
            "cabin_class": "premium_economy",
            "max_connections": 1,
        }
    }
    assert dict(request.url.params) == {"return_offers": "true", "supplier_timeout": "15000"}
    assert request.headers["authorization"] == f"Bearer {SECRET}"
    assert request.headers["duffel-version"] == "v2"


def test_a_search_that_costs_money_is_asked_once(wire: respx.Route) -> None:
    wire.mock(return_value=httpx.Response(503))
    assert (asked().reason, wire.call_count) == ("http_503", 1)


@pytest.mark.parametrize(
    ("answer", "status", "reason"),
    [
        (httpx.Response(401, json={"errors": [{"code": "access_token_not_found"}]}), "broken", "bad_key"),
        (httpx.Response(403), "not_permitted", "http_403"),
        (httpx.Response(422, json={"errors": [{"code": "validation_required"}]}), "not_covered", "not_sold"),
        (httpx.Response(400), "down", "http_400"),
    ],
)
def test_refusals_of_duffel_are_told_apart(wire: respx.Route, answer: httpx.Response, status: str, reason: str) -> None:
    wire.mock(return_value=answer)
    assert (asked().status, asked().reason) == (status, reason)


def test_a_reset_may_be_told_as_a_date(wire: respx.Route) -> None:
    wire.mock(return_value=httpx.Response(429, headers={"ratelimit-reset": "Fri, 01 Jan 2100 00:00:00 GMT"}))
    assert asked().retry_after == 86_400
    reading = asked()
    assert (reading.status, wire.call_count) == ("quota_exhausted", 1)
    assert 86_000 < (reading.retry_after or 0) <= 86_400
