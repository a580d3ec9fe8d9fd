"""get_portfolio's log of redemptions: what the points of this year's award bookings got."""

from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any

import pytest

from shared.db.base import transaction
from shared.db.observations import FareObservation
from tests.mcp_server.tools.conftest import Use
from tests.support.people import People
from tests.support.settings_and_clock import StandingClock

JOURNEY = "6f9619ff-8b86-4d01-b42d-00cf4fc964ff"
FLIGHT = {"airline": "BA", "origin": "LHR", "destination": "JFK", "cabin_class": "business", "passengers": 1}


@pytest.fixture
def add(people: People, use: Use, standing_clock: StandingClock) -> Any:
    standing_clock.set(datetime(2026, 11, 22, 12, tzinfo=UTC))

    def add(departure_date: str = "2026-12-10", **terms: Any) -> int:
        answer = use(people.alice, "add_flight_booking", **FLIGHT | terms, departure_date=departure_date, again=True)
        return int(answer["booking"]["booking_id"])

    return add


def see_fare(people: People, day: str, price: int) -> None:
    with transaction(people.bob.account_id) as session:
        fare = {"source": "sandbox", "origin": "LHR", "destination": "JFK", "date": date.fromisoformat(day)}
        what = {"cabin": "business", "currency": "USD", "carriers": ["BA"], "passengers": 1}
        session.add(FareObservation(**fare, **what, price=Decimal(price)))


def test_get_portfolio_logs_what_redemptions_of_this_year_got(people: People, use: Use, add: Any) -> None:
    priced = add(points_spent=60_000, taxes_paid=200, cash_price=2_000, program="flying-blue", trip_id=JOURNEY)
    add("2026-12-20", points_spent=0, trip_id=JOURNEY)
    seen = add("2026-03-01", points_spent=50_000, taxes_paid=100, member="Anna")
    see_fare(people, "2026-03-01", 850)
    unpriced = add("2026-02-01", points_spent=10_000, taxes_paid=5)
    add("2027-01-05", points_spent=99_000, taxes_paid=5, cash_price=900)  # travel of another year
    add("2026-05-05", kind="cash", cash_paid=300)
    stay = {"check_in_date": "2026-12-01", "check_out_date": "2026-12-03", "city": "Rome", "country": "IT"}
    hotel = use(
        people.alice, "add_hotel_booking", hotel_id="Albergo Zed", **stay, original_points=100_000,
        original_pay_rate_usd=1_600,
    )["booking"]["booking_id"]  # fmt: skip
    answer = use(people.alice, "get_portfolio")
    log = answer["redemptions"]
    assert (log["year"], log["count"], log["points"], log["value_got"]) == (2026, 3, 210_000, 4_150)
    assert (log["cents_per_point"], log["without_price"], log["without_taxes"]) == (1.98, 1, 0)
    assert [
        (r["booking_type"], r["booking_id"], r["basis"], r["value"], r["cents_per_point"]) for r in log["rows"]
    ] == [
        ("flight", priced, "given", 1_800, 3),
        ("hotel", hotel, "given", 1_600, 1.6),
        ("flight", seen, "seen", 750, 1.5),
        ("flight", unpriced, None, None, None),
    ]
    assert (log["rows"][0]["program"], log["rows"][2]["member"]) == ("flying-blue", "Anna")
    assert (
        "This year 3 redemptions of 210,000 points got 4,150.00 USD, 1.98 cents a point; besides, 1 has no cash price."
        in answer["message"]
    )


def test_get_portfolio_converts_redemptions_and_says_what_is_left_out(people: People, use: Use, add: Any) -> None:
    add(points_spent=10_000, cash_price=500)
    add(points_spent=20_000, taxes_paid=0, cash_price=500, taxes_currency="VES")
    answer = use(people.alice, "get_portfolio")
    log = answer["redemptions"]
    assert (log["count"], log["value_got"], log["cents_per_point"]) == (0, 0, None)
    assert (log["without_price"], log["without_taxes"], log["without_rate"]) == (0, 1, 1)
    assert "1 has no taxes logged and 1 has a price in a currency without a known rate" in answer["message"]
    add(points_spent=10_000, taxes_paid=0, cash_price=100, taxes_currency="EUR")
    log = use(people.alice, "get_portfolio")["redemptions"]
    assert (log["count"], log["currency"], log["rows"][0]["currency"]) == (1, "USD", "EUR")
    assert 1 < log["cents_per_point"] < 1.5


def test_get_portfolio_without_award_bookings_says_nothing_of_redemptions(people: People, use: Use) -> None:
    answer = use(people.bob, "get_portfolio")
    assert (answer["redemptions"]["count"], answer["redemptions"]["rows"]) == (0, [])
    assert "redemption" not in answer["message"]
