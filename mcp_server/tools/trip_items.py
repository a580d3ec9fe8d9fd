"""What is filed under a trip: ids of bookings, monitors, searches and the like go in, those that moved come out."""

from collections.abc import Callable, Mapping, Sequence
from typing import Annotated

from pydantic import AfterValidator
from sqlalchemy.orm import Session

from mcp_server.toolkit.context import Call
from mcp_server.toolkit.parameters import RowId
from mcp_server.toolkit.registry import Effect, Tier, tool
from mcp_server.toolkit.results import Part, Result
from mcp_server.views.trips import Trip, get_own_trip, to_trip
from shared.db import trips
from shared.db.trips import Trip as Row
from shared.domain.plurals import some

_MOST_IDS = 200
_MOST_ID = 2**63 - 1  # beyond it the store has no id
_ONE = {"searches": "search"}  # of kinds whose plural is not made with s


def _few(ids: list[int]) -> list[int]:
    if len(ids) > _MOST_IDS:
        raise ValueError(f"has more than {_MOST_IDS} entries")
    return list(dict.fromkeys(ids))


Ids = Annotated[list[int], AfterValidator(_few)] | None
Found = dict[str, list[int]]  # kind -> ids; each kind that can be named is there


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
    not_found: Found


class Unlinked(Result):
    trip: Trip
    unlinked: Found
    not_found: Found


def _sorted_out(
    call: Call, move: Callable[[Session, int, Mapping[str, Sequence[int]]], Found], row: Row, given: Mapping[str, Ids]
) -> tuple[Trip, Found, Found]:
    """The trip as it is afterwards, the ids that moved and those that name nothing to move, in the order given."""
    asked = {kind: ids or [] for kind, ids in given.items()}
    moved = move(call.db, row.id, {kind: [i for i in ids if 0 < i <= _MOST_ID] for kind, ids in asked.items()})
    found = {kind: set(moved.get(kind, ())) for kind in asked}
    done = {kind: [i for i in ids if i in found[kind]] for kind, ids in asked.items()}
    missing = {kind: [i for i in ids if i not in found[kind]] for kind, ids in asked.items()}
    return to_trip(row, trips.filed_under(call.db, [row.id])[row.id]), done, missing


def _told(done: Found, missing: Found, what: str, absent: str) -> str:
    words = [
        some(len(ids), _ONE.get(kind, kind[:-1]).replace("_", " "), kind.replace("_", " "))
        for kind, ids in done.items()
        if ids
    ]
    unknown = [f"{kind.replace('_', ' ')} {', '.join(map(str, ids[:20]))}" for kind, ids in missing.items() if ids]
    return f"{', '.join(words) or 'Nothing'} {what}." + (f" {absent}: {'; '.join(unknown)}." if unknown else "")


@tool(area="trips", tier=Tier.FREE, effect=Effect.FILES)
def assign_bookings_to_trip(
    call: Call, trip_id: RowId, flight_booking_ids: Ids = None, hotel_booking_ids: Ids = None
) -> Assigned:
    """Files flight and hotel bookings under a workspace trip; an empty or absent list moves none of that kind. Free."""
    row = trips.open_trip(call.db, trip_id)
    given = {"flight_bookings": flight_booking_ids, "hotel_bookings": hotel_booking_ids}
    trip, done, missing = _sorted_out(call, trips.file_under, row, given)
    return Assigned(
        message=_told(done, missing, f"filed under trip {trip_id} ({row.name})", "Not found"),
        trip=trip,
        moved=Bookings(flights=done["flight_bookings"], hotels=done["hotel_bookings"]),
        not_found=Bookings(flights=missing["flight_bookings"], hotels=missing["hotel_bookings"]),
    )


@tool(area="trips", tier=Tier.FREE, effect=Effect.FILES)
def link_trip_items(
    call: Call,
    trip_id: RowId,
    monitor_ids: Ids = None,
    standing_order_ids: Ids = None,
    search_ids: Ids = None,
    chat_ids: Ids = None,
) -> Linked:
    """Files monitors, standing orders, past searches and saved chats under a trip.

    Bookings are filed with assign_bookings_to_trip. Free.
    """
    row = trips.open_trip(call.db, trip_id)
    given = {
        "monitors": monitor_ids,
        "standing_orders": standing_order_ids,
        "searches": search_ids,
        "chats": chat_ids,
    }
    trip, done, missing = _sorted_out(call, trips.file_under, row, given)
    return Linked(
        message=_told(done, missing, f"filed under trip {trip_id} ({row.name})", "Not found"),
        trip=trip,
        linked=Links.model_validate(done),
        not_found=missing,
    )


@tool(area="trips", tier=Tier.FREE, effect=Effect.FILES)
def unlink_trip_items(
    call: Call,
    trip_id: RowId,
    flight_booking_ids: Ids = None,
    hotel_booking_ids: Ids = None,
    monitor_ids: Ids = None,
    standing_order_ids: Ids = None,
    search_ids: Ids = None,
    chat_ids: Ids = None,
) -> Unlinked:
    """Takes bookings, monitors, standing orders, searches and chats out of a trip and keeps them. Free."""
    row = get_own_trip(call, trip_id, locked=True)
    given = {
        "flight_bookings": flight_booking_ids,
        "hotel_bookings": hotel_booking_ids,
        "monitors": monitor_ids,
        "standing_orders": standing_order_ids,
        "searches": search_ids,
        "chats": chat_ids,
    }
    trip, done, missing = _sorted_out(call, trips.take_out, row, given)
    return Unlinked(
        message=_told(done, missing, f"taken out of trip {trip_id} ({row.name})", "Not in this trip"),
        trip=trip,
        unlinked=done,
        not_found=missing,
    )
