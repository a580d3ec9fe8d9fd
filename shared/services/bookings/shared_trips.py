"""Trips shown to anyone who has their secret link: days, flights, stays and plans, without prices, codes and notes."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, time
from itertools import groupby

from sqlalchemy.orm import Session

from shared.db import trips
from shared.db.bookings import FlightBooking, HotelBooking
from shared.db.trips import Trip
from shared.documents.route_map import MAX_LEGS
from shared.domain.dates import format_weekday
from shared.domain.plurals import pluralize
from shared.reference import hotels
from shared.reference.reference import Reference
from shared.services.bookings import secret_links
from shared.services.bookings.flight_maps import Flight, draw_flights
from shared.settings import settings

PURPOSE = "trip"
PATH = "/shared/trips"
_PRIVATE_KINDS = ("note", "points_transfer")


@dataclass(frozen=True)
class PlanEntry:
    """One line of the plan; `times` are local to their places."""

    day: date | None
    title: str
    times: str = ""
    about: str = ""


@dataclass(frozen=True)
class PlanDay:
    """Entries of one day; None: of no day."""

    day: date | None
    entries: Sequence[PlanEntry]


@dataclass(frozen=True)
class SharedTrip:
    """The public view of a trip: one page of its entries."""

    name: str
    destination: str | None
    first: date | None
    last: date | None
    days: Sequence[PlanDay]
    page: int
    pages: int
    map: str  # of its flights, as SVG


def find_url(session: Session, trip: Trip) -> str | None:
    """The address of a shared trip."""
    if trip.archived_at:
        return None
    link = secret_links.find_link(session, trip.account_id, PURPOSE, trip.id)
    return _build_url(link)


def find_trip_and_url(session: Session, trip_id: int) -> tuple[Trip, str | None] | None:
    """A trip with its address, in a session of its account; None if there is no such trip."""
    pair = secret_links.find_trip_and_link(session, trip_id, PURPOSE)
    return (pair[0], _build_url(pair[1])) if pair else None


def _build_url(link: secret_links.LiveLink | None) -> str | None:
    return f"{settings().web_url}{PATH}/{link.secret}" if link else None


def make_link(session: Session, trip: Trip) -> bool:
    """Shares a trip; whether it was not shared before."""
    if secret_links.find_link(session, trip.account_id, PURPOSE, trip.id):
        return False
    secret_links.get_link(session, trip.account_id, PURPOSE, trip.id)
    return True


def end_link(session: Session, trip: Trip) -> bool:
    """Ends the link; whether there was one."""
    return secret_links.end_link(session, trip.account_id, PURPOSE, trip.id)


def find_trip(session: Session, secret: str) -> tuple[int, int] | None:
    """The account and the trip behind a link, in a session that sees everyone; None if it does not work."""
    return secret_links.find_shared_trip(session, PURPOSE, secret)


def read_trip(session: Session, reference: Reference, trip_id: int, page: int, per_page: int) -> SharedTrip:
    """The page of that number, or the last one; in a session of the trip's account."""
    trip = session.get_one(Trip, trip_id)
    entries = _list_entries(session, reference, trip_id)
    pages = max(1, -(-len(entries) // per_page))
    page = min(page, pages)
    part = entries[(page - 1) * per_page : page * per_page]
    days = [PlanDay(day, list(run)) for day, run in groupby(part, key=lambda entry: entry.day)]
    # The same picture as on the owner's page.
    rows, _ = trips.read_filed(session, "flight_bookings", trip_id)
    flown = sorted(
        (row for row in rows if row.cancelled_at is None),
        key=lambda row: (row.departure_date, row.departure_time or time.max),
    )
    picture = draw_flights(reference, [Flight(row.origin, row.destination) for row in flown[:MAX_LEGS]])[0]
    return SharedTrip(trip.name, trip.destination, trip.start_date, trip.end_date, days, page, pages, picture)


def _list_entries(session: Session, reference: Reference, trip_id: int) -> list[PlanEntry]:
    """Entries by day and hour, those without one last. Cancelled ones are left out."""
    flights, stays, items = (
        trips.read_filed(session, kind, trip_id)[0] for kind in ("flight_bookings", "hotel_bookings", "itinerary_items")
    )
    entries = [e for row in flights if row.cancelled_at is None for e in _describe_flight(reference, row)]
    entries += [_describe_stay(reference, row) for row in stays if row.cancelled_at is None]
    # What stands for a booking is shown as that booking.
    entries += [
        PlanEntry(row.day, row.title, _format_times(row.start_time, row.end_time), row.location or "")
        for row in items
        if row.kind not in _PRIVATE_KINDS and not (row.flight_booking_id or row.hotel_booking_id)
    ]
    return sorted(entries, key=lambda entry: (entry.day or date.max, entry.times or "99"))


def _describe_flight(reference: Reference, row: FlightBooking) -> list[PlanEntry]:
    origin, destination = _name_airport(reference, row.origin), _name_airport(reference, row.destination)
    carrier = reference.carriers.get(row.airline)
    airline = carrier.name if carrier else row.airline
    about = " ".join(filter(None, (airline, row.flight_number)))
    # `15:10 to 12:05 +1`; unknown parts are left out.
    times = _format_times(row.departure_time, row.arrival_time)
    days = (row.arrival_date - row.departure_date).days if row.arrival_time and row.arrival_date else 0
    flight_times_text = f"{times} {days:+d}" if days else times
    out = PlanEntry(row.departure_date, f"{origin} to {destination}", flight_times_text, about)
    return [out, PlanEntry(row.return_date, f"{destination} to {origin}", about=airline)] if row.return_date else [out]


def _name_airport(reference: Reference, code: str) -> str:
    airport = reference.airports.get(code)
    return f"{airport.city or airport.name} ({code})" if airport else code


def _format_times(start: time | None, end: time | None) -> str:
    return " to ".join(f"{at:%H:%M}" for at in (start, end) if at is not None)


def _describe_stay(reference: Reference, row: HotelBooking) -> PlanEntry:
    hotel = hotels.find_stored(reference, row.hotel_code)
    name, city = (hotel.name, hotel.city) if hotel else (row.hotel_name, row.hotel_city)
    nights = pluralize((row.check_out_date - row.check_in_date).days, "night")
    about = ", ".join(filter(None, (city, f"{nights}, until {format_weekday(row.check_out_date)}")))
    return PlanEntry(row.check_in_date, name, about=about)
