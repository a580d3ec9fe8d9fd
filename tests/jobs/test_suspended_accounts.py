"""No job works for a suspended account; each continues by itself once it is restored."""

from collections.abc import Callable

import pytest

from mcp_server.toolkit.context import Caller
from shared import clock
from shared.db.accounts import Account
from shared.db.bookings import HotelBooking
from shared.db.delay_alerts import DelayAlert
from shared.db.flight_alerts import FlightAlert
from shared.db.route_monitors import RouteMonitor
from shared.db.runs import Schedule
from tests.jobs import test_delay_alerts, test_flight_alerts, test_hotel_prices, test_route_monitors
from tests.jobs.conftest import change, notices, rows

WATCHES = (RouteMonitor, FlightAlert, HotelBooking, DelayAlert)
Job = tuple[Callable[[], None], Callable[[], None]]  # something worth telling is there; the next check


@pytest.fixture(params=["route_monitor", "flight_alert", "hotel_price", "delay_alert"])
def job(request: pytest.FixtureRequest, alice: Caller) -> Job:
    if request.param == "route_monitor":
        test_route_monitors.watch(alice)
        return lambda: test_route_monitors.seat("open:3"), test_route_monitors.check
    if request.param == "flight_alert":
        test_flight_alerts.alert(alice)
        return lambda: test_flight_alerts.seat("open:3"), test_flight_alerts.check
    if request.param == "hotel_price":
        test_hotel_prices.book(alice)
        test_hotel_prices.priced("points:210000")
        return lambda: test_hotel_prices.priced("points:150000"), test_hotel_prices.check
    test_delay_alerts.alert(alice)
    return lambda: test_delay_alerts.delay(60), test_delay_alerts.check


def test_a_job_rests_while_its_account_is_suspended(job: Job) -> None:
    appear, check = job
    check()
    last_checks = [row.last_checked_at for kind in WATCHES for row in rows(kind)]
    appear()
    change(Account, disabled_at=clock.now())
    check()
    assert notices() == []
    assert [row.last_checked_at for kind in WATCHES for row in rows(kind)] == last_checks
    assert all(row.enabled for row in rows(Schedule))
    change(Account, disabled_at=None)
    check()
    assert len(notices()) == 1
