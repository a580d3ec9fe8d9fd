"""The calendar feed of an account: flights, check-in, stays, plans and deadlines, in local times."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, time, timedelta
from urllib.parse import urlsplit
from zoneinfo import ZoneInfo

from sqlalchemy.orm import Session

from shared.db import trips, upcoming_bookings
from shared.db.bookings import FlightBooking, HotelBooking
from shared.db.cards import Card
from shared.db.portfolio import Holdings, read_holdings
from shared.db.trips import ItineraryItem
from shared.documents.calendar_feed import CalendarEvent, build_calendar
from shared.domain import time_zones
from shared.domain.dates import format_day
from shared.domain.deadlines import find_bonus_deadline
from shared.domain.household import add_member
from shared.outbox.links import booking_url, find_settling_path
from shared.reference import hotels
from shared.reference.reference import Reference
from shared.reference.rows.travel import Hotel
from shared.services.bookings.bookings import flight_day, flight_state, stay_state
from shared.services.own_programs import add_own_programs
from shared.settings import settings

# Events of the calendar feed other than bookings: itinerary items and deadlines.

TABLES = ("balances", "vouchers", "cards")  # with deadlines, besides the stays
DAY = timedelta(days=1)
BEFORE_PLAN = timedelta(hours=1)
EVE = timedelta(hours=15)  # before a whole day: nine in the morning of the day before
WEEK_BEFORE = timedelta(days=6, hours=15)


def build_item_event(
    reference: Reference, row: ItineraryItem, trip: str, stays: Sequence[HotelBooking]
) -> CalendarEvent:
    """Builds an event, timed if the time is known: in the time zone of that night's hotel, else local."""
    day = row.day or date.min
    zone = _find_zone(reference, row.trip_id, day, stays)
    start: date = day
    end: date | None = day + DAY
    if row.start_time is not None:
        start, end = _combine(day, row.start_time, zone), None
        if row.end_time is not None:
            later = DAY if row.end_time <= row.start_time else timedelta()  # it ends after midnight
            end = _combine(day + later, row.end_time, zone)
    return CalendarEvent(
        uid=f"plan-{row.id}",
        title=row.title,
        place=row.location,
        lines=(f"Trip: {trip}",),
        start=start,
        end=end,
        busy=row.start_time is not None,
        created_at=row.created_at,
        updated_at=row.updated_at,
        url=booking_url("trip", row.trip_id),
        alarms=(EVE if row.start_time is None else BEFORE_PLAN,),
    )


def _combine(day: date, at: time, zone: ZoneInfo | None) -> datetime:
    return datetime.combine(day, at, zone)


def _find_zone(reference: Reference, trip_id: int, day: date, stays: Sequence[HotelBooking]) -> ZoneInfo | None:
    """The time zone of that night's known hotel, of the same trip first."""
    zones = hotels.list_time_zones(reference)
    nights = [s for s in stays if s.check_in_date <= day <= s.check_out_date and s.hotel_code in zones]
    nearest = min(nights, key=lambda s: (s.trip_id != trip_id, -s.check_in_date.toordinal(), s.id), default=None)
    return ZoneInfo(zones[nearest.hotel_code]) if nearest else None


def list_deadline_events(reference: Reference, holdings: Holdings, since: date) -> Iterator[CalendarEvent]:
    """Events for free cancellation, expiring points and vouchers, and welcome bonus deadlines."""
    for stay in holdings.stays:
        if (until := stay.free_cancellation_until) is not None and until >= since:
            title = f"Free cancellation of {add_member(stay.hotel_name, stay.member)} ends"
            line = f"Stay from {format_day(stay.check_in_date)}. Cancel as the confirmation says how."
            event = _build_deadline(f"cancel-by-{stay.id}", title, line, until, stay.created_at, stay.updated_at)
            yield _link(event, "hotel_booking", str(stay.id))
    for balance in holdings.balances:
        if balance.balance and balance.expires_on is not None and balance.expires_on >= since:
            program = reference.programs[balance.program]
            title = f"{balance.balance:,} {add_member(program.currency, balance.member)} expire"
            line = f"{program.name}. Use or extend them before."
            event = _build_deadline(f"points-{balance.id}", title, line, balance.expires_on, None, balance.updated_at)
            yield _link(event, "points_balance", add_member(balance.program, balance.member))
    for row in holdings.vouchers:
        if row.expires_on is not None and row.expires_on >= since:
            kind = reference.voucher_types.get(row.voucher_slug)
            title = f"{kind.name if kind else row.voucher_slug} expires"
            line = "Use it before."
            event = _build_deadline(f"voucher-{row.id}", title, line, row.expires_on, row.created_at, row.updated_at)
            yield _link(event, "voucher", str(row.id))
    for card in holdings.cards:
        due = find_bonus_deadline(card.bonus_status, card.spend_deadline_on, card.closed_on, since)
        if due is not None and due >= since:
            yield _link(_build_bonus_deadline(card, due), "card", str(card.id))


def _link(event: CalendarEvent, subject_type: str, subject_id: str) -> CalendarEvent:
    """Adds the page that settles it."""
    return replace(event, url=f"{settings().web_url}{find_settling_path('', subject_type, subject_id)}")


def _build_bonus_deadline(card: Card, due: date) -> CalendarEvent:
    name = add_member(card.nickname or card.name, card.member)
    spend = "enough" if card.spend_requirement is None else f"{card.spend_requirement:,.2f} {card.currency}"
    title = f"Last day to spend for the welcome bonus of {name}"
    return _build_deadline(
        f"bonus-{card.id}", title, f"Spend {spend} in all by then.", due, card.created_at, card.updated_at
    )


def _build_deadline(
    uid: str, title: str, line: str, day: date, created_at: datetime | None, updated_at: datetime
) -> CalendarEvent:
    return CalendarEvent(
        uid=uid,
        title=title,
        place=None,
        lines=(line,),
        start=day,
        end=day + DAY,
        busy=False,
        created_at=created_at,
        updated_at=updated_at,
        alarms=(WEEK_BEFORE, EVE),
    )


PURPOSE = "calendar"
BEFORE_FLIGHT = timedelta(hours=3)


@dataclass(frozen=True)
class Choices:
    """The optional parts of the feed."""

    alarms: bool = False
    deadlines: bool = True


def read_choices(query: Mapping[str, str]) -> Choices:
    """Reads the link's query: `alarms=on`, `deadlines=off`. Other words are ignored."""
    return Choices(query.get("alarms") == "on", query.get("deadlines") != "off")


EVERYTHING = Choices()


def build_feed(session: Session, reference: Reference, now: datetime, choices: Choices = EVERYTHING) -> bytes:
    events = list_events(session, reference, now, choices)
    return build_calendar(
        settings().service_name, events if choices.alarms else [replace(e, alarms=()) for e in events], now.year
    )


def list_events(
    session: Session, reference: Reference, now: datetime, choices: Choices = EVERYTHING
) -> list[CalendarEvent]:
    """Events, without past or cancelled ones; the days of departure and check-out still count."""
    since = upcoming_bookings.earliest_today(now)
    entries = [
        e
        for row in upcoming_bookings.upcoming_flights(session, since)
        for e in _build_flight_events(reference, row, now)
    ]
    stays = [
        row for row in upcoming_bookings.upcoming_stays(session, since) if stay_state(reference, row, now) != "past"
    ]
    entries += [_build_stay_event(reference, row) for row in stays]
    items = trips.list_planned_items(session, since, upcoming_bookings.MAX_ROWS)
    entries += [build_item_event(reference, item, trip, stays) for item, trip in items]
    if choices.deadlines:
        holdings = read_holdings(session, since, TABLES)
        facts = add_own_programs(session, reference, [b.program for b in holdings.balances])
        entries += list_deadline_events(facts, replace(holdings, stays=stays), since)
    page = f"{settings().web_url}/dashboard"
    host = urlsplit(settings().web_url).hostname
    entries = [replace(e, uid=f"{e.uid}@{host}", url=e.url or page) for e in entries]
    return sorted(entries, key=lambda e: (e.start.isoformat()[:10], e.uid))


def _build_flight_events(reference: Reference, row: FlightBooking, now: datetime) -> Iterator[CalendarEvent]:
    flight_name = row.flight_number or row.airline
    if flight_state(reference, row, now) == "upcoming":
        start, end = _event_times(reference, row)
        flight = _build_flight_event(
            reference, row, f"flight-{row.id}", f"{flight_name} {row.origin} to {row.destination}", start, end
        )
        yield flight
        if isinstance(start, datetime):
            yield _build_check_in(flight, start)
    if row.return_date and row.return_date >= flight_day(reference, row.destination, now):
        title = f"{row.airline} {row.destination} to {row.origin} (return)"
        back = row.return_date
        yield _build_flight_event(reference, row, f"return-{row.id}", title, back, back + DAY, row.destination)


def _build_check_in(flight: CalendarEvent, leaves: datetime) -> CalendarEvent:
    """The moment from which passengers of most airlines check in online, on the clock of the airport."""
    opens = (leaves.astimezone(UTC) - DAY).astimezone(leaves.tzinfo) if leaves.tzinfo else leaves - DAY
    lines = ("Most airlines open online check-in 24 hours before departure.", *flight.lines)
    uid, title = f"check-in-{flight.uid}", f"Check in: {flight.title}"
    return replace(flight, uid=uid, title=title, lines=lines, start=opens, end=None, busy=False, alarms=(timedelta(),))


def _build_flight_event(
    reference: Reference,
    row: FlightBooking,
    uid: str,
    title: str,
    start: date,
    end: date | None,
    leaves: str | None = None,
) -> CalendarEvent:
    airport = reference.airports.get(code := leaves or row.origin)
    airline = reference.carriers.get(row.airline)
    return CalendarEvent(
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
        url=booking_url("flight", row.id),
        alarms=(BEFORE_FLIGHT if isinstance(start, datetime) else EVE,),
    )


def _format_lines(*lines: str | int | None) -> tuple[str, ...]:
    return tuple(str(line) for line in lines if line)


def _event_times(reference: Reference, row: FlightBooking) -> tuple[date, date | None]:
    """The ticket's times, each in its airport's zone; the whole day without any.

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
    """A local time, without a zone if the airport's is unknown: it then shows the same everywhere."""
    airport = reference.airports.get(next(iter(reference.metros.get(code, ())), code))
    return datetime.combine(day, at, time_zones.find_zone(airport.tz) if airport else None)


def _find_place(row: HotelBooking, hotel: Hotel | None) -> tuple[str | None, str | None]:
    return (hotel.city, hotel.country) if hotel else (row.hotel_city, row.hotel_country)


def _build_stay_event(reference: Reference, row: HotelBooking) -> CalendarEvent:
    """The nights of the stay: from the first day to the day of check-out, exclusive."""
    hotel = hotels.find_stored(reference, row.hotel_code)
    return CalendarEvent(
        uid=f"stay-{row.id}",
        title=row.hotel_name,
        place=", ".join(filter(None, (row.hotel_name, *_find_place(row, hotel)))),
        lines=_format_lines(
            f"Check-in: {format_day(row.check_in_date)}",
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
        url=booking_url("stay", row.id),
        geo=(float(hotel.lat), float(hotel.lon)) if hotel and hotel.lat is not None and hotel.lon is not None else None,
        alarms=(EVE,),
    )
