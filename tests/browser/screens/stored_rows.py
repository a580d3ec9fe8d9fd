"""What stands in the database before the screens of what a person holds and watches are opened."""

from datetime import date, datetime, timedelta
from decimal import Decimal
from typing import Any

from shared import clock
from shared.db.base import transaction
from shared.db.bookings import HotelPrice
from shared.db.route_monitors import MonitorCheck, MonitorKey, MonitorMatch, RouteMonitor
from tests.browser.screens.stage import Stage
from tests.support.settings_and_clock import DAY

TOKYO = "htl_conrad-tokyo"
PROGRAM = "british-airways-club"
BALANCES = {"amex-membership-rewards": 390_000, "chase-ultimate-rewards": 61_500, "flying-blue": 31_000}
# The newest last; None is a day on which the hotel was sold out.
PRICES = (210_000, 205_000, 240_000, None, 188_000, 150_000, 176_000, 165_000, 171_000)
# Hours since it was found, points, days until it flies, still open, airline.
FINDS = (
    (42, 80_000, 32, True, "BA"),
    (42, 88_000, 33, False, "VS"),
    (12, 70_000, 34, True, "BA"),
    (12, 90_000, 35, False, "AA"),
    (0, 74_000, 36, True, "VS"),
)


def days_ahead(count: int) -> date:
    return DAY + timedelta(days=count)


def hold_points(stage: Stage) -> None:
    for program, points in BALANCES.items():
        stage.use("update_points_balance", program=program, balance=points)
    end = days_ahead(12).isoformat()
    stage.use("update_points_balance", program="delta-skymiles", balance=22_000, expires_on=end)


def hold_much(stage: Stage) -> None:
    hold_points(stage)
    stage.use("add_voucher", voucher_slug="hilton-free-night-reward", expires_on=days_ahead(40).isoformat())
    stage.use("set_loyalty_status", program="flying-blue", tier="Gold", valid_until=days_ahead(60).isoformat())
    stage.use("add_card", card="us-amex-platinum", opened_on=days_ahead(-300).isoformat())


def record_prices(stage: Stage) -> None:
    """A booked stay whose price fell, rose, was gone for a day and fell again."""
    first, last = days_ahead(20), days_ahead(23)
    dates = {"check_in_date": first.isoformat(), "check_out_date": last.isoformat()}
    stage.use("add_hotel_booking", hotel_id=TOKYO, original_points=200_000, **dates)
    with transaction() as session:
        for age, points in enumerate(reversed(PRICES)):
            session.add(
                HotelPrice(
                    hotel_code=TOKYO,
                    check_in_date=first,
                    check_out_date=last,
                    captured_at=clock.now() - timedelta(days=3 * age),
                    points=points,
                    cash=Decimal(points) / 100 if points else None,
                    currency="USD" if points else None,
                    room_type="Deluxe King" if points else None,
                    source="sandbox",
                    mode="sandbox",
                )
            )


def watch_route(stage: Stage) -> None:
    """A watch of two travellers: three checks found something, one failed, one was incomplete."""
    window = {"earliest_date": days_ahead(30).isoformat(), "latest_date": days_ahead(60).isoformat()}
    terms = {"passengers": 2, "cabin": "business", "max_points": 90_000}
    id = stage.use("create_route_monitor", origin="LHR", destination="JFK", **window, **terms)["monitor"]["monitor_id"]
    now = clock.now()
    with transaction() as session:
        session.add_all(_build_check(id, now, number) for number in range(10))
        for hours, points, days, is_open, airline in FINDS:
            flies_on = days_ahead(days)
            session.add(_build_match(id, now - timedelta(hours=hours), points, flies_on, airline))
            key = f"{airline}|{PROGRAM}|{flies_on}|business"
            session.add(MonitorKey(monitor_id=id, key=key, matched=is_open, answered_at=now))
        monitor = session.get_one(RouteMonitor, id)
        monitor.last_checked_at, monitor.matches_total = now, len(FINDS)


def _build_check(monitor_id: int, now: datetime, number: int) -> MonitorCheck:
    return MonitorCheck(
        monitor_id=monitor_id,
        checked_at=now - timedelta(hours=6 * number),
        outcome={1: "partial", 4: "backend_unavailable"}.get(number, "ok"),
        options_seen=0 if number == 4 else 14 - number,
        new_matches={0: 1, 2: 2, 7: 2}.get(number, 0),
        failed_sources=["seats_aero"] if number in (1, 4) else [],
    )


def _build_match(monitor_id: int, found_at: datetime, points: int, flies_on: date, airline: str) -> MonitorMatch:
    price: dict[str, Any] = {"points": points, "taxes": Decimal("245.60"), "taxes_currency": "GBP"}
    flight: dict[str, Any] = {"origin": "LHR", "destination": "JFK", "date": flies_on, "cabin": "business", "seats": 2}
    flight |= {"departs_at": f"{flies_on}T18:05", "arrives_at": f"{flies_on}T21:10", "flight_numbers": ["SBX1"]}
    return MonitorMatch(
        monitor_id=monitor_id,
        found_at=found_at,
        airline=airline,
        program=PROGRAM,
        stops=0,
        source="sandbox",
        mode="sandbox",
        **price,
        **flight,
    )
