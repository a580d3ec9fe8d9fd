"""The calendar feed of an account: upcoming flights and stays as events, at the local times of their places."""

from collections.abc import Iterator
from datetime import date, datetime, time, timedelta
from urllib.parse import urlsplit

from sqlalchemy.orm import Session

from shared.db import upcoming_bookings
from shared.db.bookings import FlightBooking, HotelBooking
from shared.documents.calendar_feed import Event, build_calendar
from shared.domain import time_zones
from shared.domain.dates import format_day
from shared.reference import hotels
from shared.reference.reference import Reference
from shared.reference.rows.travel import Hotel
from shared.services.bookings.bookings import flight_day, flight_state, stay_state
from shared.settings import settings

PURPOSE = "calendar"
NAME = "Award Travel"
DAY = timedelta(days=1)


def build_feed(session: Session, reference: Reference, now: datetime) -> bytes:
    return build_calendar(NAME, list_events(session, reference, now), now.year)


def list_events(session: Session, reference: Reference, now: datetime) -> list[Event]:
    """What is past or cancelled is left out; the day of departure and the day of leaving still count."""
    since = upcoming_bookings.earliest_today(now)
    entries = [
        e
        for row in upcoming_bookings.upcoming_flights(session, since)
        for e in _build_flight_events(reference, row, now)
    ]
    stays = upcoming_bookings.upcoming_stays(session, since)
    entries += [_build_stay_event(reference, row) for row in stays if stay_state(reference, row, now) != "past"]
    return sorted(entries, key=lambda e: (e.start.isoformat()[:10], e.uid))


def _build_uid(kind: str, id: int) -> str:
    """The same for as long as the booking is kept, whatever is changed about it."""
    return f"{kind}-{id}@{urlsplit(settings().web_url).hostname}"


def _build_flight_events(reference: Reference, row: FlightBooking, now: datetime) -> Iterator[Event]:
    named = row.flight_number or row.airline
    if flight_state(reference, row, now) == "upcoming":
        start, end = _event_times(reference, row)
        yield _build_flight_event(
            reference, row, _build_uid("flight", row.id), f"{named} {row.origin} to {row.destination}", start, end
        )
    if row.return_date and row.return_date >= flight_day(reference, row.destination, now):
        title = f"{row.airline} {row.destination} to {row.origin} (return)"
        back = row.return_date
        yield _build_flight_event(
            reference, row, _build_uid("return", row.id), title, back, back + DAY, row.destination
        )


def _build_flight_event(
    reference: Reference,
    row: FlightBooking,
    uid: str,
    title: str,
    start: date,
    end: date | None,
    leaves: str | None = None,
) -> Event:
    airport = reference.airports.get(code := leaves or row.origin)
    airline = reference.carriers.get(row.airline)
    return Event(
        uid=uid,
        title=title,
        place=f"{airport.name} ({code})" if airport else code,
        lines=_format_lines(
            f"{airline.name if airline else row.airline}, {row.cabin_class.replace('_', ' ')}",
            row.passengers and f"Passengers: {row.passengers}",
            row.member and f"Booking of {row.member}",
            row.confirmation_number and f"Confirmation: {row.confirmation_number}",
        ),
        start=start,
        end=end,
        busy=isinstance(start, datetime),
        created_at=row.created_at,
        updated_at=row.updated_at,
    )


def _format_lines(*lines: str | int | None) -> tuple[str, ...]:
    return tuple(str(line) for line in lines if line)


def _event_times(reference: Reference, row: FlightBooking) -> tuple[date, date | None]:
    """The times a ticket prints, each on the clock of its airport; the whole day where none is stored.

    An arrival that is not after the departure was misread somewhere, and is left out.
    """
    if row.departure_time is None:
        return row.departure_date, row.departure_date + DAY
    leaves = _local_moment(reference, row.origin, row.departure_date, row.departure_time)
    if row.arrival_date is None or row.arrival_time is None:
        return leaves, None
    arrives = _local_moment(reference, row.destination, row.arrival_date, row.arrival_time)
    if (leaves.tzinfo is None) != (arrives.tzinfo is None):
        return leaves, None
    return leaves, arrives if arrives.timestamp() > leaves.timestamp() else None


def _local_moment(reference: Reference, code: str, day: date, at: time) -> datetime:
    """Without a zone where the airport's is not known: then it is local wherever it is read."""
    airport = reference.airports.get(next(iter(reference.metros.get(code, ())), code))
    return datetime.combine(day, at, time_zones.find_zone(airport.tz) if airport else None)


def _find_place(row: HotelBooking, hotel: Hotel | None) -> tuple[str | None, str | None]:
    return (hotel.city, hotel.country) if hotel else (row.hotel_city, row.hotel_country)


def _build_stay_event(reference: Reference, row: HotelBooking) -> Event:
    """The nights of the stay: from the first day up to the day of leaving, which is the first day no longer in it."""
    hotel = hotels.find_stored(reference, row.hotel_code)
    return Event(
        uid=_build_uid("stay", row.id),
        title=row.hotel_name,
        place=", ".join(filter(None, (row.hotel_name, *_find_place(row, hotel)))),
        lines=_format_lines(
            f"Check-out: {format_day(row.check_out_date)}",
            row.room_type and f"Room: {row.room_type}",
            row.member and f"Booking of {row.member}",
            row.confirmation_number and f"Confirmation: {row.confirmation_number}",
        ),
        start=row.check_in_date,
        end=row.check_out_date,
        busy=False,
        created_at=row.created_at,
        updated_at=row.updated_at,
    )
