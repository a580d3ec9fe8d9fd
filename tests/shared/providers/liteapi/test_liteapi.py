"""LiteAPI's lists and rates: what a stay costs in money, from recorded answers."""

import json
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import date, timedelta
from decimal import Decimal
from typing import Any

import httpx
import pytest
import respx

from shared.providers.ask import Ask
from shared.providers.contract import Reading, StaysQuestion, Unanswered
from shared.providers.liteapi import client
from shared.providers.liteapi.client import MAX_DAYS
from shared.redis import connect
from shared.settings import settings
from tests.shared.providers.fakes import SECRET, recorded
from tests.shared.providers.fakes.rooms_aero import HOTEL
from tests.support.fake_seats import reading_of

DAY = date(2027, 3, 10)
QUESTION = StaysQuestion((HOTEL,), DAY, DAY, nights=3, guests=2, currency="USD")
HOTELS, RATES, NOTHING = (recorded("liteapi", f"{name}.json") for name in ("hotels", "rates", "nothing_left"))
BASE = "https://api.liteapi.travel/v3.0"


@dataclass
class Wire:
    hotels: respx.Route
    rates: respx.Route


@pytest.fixture
def wire(live: None, monkeypatch: pytest.MonkeyPatch) -> Iterator[Wire]:
    monkeypatch.setenv("LITEAPI_KEY", SECRET)
    settings.cache_clear()
    with respx.mock(assert_all_called=False, assert_all_mocked=True) as mocked:
        hotels = mocked.get(f"{BASE}/data/hotels").mock(return_value=httpx.Response(200, content=HOTELS))
        rates = mocked.post(f"{BASE}/hotels/rates").mock(return_value=httpx.Response(200, content=RATES))
        yield Wire(hotels, rates)


def asked(question: StaysQuestion = QUESTION) -> Reading[Any]:
    return reading_of(Ask(7), "liteapi", "hotel_stays", question)


def offers(change: Any = None) -> Any:
    told = json.loads(RATES)
    if change:
        change(told)
    return client.parse_offers(json.dumps(told).encode(), {"lp1897": HOTEL.hotel_code}, DAY, 3)


def test_the_cheapest_room_counts_with_what_is_paid_on_the_spot() -> None:
    (offer,) = offers()
    assert (offer.hotel_code, offer.check_in, offer.check_out) == (HOTEL.hotel_code, DAY, DAY + timedelta(days=3))
    assert (offer.cash, offer.currency, offer.points) == (Decimal("1592.45"), "USD", None)
    assert (offer.room_type, offer.available, offer.checked_at) == ("Twin room", True, None)


def test_money_is_exact() -> None:
    body = RATES.replace(b"1580.1", b"1580.10000000000000001").replace(b"12.35", b"0")
    (offer,) = client.parse_offers(body, {"lp1897": "htl"}, DAY, 3)
    assert offer.cash == Decimal("1580.10000000000000001")


def test_a_rate_in_two_currencies_is_passed_over() -> None:
    def yen(told: Any) -> None:
        told["data"][0]["roomTypes"][1]["rates"][0]["retailRate"]["taxesAndFees"][0]["currency"] = "JPY"

    (offer,) = offers(yen)
    assert (offer.room_type, offer.cash) == ("King room", Decimal("1612.9"))


def test_a_hotel_without_rates_is_absent_and_not_full(wire: Wire) -> None:
    wire.rates.mock(return_value=httpx.Response(200, content=NOTHING))
    reading = asked()
    assert (reading.status, reading.value, reading.reason) == ("no_data", (), "empty")


@pytest.mark.parametrize("status", [400, 404])
def test_no_rooms_said_with_an_error_status_is_no_failure(wire: Wire, status: int) -> None:
    wire.rates.mock(return_value=httpx.Response(status, content=NOTHING))
    assert asked().status == "no_data"


def test_another_error_in_a_good_answer_is_a_failure(wire: Wire) -> None:
    wire.rates.mock(return_value=httpx.Response(200, json={"error": {"code": 4002, "message": "no"}}))
    assert (asked().status, asked().reason) == ("down", "wrong_shape")


def test_rooms_whose_prices_cannot_be_read_are_no_answer() -> None:
    def strip(told: Any) -> None:
        for room in told["data"][0]["roomTypes"]:
            room["rates"] = []

    with pytest.raises(ValueError, match="no rate"):
        offers(strip)


def test_prices_of_their_sandbox_are_refused() -> None:
    with pytest.raises(Unanswered) as told:
        offers(lambda answer: answer.update(sandbox=True))
    assert told.value.status == "not_permitted"


def test_with_a_test_key_liteapi_is_not_asked(wire: Wire, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LITEAPI_KEY", "sand_c0155ab8-0000")
    settings.cache_clear()
    reading = asked()
    assert (reading.status, reading.reason) == ("not_permitted", "test_key")
    assert not wire.hotels.called


# which hotel


def test_a_hotel_is_found_by_its_place_and_its_name(wire: Wire) -> None:
    assert asked().value[0].hotel_code == HOTEL.hotel_code
    assert dict(wire.hotels.calls.last.request.url.params) == {
        "countryCode": "JP",
        "latitude": "35.69",
        "longitude": "139.69",
        "radius": "2000",
        "distance": "2000",
        "limit": "200",
    }
    assert wire.hotels.calls.last.request.headers["x-api-key"] == SECRET


def test_a_hotel_found_once_is_remembered(wire: Wire) -> None:
    asked()
    asked(replace(QUESTION, guests=1))
    assert (wire.hotels.call_count, wire.rates.call_count) == (1, 2)
    (name,) = connect().keys("award:live:liteapi:hotel:*")
    assert 29 * 86_400 < connect().ttl(name) <= 30 * 86_400


def test_a_hotel_looked_for_in_vain_is_not_looked_for_again_at_once(wire: Wire) -> None:
    wire.hotels.mock(return_value=httpx.Response(200, json={"data": []}))
    first, second = asked(), asked(replace(QUESTION, guests=1))
    assert {(r.status, r.reason) for r in (first, second)} == {("not_covered", "hotel_unknown")}
    assert (wire.hotels.call_count, wire.rates.called) == (1, False)


def test_of_hotels_the_known_ones_are_priced(wire: Wire) -> None:
    wire.hotels.mock(
        side_effect=lambda request: httpx.Response(
            200, content=HOTELS if "latitude" in request.url.params else b'{"data":[]}'
        )
    )
    unknown = replace(HOTEL, hotel_code="htl_other", name="Another", latitude=None)
    reading = asked(replace(QUESTION, hotels=(HOTEL, unknown)))
    assert [o.hotel_code for o in reading.value] == [HOTEL.hotel_code]
    assert json.loads(wire.rates.calls.last.request.content)["hotelIds"] == ["lp1897"]
    assert [c.request.url.params.get("cityName") for c in wire.hotels.calls] == [None, "Tokyo"]


# the question


def test_the_question_is_put_in_the_words_of_liteapi(wire: Wire) -> None:
    asked()
    assert json.loads(wire.rates.calls.last.request.content) == {
        "hotelIds": ["lp1897"],
        "checkin": "2027-03-10",
        "checkout": "2027-03-13",
        "currency": "USD",
        "guestNationality": "US",
        "occupancies": [{"adults": 2, "children": []}],
        "timeout": 8,
    }


def test_each_day_of_arrival_is_asked_alone_up_to_a_month(wire: Wire) -> None:
    reading = asked(replace(QUESTION, latest=DAY + timedelta(days=MAX_DAYS - 1), nights=1))
    assert [o.check_in for o in reading.value] == [DAY + timedelta(days=n) for n in range(MAX_DAYS)]
    assert wire.rates.call_count == MAX_DAYS
    assert asked(replace(QUESTION, latest=DAY + timedelta(days=MAX_DAYS))).reason == "too_many_days"


def test_one_day_that_fails_fails_the_answer(wire: Wire) -> None:
    wire.rates.mock(side_effect=[httpx.Response(200, content=RATES), httpx.Response(500)])
    reading = asked(replace(QUESTION, latest=DAY + timedelta(days=1)))
    assert (reading.status, reading.reason, reading.value) == ("down", "http_500", None)
