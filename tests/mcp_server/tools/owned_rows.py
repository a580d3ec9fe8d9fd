"""One row of each kind an account can own and a tool parameter can name; all of them hold one secret word."""

from datetime import timedelta
from typing import Any

from sqlalchemy.orm import Session

from mcp_server.toolkit.parameters import ProgramSlug
from shared import clock
from shared.db.balances import PointsBalance
from shared.db.bookings import FlightBooking, HotelBooking
from shared.db.cards import Card
from shared.db.clients import BrandedPdf, ClientPortfolio
from shared.db.delay_alerts import DelayAlert
from shared.db.flight_alerts import FlightAlert
from shared.db.hotel_alerts import HotelAlert
from shared.db.inbound_mail import InboundMail
from shared.db.lounges import LoungeVisit
from shared.db.messages import Notification
from shared.db.route_monitors import RouteMonitor
from shared.db.spending import SpendingStatement
from shared.db.standing_orders import StandingOrder
from shared.db.statuses import LoyaltyStatus
from shared.db.trips import ChatLink, ItineraryItem, SearchRecord, Trip
from shared.db.vouchers import Voucher

SECRET = "hers-alone"
POINTS = 987654321
PROGRAMS: tuple[str, ...] = ProgramSlug.__args__  # type: ignore[attr-defined]

_LEG: dict[str, Any] = {"airline": "BA", "origin": "LHR", "destination": "JFK", "cabin_class": "economy"}
_STAY: dict[str, Any] = {"hotel_code": "htl_conrad-tokyo", "hotel_name": "Conrad Tokyo", "cash_rate_currency": "USD"}


def rows_of_every_kind(number: int = 0, secret: str = SECRET, points: int = POINTS) -> dict[str, Any]:
    """Parameter name -> a new row such a parameter can name; another number makes another set."""
    day = clock.today()
    return {
        "trip_id": Trip(name=secret, destination=secret),
        # Ids of both kinds begin at one: the first stay goes by the number of the first leg.
        "booking_id": FlightBooking(**_LEG, departure_date=day, kind="award", taxes_currency="USD", notes=secret),
        "flight_booking_ids": FlightBooking(
            **_LEG, departure_date=day, kind="award", taxes_currency="USD", notes=secret
        ),
        "hotel_booking_ids": HotelBooking(
            **_STAY, check_in_date=day, check_out_date=day + timedelta(days=2), kind="award", notes=secret
        ),
        "hotel_alert": HotelAlert(
            **_STAY, check_in_date=day, check_out_date=day + timedelta(days=3), kind="award", notes=secret
        ),
        "flight_booking_id": FlightBooking(**_LEG, departure_date=day, kind="cash", taxes_currency="USD"),
        "hotel_booking_id": HotelBooking(
            **_STAY,
            check_in_date=day,
            check_out_date=day + timedelta(days=1),
            kind="cash",
            notes=secret,
            original_pay_rate_usd=100,
        ),
        "workspace_trip_id": Trip(name=secret),
        "card_id": Card(slug=None, name=secret, custom=True, currency="USD", notes=secret),
        "voucher_id": Voucher(voucher_slug=secret, reference=secret, notes=secret),
        "visit_id": LoungeVisit(
            lounge_name=secret, airport="LHR", visited_on=day, access_method="paid", currency="USD", notes=secret
        ),
        "monitor_id": RouteMonitor(
            origin="LHR", destination="JFK", earliest_date=day, latest_date=day, airlines=[secret]
        ),
        "alert_id": FlightAlert(
            airline="BA", departure="LHR", destination="JFK", date_range_start=day, date_range_end=day + timedelta(30)
        ),
        # Ids of both kinds begin at one: the first delay alert goes by the number of the first flight alert.
        "delay_alert": DelayAlert(airport="LHR", channels=["email"], min_delay_minutes=30, label=secret),
        "notification_id": Notification(dedupe_key=f"one-{secret}{number}", kind="account", title=secret, body=secret),
        "notification_ids": Notification(dedupe_key=f"{secret}{number}", kind="account", title=secret, body=secret),
        "monitor_ids": RouteMonitor(origin="LHR", destination="JFK", earliest_date=day, latest_date=day),
        "search_ids": SearchRecord(tool="search_availability", arguments={"x": secret}, summary=secret, outcome="ok"),
        "standing_order_id": StandingOrder(prompt=secret, cadence="weekly", run_hour=7, run_weekday=1),
        "standing_order_ids": StandingOrder(prompt=secret, cadence="daily", run_hour=7),
        "chat_id": ChatLink(title=secret, summary=secret),
        "chat_ids": ChatLink(title=secret, summary=secret),
        "item_id": ItineraryItem(title=secret, kind="note", position=0),
        "spending_statement": SpendingStatement(
            fingerprint=f"{secret}{number}",
            label=secret,
            currency="USD",
            period_start=day,
            period_end=day,
            transactions=1,
        ),
        "message_id": InboundMail(
            digest=f"{secret}{number}",
            from_domain="hotel.test",
            subject=secret,
            raw=secret.encode(),
            state="needs_review",
        ),
        "portfolio_id": ClientPortfolio(client_name=secret, notes=secret),
        "client_portfolio_id": ClientPortfolio(client_name=secret, preferences={"x": secret}),
        "pdf_id": BrandedPdf(
            title=secret, content=secret.encode(), pages=1, nonce="", key="", token_hash=f"{secret}{number}"
        ),
        "loyalty_status": LoyaltyStatus(program=PROGRAMS[number], tier=secret, notes=secret),
        "program": PointsBalance(program=PROGRAMS[number], balance=points, as_of=day, notes=secret),
    }


def store_rows(session: Session, *sets: dict[str, Any]) -> None:
    """Stores such rows, all sets at once; what lives in a trip, in the one of its set."""
    session.add_all(rows["trip_id"] for rows in sets)
    session.flush()
    for rows in sets:
        rows["item_id"].trip_id = rows["trip_id"].id
    session.add_all(row for rows in sets for row in rows.values())
    session.flush()
