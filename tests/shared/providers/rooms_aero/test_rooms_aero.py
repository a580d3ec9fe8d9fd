"""rooms.aero's rows: stays of the hotels that were asked for, from recorded searches."""

import json
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from typing import Any

import httpx
import pytest
import respx

from shared.providers.ask import Ask
from shared.providers.contract import HotelSpot, Reading, StayOffer, StaysQuestion, Unanswered
from shared.providers.rooms_aero import client
from shared.providers.rooms_aero.client import CALLS, PAGES
from shared.settings import settings
from tests.shared.providers.fakes import SECRET, recorded
from tests.shared.providers.fakes.rooms_aero import DAY, HOTEL
from tests.support.fake_seats import reading_of

PAGE = recorded("rooms_aero", "search.json")
CONRAD = HotelSpot("htl_conrad", "Conrad Tokyo", "hilton-honors", "Tokyo", "JP", 35.66, 139.76, None)
ANDAZ = HotelSpot("htl_andaz", "Andaz Tokyo Toranomon Hills", "world-of-hyatt", "Tokyo", "JP", 35.67, 139.75, None)
QUESTION = StaysQuestion((HOTEL,), DAY, DAY, nights=3, guests=2, currency="USD")


def rows(**changed: Any) -> list[dict[str, Any]]:
    first, *others = json.loads(PAGE)["data"]
    return [first | changed, *others]


def stays(*hotels: HotelSpot, last: date = DAY, nights: int = 3, **changed: Any) -> tuple[StayOffer, ...]:
    return client.parse_stays(rows(**changed), hotels or (HOTEL,), DAY, last, nights)


@pytest.fixture
def wire(live: None, monkeypatch: pytest.MonkeyPatch) -> Iterator[respx.Route]:
    monkeypatch.setenv("ROOMS_AERO_API_KEY", SECRET)
    settings.cache_clear()
    with respx.mock(assert_all_called=False, assert_all_mocked=True) as mocked:
        yield mocked.get("https://rooms.aero/partnerapi/search").mock(return_value=httpx.Response(200, content=PAGE))


def asked(question: StaysQuestion = QUESTION) -> Reading[Any]:
    return reading_of(Ask(7), "rooms_aero", "hotel_stays", question)


def test_a_stay_has_points_and_cash_of_all_its_nights() -> None:
    assert stays() == (
        StayOffer(
            hotel_code="htl_park_hyatt_tokyo",
            check_in=DAY,
            check_out=DAY + timedelta(days=3),
            available=True,
            points=105_000,
            cash=Decimal("2415.00"),
            currency="USD",
            room_type="standard room",
            checked_at=datetime(2026, 11, 20, 4, 0, tzinfo=UTC),
        ),
    )


def test_cash_is_counted_in_the_coins_of_its_currency() -> None:
    (stay,) = stays(CONRAD)
    assert (stay.points, stay.cash, stay.currency) == (285_000, Decimal(165_000), "JPY")


def test_zero_is_a_price_not_known() -> None:
    (stay,) = stays(ANDAZ)
    assert (stay.points, stay.cash) == (None, Decimal("1880.00"))
    assert stays(lowest_award_standard=0, lowest_cash_standard=0) == ()
    (points,) = stays(lowest_cash_standard=0)
    assert (points.points, points.cash, points.currency) == (105_000, None, None)


def test_other_days_and_other_lengths_of_stay_are_not_this_stay() -> None:
    assert stays(standard_date="2027-02-04") == ()
    assert stays(standard_nights=2) == ()
    assert stays(standard_date=None) == ()


def test_in_a_window_the_cash_may_be_of_another_day_and_is_not_shown() -> None:
    (stay,) = stays(last=DAY + timedelta(days=40))
    assert (stay.check_in, stay.points, stay.cash) == (DAY, 105_000, None)


def test_a_hotel_of_another_programme_or_city_is_not_this_hotel() -> None:
    assert stays(replace(HOTEL, program="hilton-honors")) == ()
    there = [row | {"hotel": row["hotel"] | {"city": "Busan"}} for row in rows()]
    assert client.parse_stays(there, (HOTEL, CONRAD), DAY, DAY, 3) == ()


def test_several_hotels_are_told_apart_by_their_whole_names() -> None:
    assert {s.hotel_code for s in stays(HOTEL, CONRAD)} == {HOTEL.hotel_code, "htl_conrad"}
    assert {s.hotel_code for s in stays(HOTEL, ANDAZ)} == {HOTEL.hotel_code}


def test_a_row_of_unknown_shape_costs_only_itself() -> None:
    strange: list[dict[str, Any]] = [{"hotel": None}, {"hotel": {"id": "h", "name": "x", "source": "newcomer"}}]
    assert len(client.parse_stays([*strange, *rows()], (HOTEL,), DAY, DAY, 3)) == 1
    with pytest.raises(Unanswered) as told:
        client.parse_stays(strange[:1], (HOTEL,), DAY, DAY, 3)
    assert told.value.status == "down"


# questions


def test_a_hotel_is_asked_for_by_the_box_around_it(wire: respx.Route) -> None:
    assert asked().status == "ok"
    sent = wire.calls.last.request
    assert dict(sent.url.params) == {
        "sw_lat": "35.6700",
        "sw_lng": "139.6700",
        "ne_lat": "35.7100",
        "ne_lng": "139.7100",
        "start_date": "2027-02-03",
        "end_date": "2027-02-03",
        "nights": "3",
        "source": "hyatt",
        "take": "500",
    }
    assert sent.headers["partner-authorization"] == SECRET


def test_hotels_of_one_city_are_asked_for_together_and_a_city_stands_in_for_a_place(wire: respx.Route) -> None:
    asked(replace(QUESTION, hotels=(HOTEL, CONRAD)))
    assert wire.call_count == 1
    assert wire.calls.last.request.url.params["source"] == "hilton,hyatt"
    asked(replace(QUESTION, hotels=(replace(HOTEL, latitude=None),)))
    assert wire.calls.last.request.url.params["location"] == "Tokyo, JP"


def test_each_day_of_a_month_is_asked_alone_and_a_longer_window_at_once(wire: respx.Route) -> None:
    asked(replace(QUESTION, latest=DAY + timedelta(days=CALLS - 1)))
    assert wire.call_count == CALLS
    asked(replace(QUESTION, latest=DAY + timedelta(days=CALLS)))
    assert wire.call_count == CALLS + 1


@pytest.mark.parametrize(
    ("changed", "reason"),
    [
        ({"nights": 6}, "nights"),
        ({"guests": 3}, "guests"),
        ({"hotels": (replace(HOTEL, program="accor-live-limitless"), replace(HOTEL, program=None))}, "program"),
        ({"hotels": tuple(replace(HOTEL, city=f"City {n}") for n in range(CALLS + 1))}, "too_many_places"),
    ],
)
def test_what_it_does_not_price_it_is_not_asked(wire: respx.Route, changed: dict[str, Any], reason: str) -> None:
    reading = asked(replace(QUESTION, **changed))
    assert (reading.status, reading.reason, wire.called) == ("not_covered", reason, False)


def test_pages_are_read_to_their_end_and_no_farther_than_a_few(wire: respx.Route) -> None:
    pages = [{"data": rows()[1:], "has_more": True}, {"data": rows()[:1], "has_more": False}]
    wire.mock(side_effect=[httpx.Response(200, json=page) for page in pages])
    assert asked().value[0].points == 105_000
    assert [c.request.url.params.get("skip") for c in wire.calls] == [None, "2"]
    wire.mock(return_value=httpx.Response(200, json={"data": rows(), "has_more": True}))
    assert asked(replace(QUESTION, nights=2)).reason == "too_many_rows"
    assert wire.call_count == 2 + PAGES


@pytest.mark.parametrize(
    ("answer", "status", "reason"),
    [
        (httpx.Response(400, json={"error": "invalid_parameter", "message": "nights"}), "down", "http_400"),
        (httpx.Response(503, json={"error": "seats_aero_unavailable"}), "down", "http_503"),
        (httpx.Response(403, html="<html>Just a moment...</html>"), "down", "blocked"),
    ],
)
def test_rooms_aero_refusals_are_told_apart(
    wire: respx.Route, answer: httpx.Response, status: str, reason: str
) -> None:
    wire.mock(return_value=answer)
    assert (asked().status, asked().reason) == (status, reason)
