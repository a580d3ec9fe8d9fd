"""What the portfolio of a person with much in the account costs: statements, processor time, weight."""

# ruff: noqa: F811 - fixtures are taken from other parts' tests

from datetime import date, timedelta

import pytest

from mcp_server.toolkit.context import Caller
from shared import clock
from shared.db.base import transaction
from shared.db.bookings import FlightBooking, HotelBooking
from shared.db.route_monitors import RouteMonitor
from tests.mcp_server.rest.conftest import World, running, world  # noqa: F401 - fixtures
from tests.mcp_server.rest.signed_in_browser import sign_up
from tests.mcp_server.tools.conftest import queries  # noqa: F401 - a fixture
from tests.performance.stopwatch import cost_in_pages

BOOKINGS, WATCHES = 500, 100


def _add_flight(caller: Caller, day: date) -> FlightBooking:
    route = {
        "airline": "UA",
        "origin": "LAX",
        "destination": "DEN",
        "cabin_class": "economy",
        "kind": "cash",
        "taxes_currency": "USD",
    }
    return FlightBooking(account_id=caller.account_id, departure_date=day, cash_paid=140, **route)


def _add_stay(caller: Caller, day: date) -> HotelBooking:
    place = {
        "hotel_code": "",
        "hotel_name": "Alder Lodge",
        "kind": "cash",
        "original_pay_rate_usd": 400,
        "cash_rate_currency": "USD",
    }
    return HotelBooking(
        account_id=caller.account_id, check_in_date=day, check_out_date=day + timedelta(days=2), **place
    )


@pytest.fixture
def ann(world: World) -> Caller:
    """With 500 bookings of the next years, 100 watches, and nothing else."""
    caller, day = sign_up(world, "ann@example.test", "enterprise"), clock.today()
    window = {"origin": "LAX", "destination": "NRT", "earliest_date": day, "latest_date": day + timedelta(days=90)}
    with transaction() as session:
        for place in range(BOOKINGS // 2):
            session.add_all(
                [_add_flight(caller, day + timedelta(days=place)), _add_stay(caller, day + timedelta(days=place))]
            )
        session.add_all(RouteMonitor(account_id=caller.account_id, passengers=1, **window) for _ in range(WATCHES))
    return caller


def test_the_portfolio_of_a_full_account(world: World, ann: Caller, queries: list[str]) -> None:
    """Both hosts and the client of the test are one process here, which makes a fifth of the time."""
    assert world.get("/dashboard").status_code == 200
    queries.clear()
    page = world.get("/dashboard")
    assert "Alder Lodge" in page.text
    assert len(page.content) < 30_000
    assert len(queries) <= 25, queries  # one for each table and its count, however many rows there are
    assert cost_in_pages(lambda: world.get("/dashboard")) < 16  # 8 measured: 24 ms
