"""What the weekly overview holds next to deadlines: what watches found in the last week, and what is booked next."""

from collections.abc import Iterator
from datetime import date, datetime, timedelta
from typing import Any

import sqlalchemy as sa
from sqlalchemy.orm import Session

from shared.db.bookings import FlightBooking, HotelBooking
from shared.db.messages import Notification
from shared.db.portfolio import Holdings
from shared.domain import time_zones
from shared.domain.household import add_member
from shared.domain.plurals import pluralize
from shared.services.bookings.bookings import flight_state, stay_state
from shared.services.deadlines import Viewpoint

WEEK, NEXT_DAYS = timedelta(days=7), 30
MAX_FINDS, MAX_BOOKINGS = 5, 5  # in one mail; the rest are counted
_MAX_NOTICES = 500  # of a week that are looked through for the newest of each watch
_KINDS = ("route_monitor", "flight_alert", "hotel_price_drop")


def read_news(session: Session, account_id: int, view: Viewpoint, holdings: Holdings, zone: str) -> dict[str, Any]:
    """The facts of both parts: rows of title, day, words and subject, and how many there are of each."""
    finds = _list_finds(session, account_id, view.now, zone)
    bookings = sorted(_list_bookings(view, holdings), key=lambda row: (row["on"], row["title"]))
    return {
        "finds": finds[:MAX_FINDS],
        "finds_total": len(finds),
        "bookings": bookings[:MAX_BOOKINGS],
        "bookings_total": len(bookings),
    }


def _list_finds(session: Session, account_id: int, now: datetime, zone: str) -> list[dict[str, Any]]:
    """The newest find of each watch, the newest first."""
    columns = (Notification.title, Notification.created_at, Notification.subject_type, Notification.subject_id)
    recent = (
        sa.select(*columns)
        .where(Notification.account_id == account_id, Notification.kind.in_(_KINDS))
        .where(Notification.created_at >= now - WEEK, Notification.subject_id.is_not(None))
        .order_by(Notification.created_at.desc(), Notification.id)
        .limit(_MAX_NOTICES)
    )
    newest: dict[tuple[str, str], dict[str, Any]] = {}
    for title, at, subject_type, subject_id in session.execute(recent):
        row = _to_row(title, time_zones.find_local_day(at, zone), "", str(subject_type), str(subject_id))
        newest.setdefault((row["subject"][0], row["subject"][1]), row)
    return list(newest.values())


def _to_row(title: str, on: date, about: str, subject_type: str, subject_id: str) -> dict[str, Any]:
    return {"title": title, "on": on.isoformat(), "about": about, "subject": [subject_type, subject_id]}


def _list_bookings(view: Viewpoint, holdings: Holdings) -> Iterator[dict[str, Any]]:
    last = view.today + timedelta(days=NEXT_DAYS)
    for flight in holdings.flights:
        if flight.departure_date <= last and flight_state(view.reference, flight, view.now) == "upcoming":
            yield _describe_flight(flight)
    for stay in holdings.stays:
        if stay.check_in_date <= last and stay_state(view.reference, stay, view.now) == "upcoming":
            yield _describe_stay(stay)


def _describe_flight(row: FlightBooking) -> dict[str, Any]:
    title = add_member(f"{row.origin} to {row.destination}", row.member)
    words = (row.flight_number or row.airline, f"{row.departure_time:%H:%M}" if row.departure_time else "")
    return _to_row(title, row.departure_date, ", ".join(filter(None, words)), "flight_booking", str(row.id))


def _describe_stay(row: HotelBooking) -> dict[str, Any]:
    nights = pluralize((row.check_out_date - row.check_in_date).days, "night")
    return _to_row(add_member(row.hotel_name, row.member), row.check_in_date, nights, "hotel_booking", str(row.id))
