"""Trips for results, with their itinerary items, past searches and saved chats."""

from collections.abc import Sequence
from datetime import date, datetime, time
from typing import Any, Literal

from mcp_server.toolkit import Call, Part
from mcp_server.toolkit.own_rows import get_own
from mcp_server.views.points_transfers import PointsTransfer, describe_transfer, to_points_transfer
from shared.db.bookings import FlightBooking, HotelBooking
from shared.db.trips import ChatLink as ChatRow
from shared.db.trips import ItineraryItem as ItemRow
from shared.db.trips import SearchRecord as SearchRow
from shared.db.trips import Trip as Row
from shared.domain import time_zones, trip_gaps
from shared.domain.trip_gaps import BookedFlight, BookedNights, find_gaps
from shared.reference.reference import Reference

ItemKind = Literal["flight", "hotel", "transfer", "activity", "meal", "note"]
EntryKind = Literal[ItemKind, "points_transfer"]  # what an entry is; points in it make it a transfer of points


class TripCounts(Part):
    flight_bookings: int
    hotel_bookings: int
    monitors: int
    standing_orders: int
    searches: int
    chats: int
    itinerary_items: int


class Trip(Part):
    trip_id: int
    name: str
    destination: str | None
    start_date: date | None
    end_date: date | None
    state: Literal["active", "archived"]
    counts: TripCounts
    created_at: datetime
    updated_at: datetime
    archived_at: datetime | None


class ItineraryItem(Part):
    item_id: int
    trip_id: int
    title: str
    day: date | None
    start_time: str | None
    end_time: str | None
    kind: EntryKind
    location: str | None
    notes: str | None
    flight_booking_id: int | None
    hotel_booking_id: int | None
    points_transfer: PointsTransfer | None
    position: int


class TripGap(Part):
    """Nights without a stay or with two, flights that nothing connects, short connections, changes of airport."""

    kind: trip_gaps.Kind
    from_date: date
    to_date: date
    text: str


class SearchRecord(Part):
    search_id: int
    tool: str
    arguments: dict[str, Any]
    summary: str
    outcome: str
    trip_id: int | None
    created_at: datetime


class ChatLink(Part):
    chat_id: int
    title: str
    url: str | None
    summary: str | None
    trip_id: int | None
    created_at: datetime
    updated_at: datetime


def _shared_columns(part: type[Part], row: object) -> dict[str, Any]:
    return {name: getattr(row, name) for name in part.model_fields if hasattr(row, name)}


def to_trip(row: Row, filed: dict[str, int]) -> Trip:
    """`filed` is the number of rows of each kind filed under the trip; a kind that is absent has none."""
    counts = TripCounts(**dict.fromkeys(TripCounts.model_fields, 0) | filed)
    state = "archived" if row.archived_at else "active"
    return Trip.model_validate(_shared_columns(Trip, row) | {"trip_id": row.id, "state": state, "counts": counts})


def to_itinerary_item(row: ItemRow, today: date) -> ItineraryItem:
    times = {n: t.strftime("%H:%M") for n in ("start_time", "end_time") if (t := getattr(row, n)) is not None}
    own = {"item_id": row.id, "points_transfer": to_points_transfer(row, today)}
    return ItineraryItem.model_validate(_shared_columns(ItineraryItem, row) | times | own)


def to_search_record(row: SearchRow) -> SearchRecord:
    return SearchRecord.model_validate(_shared_columns(SearchRecord, row) | {"search_id": row.id})


def to_chat_link(row: ChatRow) -> ChatLink:
    return ChatLink.model_validate(_shared_columns(ChatLink, row) | {"chat_id": row.id})


def get_own_trip(call: Call, trip_id: int, *, locked: bool = False) -> Row:
    """Gets the trip; `locked` keeps others from filing anything under it until the transaction ends."""
    return get_own(Row, "trip", call.db, trip_id, locked=locked)


def list_gaps(
    facts: Reference,
    trip: Row,
    flights: Sequence[FlightBooking],
    stays: Sequence[HotelBooking],
    items: Sequence[ItemRow],
) -> list[TripGap]:
    """What the trip lacks, by its bookings and itinerary."""
    legs = [f for f in flights if f.cancelled_at is None]
    ways = [_to_booked_flight(facts, f) for f in legs]
    ways += [BookedFlight(f.destination, f.origin, f.return_date, None, f.member) for f in legs if f.return_date]
    nights = [
        BookedNights(s.check_in_date, s.check_out_date, s.hotel_name, s.member) for s in stays if s.cancelled_at is None
    ]
    rides = [(item.day, item.title) for item in items if item.kind in ("flight", "transfer") and item.day]
    gaps = find_gaps(trip.start_date, trip.end_date, ways, nights, facts.is_one_city, rides)
    return [TripGap(kind=g.kind, from_date=g.first, to_date=g.last, text=g.text) for g in gaps]


def _to_booked_flight(facts: Reference, row: FlightBooking) -> BookedFlight:
    lands_on = row.arrival_date or row.departure_date
    return BookedFlight(
        row.origin,
        row.destination,
        row.departure_date,
        row.arrival_date,
        row.member,
        leaves=_find_moment(facts, row.origin, row.departure_date, row.departure_time),
        lands=_find_moment(facts, row.destination, lands_on, row.arrival_time) if row.arrival_date else None,
        codes=frozenset(str(code).upper() for code in (row.trip_id, row.confirmation_number) if code),
    )


def _find_moment(facts: Reference, airport: str, day: date, at: time | None) -> datetime | None:
    zone = time_zones.find_zone(facts.airports[airport].tz) if airport in facts.airports else None
    return datetime.combine(day, at, zone) if at and zone else None


def describe_transfers(items: Sequence[ItineraryItem]) -> list[str]:
    """A sentence for each points transfer that has not posted yet."""
    pending = [i for i in items if i.points_transfer and i.points_transfer.state != "posted"]
    return [describe_transfer(i.title, i.points_transfer) for i in pending if i.points_transfer]
