"""An answer that comes after the one to a later question: it changes nothing, and the time of the newest look stays."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any, NamedTuple

import pytest
from sqlalchemy.orm import Session

from jobs.handlers import delay_alerts, flight_alerts, hotel_prices, route_monitors
from mcp_server.toolkit.context import Caller
from shared import clock
from shared.db.base import transaction
from shared.db.bookings import HotelBooking, HotelPrice
from shared.db.delay_alerts import DelayAlert
from shared.db.flight_alerts import FlightAlert
from shared.db.route_monitors import RouteMonitor
from shared.db.runs import Claim
from tests.jobs.conftest import forget_answers, notices, rows
from tests.jobs.test_delay_alerts import alert as watch_airport
from tests.jobs.test_delay_alerts import delay
from tests.jobs.test_flight_alerts import alert as watch_flights
from tests.jobs.test_hotel_prices import book, priced
from tests.jobs.test_route_monitors import seat, watch
from tests.support.people import account

Finish = Callable[[Session], Any]


class Kind(NamedTuple):
    """How a watch is made and what it watches brought about, how it is asked for, and what its newest look left."""

    row: type[Any]
    make: Callable[[Caller], int]
    happen: Callable[[], None]
    ask: Callable[[Claim], Finish]
    noted: dict[str, Any]


def _look_of_another(claim: Claim) -> Finish:
    """The price that someone else's look at the same nights has stored just before."""
    book(account("bob"))
    (other,) = (row.id for row in rows(HotelBooking) if row.id != claim.subject_id)
    with transaction() as session:
        hotel_prices.check(Claim(2, "hotel_price", other, 1))(session)
    assert len(rows(HotelPrice)) == 1
    forget_answers()
    return hotel_prices.check(claim)


def _open_seat() -> None:
    seat("open")


def _lower_price() -> None:
    priced("points:150000")


def _late_flights() -> None:
    delay(45)


KINDS = {
    "route monitor": Kind(RouteMonitor, watch, _open_seat, route_monitors.check, {}),
    "flight alert": Kind(FlightAlert, watch_flights, _open_seat, flight_alerts.check, {"last_outcome": "later"}),
    "stay": Kind(HotelBooking, book, _lower_price, hotel_prices.check, {"last_error": "later"}),
    "stay by the look of another": Kind(HotelBooking, book, _lower_price, _look_of_another, {"last_error": "later"}),
    "delay alert": Kind(DelayAlert, watch_airport, _late_flights, delay_alerts.check, {}),
}


@pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS)
def test_an_answer_that_a_later_one_overtook_leaves_the_watch_as_it_is(alice: Caller, kind: Kind) -> None:
    id = kind.make(alice)
    kind.happen()
    finish = kind.ask(Claim(1, "of the test", id, 1))
    later = {"last_checked_at": clock.now() + timedelta(seconds=1)} | kind.noted
    with transaction() as session:
        for name, value in later.items():
            setattr(session.get_one(kind.row, id), name, value)
    told = notices()
    with transaction() as session:
        finish(session)
    (row,) = (row for row in rows(kind.row) if row.id == id)
    assert {name: getattr(row, name) for name in later} == later
    assert len(notices()) == len(told)


@pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS)
def test_an_answer_to_the_newest_question_is_noted(alice: Caller, kind: Kind) -> None:
    id = kind.make(alice)
    kind.happen()
    finish = kind.ask(Claim(1, "of the test", id, 1))
    with transaction() as session:
        session.get_one(kind.row, id).last_checked_at = clock.now() - timedelta(hours=1)
    with transaction() as session:
        finish(session)
    (row,) = (row for row in rows(kind.row) if row.id == id)
    assert row.last_checked_at == clock.now()
    assert any(notice.account_id == alice.account_id for notice in notices())
