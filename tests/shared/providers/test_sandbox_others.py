"""The sandbox next to seats: flights of an offer, cash fares, stays, delays, rates are invented, marked and steady."""

from datetime import date, timedelta
from decimal import Decimal

import anyio
import pytest

from shared import clock
from shared.providers.contract import FaresQuestion, HotelSpot, SeatsQuestion, StaysQuestion, Unanswered
from shared.providers.sandbox import client, draws, market
from shared.providers.sandbox.client import Sandbox
from shared.reference import hotels
from shared.reference.hotel_awards import build_award
from shared.reference.load import reference
from shared.services.search.hotel_prices import spot

TODAY = date(2026, 11, 21)
HOTEL = HotelSpot("htl_x", "Example House", "world-of-hyatt", "Tokyo", "JP", 35.6, 139.7, None)


def journey(cabin: str = "economy", ahead: int = 60, **more: object) -> FaresQuestion:
    asked = {"return_date": None, "passengers": 1, "currency": "USD"} | more
    return FaresQuestion("LHR", "JFK", TODAY + timedelta(days=ahead), cabin=cabin, **asked)  # type: ignore[arg-type]


def stay(earliest: date, latest: date | None = None, nights: int = 1, currency: str = "USD") -> StaysQuestion:
    return StaysQuestion((HOTEL,), earliest, latest or earliest, nights, 2, currency)


@pytest.mark.parametrize(
    ("cabin", "about"), [("economy", 401), ("premium_economy", 702), ("business", 1444), ("first", 2486)]
)
def test_a_fare_lies_near_what_distance_and_cabin_suggest(cabin: str, about: int) -> None:
    found = client.find_fares(journey(cabin), TODAY)
    assert found
    assert all(about * 0.7 < fare.price < about * 1.6 for fare in found)


def test_fares_are_cheapest_first_and_bear_every_mark_of_the_sandbox() -> None:
    found = client.find_fares(journey(), TODAY)
    assert [f.price for f in found] == sorted(f.price for f in found)
    assert all("SBX" in number for fare in found for number in fare.flight_numbers)
    assert all(fare.booking_url.startswith("https://sandbox.invalid/") for fare in found if fare.booking_url)


def test_a_return_and_more_passengers_cost_more_and_are_one_price() -> None:
    one = {f.carriers: f.price for f in client.find_fares(journey(), TODAY)}
    both = {f.carriers: f.price for f in client.find_fares(journey(passengers=2), TODAY)}
    back = {f.carriers: f.price for f in client.find_fares(journey(return_date=TODAY + timedelta(days=70)), TODAY)}
    assert all(both[c] == 2 * one[c] and back[c] > one[c] for c in one)


def test_a_fare_is_given_in_the_currency_asked_for_or_else_in_dollars() -> None:
    dollars, pounds = (client.find_fares(journey(currency=c), TODAY)[0] for c in ("USD", "GBP"))
    assert pounds.price == client.convert(dollars.price, "GBP")
    assert client.find_fares(journey(currency="XAF"), TODAY)[0].currency == "USD"


def test_nothing_is_sold_for_yesterday_or_where_nobody_flies() -> None:
    assert client.find_fares(journey(ahead=-1), TODAY) == ()
    with pytest.raises(Unanswered):
        client.find_fares(FaresQuestion("LHR", "QQQ", TODAY, None, "economy", 1, "USD"), TODAY)


def test_the_flights_behind_an_offer_are_those_of_its_row() -> None:
    offer = market.find_seats(SeatsQuestion("LHR", "JFK", TODAY, TODAY + timedelta(days=60)), TODAY, {})[0]
    (trip,) = market.find_trip(offer.ref, TODAY, {})
    assert (trip.points, trip.taxes, trip.cabin) == (offer.points, offer.taxes, offer.cabin)
    assert tuple(s.flight_number for s in trip.segments) == offer.flight_numbers
    assert trip.segments[0].departs_at == offer.departs_at


@pytest.mark.parametrize("ref", ["", "sbx_BA", "sbx_BA_none_LHR_JFK_20261201_first", "awd_x", "sbx_a_b_c_d_99999999_x"])
def test_an_offer_that_is_gone_or_never_was_has_no_flights(ref: str) -> None:
    with pytest.raises((Unanswered, ValueError)):
        market.find_trip(ref, TODAY, {})


def test_a_stay_costs_what_its_nights_cost() -> None:
    nights = client.find_stays(stay(TODAY, TODAY + timedelta(days=2)), TODAY, {})
    (whole,) = client.find_stays(stay(TODAY, nights=3), TODAY, {})
    assert len(nights) == 3
    if whole.available:
        assert whole.cash == sum(n.cash for n in nights if n.cash)


def test_a_night_costs_a_level_of_the_hotels_category_and_dollars_to_match() -> None:
    hotel = hotels.find_hotel(reference(), "Park Hyatt Tokyo")
    levels = {p.points for p in build_award(reference(), hotel, TODAY).prices}
    question = StaysQuestion((spot(hotel),), TODAY, TODAY + timedelta(days=20), 1, 2, "USD")
    nights = [s for s in client.find_stays(question, TODAY, {}) if s.available and s.points and s.cash]
    assert nights
    assert {s.points for s in nights} <= levels
    assert all(s.points * Decimal("0.01") < s.cash < s.points * Decimal("0.03") for s in nights if s.points and s.cash)


def test_only_airlines_that_fly_a_route_offer_it() -> None:
    def list_carriers(origin: str, destination: str) -> set[tuple[str, int | None]]:
        question = FaresQuestion(origin, destination, TODAY + timedelta(days=60), None, "economy", 1, "USD")
        return {(f.carriers[0], f.stops) for f in client.find_fares(question, TODAY)}

    atlantic = list_carriers("LHR", "JFK")
    assert {("BA", 0), ("VS", 0)} <= atlantic
    assert "VY" not in {carrier for carrier, _ in list_carriers("BOS", "LGW") | atlantic}
    assert ("JL", 0) in list_carriers("LHR", "HND")
    assert "JL" not in {carrier for carrier, _ in list_carriers("LHR", "NRT")}


def test_stays_change_as_days_pass_and_never_within_a_day() -> None:
    asked = stay(TODAY + timedelta(days=30), TODAY + timedelta(days=60))
    first, same, later = (
        client.find_stays(asked, d, {}) for d in (TODAY, TODAY, TODAY + timedelta(days=draws.DAYS_PER_DRAW))
    )
    assert first == same
    assert first != later


def test_a_stay_is_priced_and_filled_on_purpose() -> None:
    day = TODAY + timedelta(days=9)
    (cheap,) = client.find_stays(stay(day), TODAY, {f"stay|htl_x|{day}": "points:4000,cash:55.50"})
    (full,) = client.find_stays(stay(day), TODAY, {f"stay|htl_x|{day}": "full"})
    assert (cheap.points, cheap.cash, cheap.room_type) == (4000, Decimal("55.50"), client.ROOM)
    assert (full.available, full.points, full.cash) == (False, None, None)


def test_a_delay_is_invented_set_and_taken_back() -> None:
    drawn = [
        client.find_delays(code, clock.now(), {}) for code in ("SFO", "JFK", "LHR", "ORD", "BOS", "ATL", "DEN", "LAX")
    ]
    assert all(d.reason == client.REASON for found in drawn for d in found)
    assert client.find_delays("SFO", clock.now(), {"delay|SFO": "75"})[0].minutes == 75
    assert client.find_delays("SFO", clock.now(), {"delay|SFO": "stop"})[0].kind == "ground_stop"
    assert client.find_delays("SFO", clock.now(), {"delay|SFO": "none"}) == ()
    with pytest.raises(Unanswered):
        client.find_delays("QQQ", clock.now(), {})


def test_every_answer_of_the_client_is_that_of_its_module() -> None:
    found = anyio.run(Sandbox().cash_fares, journey())
    assert found == client.find_fares(journey(), clock.today())
