"""Items filed under a trip: bookings, monitors, standing orders, searches and chats."""

from collections.abc import Callable, Mapping, Sequence
from typing import Annotated

from pydantic import AfterValidator
from sqlalchemy.orm import Session

from mcp_server.toolkit import Call, Effect, Part, Result, Tier, tool
from mcp_server.toolkit.parameters import TripId
from mcp_server.views.trips import Trip, get_own_trip, to_trip
from shared.db import trips
from shared.db.trips import Trip as Row
from shared.domain.plurals import pluralize

MAX_IDS = 200
MAX_ID = 2**63 - 1  # of the database column
SINGULAR = {"searches": "search"}  # of the kinds whose plural does not end in a plain s


def _limit_ids(ids: list[int]) -> list[int]:
    if len(ids) > MAX_IDS:
        raise ValueError(f"has more than {MAX_IDS} entries")
    return list(dict.fromkeys(ids))


Ids = Annotated[list[int], AfterValidator(_limit_ids)] | None
IdsByKind = dict[str, list[int]]  # kind -> ids


class Bookings(Part):
    flights: list[int]
    hotels: list[int]


class Assigned(Result):
    trip: Trip
    moved: Bookings
    not_found: Bookings


class Links(Part):
    monitors: list[int]
    standing_orders: list[int]
    searches: list[int]
    chats: list[int]


class Linked(Result):
    trip: Trip
    linked: Links
    not_found: IdsByKind


class Unlinked(Result):
    trip: Trip
    unlinked: IdsByKind
    not_found: IdsByKind


def _move_items(
    call: Call,
    move: Callable[[Session, int, Mapping[str, Sequence[int]]], IdsByKind],
    row: Row,
    raw_ids: Mapping[str, Ids],
) -> tuple[Trip, IdsByKind, IdsByKind]:
    """Moves items; returns the trip, the ids moved and those not found, in the order sent."""
    wanted_ids = {kind: ids or [] for kind, ids in raw_ids.items()}
    moved = move(call.db, row.id, {kind: [i for i in ids if 0 < i <= MAX_ID] for kind, ids in wanted_ids.items()})
    moved_ids = {kind: set(moved.get(kind, ())) for kind in wanted_ids}
    moved_in_order = {kind: [i for i in ids if i in moved_ids[kind]] for kind, ids in wanted_ids.items()}
    missing = {kind: [i for i in ids if i not in moved_ids[kind]] for kind, ids in wanted_ids.items()}
    return to_trip(row, trips.count_filed(call.db, [row.id])[row.id]), moved_in_order, missing


def _describe_move(moved: IdsByKind, missing: IdsByKind, what: str, absent: str) -> str:
    counts = [
        pluralize(len(ids), SINGULAR.get(kind, kind[:-1]).replace("_", " "), kind.replace("_", " "))
        for kind, ids in moved.items()
        if ids
    ]
    unknown = [f"{kind.replace('_', ' ')} {', '.join(map(str, ids[:20]))}" for kind, ids in missing.items() if ids]
    return f"{', '.join(counts) or 'Nothing'} {what}." + (f" {absent}: {'; '.join(unknown)}." if unknown else "")


@tool("trips", Tier.FREE, Effect.FILES, "Add bookings to a trip")
def assign_bookings_to_trip(
    call: Call, trip_id: TripId, flight_booking_ids: Ids = None, hotel_booking_ids: Ids = None
) -> Assigned:
    """Files booked flights and hotels, tickets or reservations, under the trip to which they belong.

    For "These two flights and the hotel all belong to the Japan trip." Moves them out of an earlier one. Watches,
    chats: link_trip_items. Free.
    """
    row = trips.open_trip(call.db, trip_id)
    ids = {"flight_bookings": flight_booking_ids, "hotel_bookings": hotel_booking_ids}
    trip, moved, missing = _move_items(call, trips.file_under, row, ids)
    return Assigned(
        message=_describe_move(moved, missing, f"filed under trip {trip_id} ({row.name})", "Not found"),
        trip=trip,
        moved=Bookings(flights=moved["flight_bookings"], hotels=moved["hotel_bookings"]),
        not_found=Bookings(flights=missing["flight_bookings"], hotels=missing["hotel_bookings"]),
    )


@tool("trips", Tier.FREE, Effect.FILES, "Link items to a trip")
def link_trip_items(
    call: Call,
    trip_id: TripId,
    monitor_ids: Ids = None,
    standing_order_ids: Ids = None,
    search_ids: Ids = None,
    chat_ids: Ids = None,
) -> Linked:
    """Attaches route watches, standing orders, past searches and saved chats to a trip.

    For "Add this search and my watch to my trip." Flights, hotels: assign_bookings_to_trip. Free.
    """
    row = trips.open_trip(call.db, trip_id)
    ids = {
        "monitors": monitor_ids,
        "standing_orders": standing_order_ids,
        "searches": search_ids,
        "chats": chat_ids,
    }
    trip, moved, missing = _move_items(call, trips.file_under, row, ids)
    return Linked(
        message=_describe_move(moved, missing, f"filed under trip {trip_id} ({row.name})", "Not found"),
        trip=trip,
        linked=Links.model_validate(moved),
        not_found=missing,
    )


@tool("trips", Tier.FREE, Effect.FILES, "Unlink items from a trip")
def unlink_trip_items(
    call: Call,
    trip_id: TripId,
    flight_booking_ids: Ids = None,
    hotel_booking_ids: Ids = None,
    monitor_ids: Ids = None,
    standing_order_ids: Ids = None,
    search_ids: Ids = None,
    chat_ids: Ids = None,
) -> Unlinked:
    """Removes a flight, ticket, hotel, watch, search or chat from the wrong trip or folder without deleting it.

    For "That hotel is not part of this trip, take it out." Free.
    """
    row = get_own_trip(call, trip_id, locked=True)
    ids = {
        "flight_bookings": flight_booking_ids,
        "hotel_bookings": hotel_booking_ids,
        "monitors": monitor_ids,
        "standing_orders": standing_order_ids,
        "searches": search_ids,
        "chats": chat_ids,
    }
    trip, moved, missing = _move_items(call, trips.take_out, row, ids)
    return Unlinked(
        message=_describe_move(moved, missing, f"taken out of trip {trip_id} ({row.name})", "Not in this trip"),
        trip=trip,
        unlinked=moved,
        not_found=missing,
    )
