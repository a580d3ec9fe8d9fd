"""Events of the calendar feed that are no bookings: items of itineraries, and the last days of what is held."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import date, datetime, time, timedelta
from zoneinfo import ZoneInfo

from shared.db.bookings import HotelBooking
from shared.db.cards import Card
from shared.db.portfolio import Holdings
from shared.db.trips import ItineraryItem
from shared.documents.calendar_feed import Event
from shared.domain.dates import format_day
from shared.domain.deadlines import find_bonus_deadline
from shared.domain.household import add_member
from shared.outbox.links import booking_url, find_settling_path
from shared.reference import hotels
from shared.reference.reference import Reference
from shared.settings import settings

TABLES = ("balances", "vouchers", "cards")  # that hold days on which something ends, besides the stays
DAY = timedelta(days=1)
BEFORE_PLAN = timedelta(hours=1)
EVE = timedelta(hours=15)  # of a whole day: nine in the morning of the day before
WEEK_BEFORE = timedelta(days=6, hours=15)


def build_item_event(reference: Reference, row: ItineraryItem, trip: str, stays: Sequence[HotelBooking]) -> Event:
    """Timed where a time is known: on the clock of the hotel of that night, else local wherever it is read."""
    day = row.day or date.min
    zone = _find_zone(reference, row.trip_id, day, stays)
    start: date = day
    end: date | None = day + DAY
    if row.start_time is not None:
        start, end = _combine(day, row.start_time, zone), None
        if row.end_time is not None:
            later = DAY if row.end_time <= row.start_time else timedelta()  # it ends after midnight
            end = _combine(day + later, row.end_time, zone)
    return Event(
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
    """The clock of the known hotel slept in that night, of the same trip first."""
    zones = hotels.list_time_zones(reference)
    nights = [s for s in stays if s.check_in_date <= day <= s.check_out_date and s.hotel_code in zones]
    nearest = min(nights, key=lambda s: (s.trip_id != trip_id, -s.check_in_date.toordinal(), s.id), default=None)
    return ZoneInfo(zones[nearest.hotel_code]) if nearest else None


def list_deadline_events(reference: Reference, holdings: Holdings, since: date) -> Iterator[Event]:
    """Free cancellation, points and vouchers that end, and the last day to spend for a welcome bonus."""
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


def _link(event: Event, subject_type: str, subject_id: str) -> Event:
    """With the page on which it is settled."""
    return replace(event, url=f"{settings().web_url}{find_settling_path('', subject_type, subject_id)}")


def _build_bonus_deadline(card: Card, due: date) -> Event:
    name = add_member(card.nickname or card.name, card.member)
    spend = "enough" if card.spend_requirement is None else f"{card.spend_requirement:,.2f} {card.currency}"
    title = f"Last day to spend for the welcome bonus of {name}"
    return _build_deadline(
        f"bonus-{card.id}", title, f"Spend {spend} in all by then.", due, card.created_at, card.updated_at
    )


def _build_deadline(
    uid: str, title: str, line: str, day: date, created_at: datetime | None, updated_at: datetime
) -> Event:
    return Event(
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
