"""Entries of a trip's itinerary: saved and removed one by one."""

from enum import StrEnum
from typing import Annotated, Any, cast

from pydantic import Field, StringConstraints
from sqlalchemy import delete, func, select

from mcp_server.toolkit import Added, Call, Effect, Part, Result, Tier, tool
from mcp_server.toolkit.edits import edit
from mcp_server.toolkit.own_rows import Again, find_saved
from mcp_server.toolkit.parameters import AnyName, Clock, Day, Points, Position, RowId, TripId
from mcp_server.views.points_transfers import SentTransfer, check_transfer, name_transfer, read_transfer
from mcp_server.views.trips import ItemKind, ItineraryItem, to_itinerary_item
from shared.db.bookings import FlightBooking, HotelBooking
from shared.db.trips import ItineraryItem as Row
from shared.db.trips import open_trip
from shared.errors import Fault, Invalid, NotFound

ItemTitle = Annotated[str, StringConstraints(strip_whitespace=True, max_length=160)]


class _Unsent(StrEnum):
    """A default distinct from the same word if sent: without one an existing entry keeps its kind."""

    KIND = "note"


NOTE = cast("ItemKind", _Unsent.KIND)


class SavedItem(Added):
    item: ItineraryItem
    created: bool
    trip_id: int


class RemovedEntry(Part):
    item_id: int
    trip_id: int
    title: str


class RemovedItem(Result):
    removed: RemovedEntry


def _lock_item(call: Call, trip_id: int, item_id: int) -> Row:
    row = call.db.scalars(select(Row).where(Row.id == item_id, Row.trip_id == trip_id).with_for_update()).one_or_none()
    if row is None:
        raise NotFound("itinerary item", item_id)
    return row


def _check_bookings(call: Call, flight_booking_id: int | None, hotel_booking_id: int | None) -> None:
    """Checks that an entry's bookings are the caller's. Raises NotFound."""
    bookings: tuple[tuple[type[FlightBooking | HotelBooking], str, int | None], ...] = (
        (FlightBooking, "flight booking", flight_booking_id),
        (HotelBooking, "hotel booking", hotel_booking_id),
    )
    for model, noun, number in bookings:
        query = select(model.id).where(model.id == number).with_for_update(read=True, key_share=True)
        if number is not None and call.db.scalar(query) is None:
            raise NotFound(noun, number)


def _choose_kind(item_id: int | None, kind: str, transfer: dict[str, Any]) -> str | None:
    """Chooses the kind; None keeps the present one. Fields of a points transfer imply that kind. Raises Invalid."""
    if any(transfer.values()):
        if not isinstance(kind, _Unsent) and kind != "transfer":
            raise Invalid(Fault("kind", "is sent with a transfer of points", "no kind, or transfer"))
        return "points_transfer"
    return None if item_id and isinstance(kind, _Unsent) else str(kind)


def _choose_title(call: Call, title: str | None, item_id: int | None, transfer: dict[str, Any]) -> str | None:
    """The title sent, or a default for a new transfer of points. Raises Invalid."""
    if item_id is None and not title and any(transfer.values()):
        return name_transfer(call, transfer)
    if title == "" or (title is None and item_id is None):
        raise Invalid(Fault("title", "is required for a new item" if item_id is None else "is empty", "text"))
    return title


def _store_item(call: Call, row: Row, changes: dict[str, Any], position: int | None) -> list[str]:
    """Writes an entry; a new or moved one goes last on its day. Returns what changed."""
    _check_bookings(call, changes["flight_booking_id"], changes["hotel_booking_id"])
    if position is None and (row.id is None or changes["day"] not in (None, row.day)):
        # The position after the last entry of a day; 0 for an empty day.
        query = select(func.max(Row.position)).where(
            Row.trip_id == row.trip_id, Row.day.is_not_distinct_from(changes["day"])
        )
        highest = call.db.scalar(query)
        position = 0 if highest is None else highest + 1
    changed = edit(row, call.now, changes | {"position": position})
    check_transfer(row)
    call.db.add(row)
    call.db.flush()
    return changed


@tool("trips", Tier.FREE, Effect.REPLACES, "Add an item to a trip's schedule")
def save_itinerary_item(
    call: Call,
    trip_id: TripId,
    item_id: RowId | None = None,
    title: Annotated[ItemTitle | None, Field(description="Required for a new item.")] = None,
    day: Day | None = None,
    start_time: Clock | None = None,
    end_time: Clock | None = None,
    kind: ItemKind = NOTE,
    location: Annotated[str, Field(max_length=160)] | None = None,
    notes: Annotated[str, Field(max_length=4000)] | None = None,
    flight_booking_id: RowId | None = None,
    hotel_booking_id: RowId | None = None,
    position: Position | None = None,
    from_program: Annotated[AnyName | None, Field(description="Of a transfer of points, which starts on day.")] = None,
    to_program: AnyName | None = None,
    points: Points | None = None,
    expected_on: Day | None = None,
    posted_on: Day | None = None,
    again: Again = None,
) -> SavedItem:
    """Adds a dinner, tour, museum, train, taxi or note to a day of a trip's itinerary, or changes the one of item_id.

    For "We have dinner at 8 on Friday." Local times. With from_program it tracks a points transfer until it posts; it
    moves none. Free.
    """
    transfer = read_transfer(call, SentTransfer(from_program, to_program, points, expected_on, posted_on))
    title = _choose_title(call, title, item_id, transfer)
    trip = open_trip(call.db, trip_id)
    changes = {
        "title": title,
        "day": day,
        "start_time": start_time,
        "end_time": end_time,
        "kind": _choose_kind(item_id, kind, transfer),
        "location": location,
        "notes": notes,
        "flight_booking_id": flight_booking_id,
        "hotel_booking_id": hotel_booking_id,
        **transfer,
    }
    row = _lock_item(call, trip_id, item_id) if item_id else Row(trip_id=trip_id)
    same = Row(trip_id=trip_id, title=title, day=day, start_time=start_time)
    if not item_id and (saved := find_saved(call, same, "item", again=again)):
        item = to_itinerary_item(saved.row, call.own_day if saved.row.from_program else call.today)
        return SavedItem(message=saved.message, item=item, created=False, trip_id=trip_id, already_saved=True)
    changed = _store_item(call, row, changes, position)
    how = "added to" if not item_id else "changed in" if changed else "as it was in"
    return SavedItem(
        message=f"{row.title} is {how} the itinerary of trip {trip_id} ({trip.name}) as item {row.id}.",
        item=to_itinerary_item(row, call.own_day if row.from_program else call.today),
        created=item_id is None,
        already_saved=False,
        trip_id=trip_id,
    )


@tool("trips", Tier.FREE, Effect.CHANGES, "Remove an item from a trip's schedule")
def remove_itinerary_item(call: Call, item_id: RowId) -> RemovedItem:
    """Removes an entry from a trip's itinerary or day plan, as a cancelled dinner, tour or class.

    For "We won't do the museum on Friday, take it off." Its booking stays. Free.
    """
    deleted = call.db.execute(delete(Row).where(Row.id == item_id).returning(Row.trip_id, Row.title)).one_or_none()
    if deleted is None:
        raise NotFound("itinerary item", item_id)
    trip_id, title = deleted
    return RemovedItem(
        message=f"{title} is removed from the itinerary of trip {trip_id}.",
        removed=RemovedEntry(item_id=item_id, trip_id=trip_id, title=title),
    )
