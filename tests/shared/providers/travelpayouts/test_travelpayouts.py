"""Travelpayouts' fares: what others were shown becomes the fares of one day with their age."""

import dataclasses
import json
from collections.abc import Iterator
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any

import httpx
import pytest
import respx

from shared.providers.ask import Ask
from shared.providers.contract import CashFare, FaresQuestion, Reading, Unanswered
from shared.providers.travelpayouts import client
from shared.services.search.provenance import freshness
from shared.settings import settings
from tests.shared.providers.fakes import INJECTION, SECRET, recorded
from tests.shared.providers.fakes.travelpayouts import QUESTION
from tests.support.fake_seats import reading_of

NOW = datetime(2026, 11, 21, 9, 0, tzinfo=UTC)
ENDS = ("LON", "NYC")
BODY = recorded("travelpayouts", "latest.json")


@pytest.fixture
def wire(live: None, monkeypatch: pytest.MonkeyPatch) -> Iterator[respx.Route]:
    monkeypatch.setenv("TRAVELPAYOUTS_TOKEN", SECRET)
    settings.cache_clear()
    with respx.mock(assert_all_called=False, assert_all_mocked=True) as mocked:
        route = mocked.get("https://api.travelpayouts.com/aviasales/v3/get_latest_prices")
        yield route.mock(return_value=httpx.Response(200, content=BODY))


def asked(question: FaresQuestion = QUESTION) -> Reading[Any]:
    return reading_of(Ask(1), "travelpayouts", "cash_fares", question)


def read(question: FaresQuestion = QUESTION, trip_class: int = 0, body: bytes = BODY) -> tuple[CashFare, ...]:
    return client.parse_fares(body, question, trip_class, ENDS, NOW)


def test_fares_of_the_day_and_class_come_cheapest_first_with_their_age() -> None:
    assert [(f.price, f.currency, f.stops, f.checked_at) for f in read()] == [
        (Decimal("301.5"), "USD", 1, datetime(2026, 11, 19, 8, 30, tzinfo=UTC)),
        (Decimal(389), "USD", 0, datetime(2026, 11, 20, 21, 0, tzinfo=UTC)),
    ]


def test_business_is_a_class_of_its_own() -> None:
    (fare,) = read(dataclasses.replace(QUESTION, cabin="business"), 1)
    assert (fare.price, fare.cabin) == (1900, "business")


def test_fares_that_ran_out_or_do_not_tell_their_age_are_left_out() -> None:
    assert {Decimal(120), Decimal(130), Decimal(77)}.isdisjoint({fare.price for fare in read()})


def test_one_passengers_price_is_multiplied() -> None:
    assert [fare.price for fare in read(dataclasses.replace(QUESTION, passengers=3))] == [Decimal("904.5"), 1167]


def test_a_round_trip_is_found_by_both_days() -> None:
    rows = json.loads(BODY)
    rows["data"][0]["return_date"] = "2027-03-20"
    there_and_back = dataclasses.replace(QUESTION, return_date=date(2027, 3, 20))
    (fare,) = read(there_and_back, body=json.dumps(rows).encode())
    assert (fare.price, fare.duration_minutes) == (389, None)


def test_prices_of_cities_say_so() -> None:
    assert all(fare.city_wide for fare in read())


def test_a_moment_to_come_is_not_believed() -> None:
    rows = json.loads(BODY)
    rows["data"] = [rows["data"][0] | {"found_at": "2026-11-21T12:00:00"}]
    assert read(body=json.dumps(rows).encode())[0].checked_at == NOW


def test_a_refusal_with_200_is_no_answer_and_its_words_go_nowhere(wire: respx.Route) -> None:
    wire.mock(return_value=httpx.Response(200, content=recorded("travelpayouts", "refused.json")))
    reading = asked()
    assert (reading.status, reading.reason, reading.value) == ("down", "source_error", None)
    assert INJECTION[:20] not in repr(reading)
    with pytest.raises(Unanswered):
        read(body=b'{"success": true, "data": null}')


def test_dollars_are_asked_for_and_cities_stand_for_their_airports(wire: respx.Route) -> None:
    asked()
    request = wire.calls.last.request
    assert request.headers["X-Access-Token"] == SECRET
    assert dict(request.url.params) == {
        "origin": "LON",
        "destination": "NYC",
        "beginning_of_period": "2027-03-01",
        "period_type": "month",
        "one_way": "true",
        "trip_class": "0",
        "currency": "usd",
        "sorting": "price",
        "limit": "1000",
        "page": "1",
    }


def test_no_fare_seen_lately_is_not_called_sold_out(wire: respx.Route) -> None:
    reading = asked(dataclasses.replace(QUESTION, date=date(2027, 3, 11)))
    assert (reading.status, reading.reason, reading.value) == ("no_data", "not_served", ())


def test_a_cabin_it_never_has_is_not_covered(wire: respx.Route) -> None:
    reading = asked(dataclasses.replace(QUESTION, cabin="premium_economy"))
    assert (reading.status, reading.reason, wire.called) == ("not_covered", "cabin_not_covered", False)


@pytest.mark.spec("s1.5.cached_is_marked")
def test_its_fares_are_never_called_live(wire: respx.Route) -> None:
    told = freshness([asked()])
    assert (told.mode, told.provider_checked_at) == ("cached", datetime(2026, 11, 19, 8, 30, tzinfo=UTC))
