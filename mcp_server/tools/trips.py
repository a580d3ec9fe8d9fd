"""Workspace trips: opened, listed, changed, archived and deleted."""

from collections.abc import Mapping, Sequence
from datetime import date
from typing import Annotated, Any, Literal

from pydantic import Field
from pydantic_core import to_json

from mcp_server.toolkit import Added, Call, Effect, Paging, Part, Result, Tier, tool
from mcp_server.toolkit.edits import clears, describe_changes, edit, pick_columns
from mcp_server.toolkit.own_rows import Again, find_saved
from mcp_server.toolkit.parameters import Day, Page, PerPage, TripId, line
from mcp_server.toolkit.refusals import paywall
from mcp_server.toolkit.sandbox_rows import list_objects, mark_rows
from mcp_server.toolkit.wording import join_names, list_program_names, tell_rows
from mcp_server.views.bookings import FlightBooking, HotelBooking, to_flight_bookings, to_hotel_bookings
from mcp_server.views.route_monitors import Monitor, to_monitors
from mcp_server.views.standing_orders import StandingOrder, to_standing_orders
from mcp_server.views.trips import (
    ChatLink,
    ItineraryItem,
    SearchRecord,
    Trip,
    TripGap,
    describe_transfers,
    get_own_trip,
    list_gaps,
    to_chat_link,
    to_itinerary_item,
    to_search_record,
    to_trip,
)
from shared.db import trips
from shared.db.accounts import lock
from shared.db.trips import Trip as Row
from shared.domain.plans import Plan
from shared.domain.plurals import pluralize
from shared.errors import Fault, Invalid, NotFound
from shared.services.bookings import shared_trips

MAX_GAPS_TOLD = 3
MAX_CHARACTERS = 80_000  # of the whole answer, so that a model can read it
SHARED = "Anyone who has share_url sees days, flights, stays and plans, but no prices, points, codes or notes."


class Unfiled(Part):
    flight_bookings: int
    hotel_bookings: int
    monitors: int
    standing_orders: int
    searches: int
    chats: int


class CreatedTrip(Added):
    trip: Trip
    active_count: int
    cap: int | None


class Trips(Result):
    trips: list[Trip]
    active_count: int
    cap: int | None
    paging: Paging


class UpdatedTrip(Result):
    trip: Trip
    changed: list[str]
    share_url: str | None


class TripDetails(Result):
    trip: Trip
    itinerary: list[ItineraryItem]
    flight_bookings: list[FlightBooking]
    hotel_bookings: list[HotelBooking]
    monitors: list[Monitor]
    standing_orders: list[StandingOrder]
    searches: list[SearchRecord]
    chats: list[ChatLink]
    gaps: list[TripGap]
    share_url: str | None
    names: dict[str, str]  # of programmes, by slug


class DeletedTrip(Result):
    trip: Trip | None
    archived: bool
    deleted: bool
    unfiled: Unfiled


def _check_days(start: date | None, end: date | None) -> None:
    if start and end and end < start:
        raise Invalid(Fault("end_date", "is before start_date", f"a date from {start.isoformat()}"))


def _require_slot(call: Call, then: str) -> int:
    """The number of active trips. Raises Paywall if none may be added. Callers lock the account, so that one passes."""
    active, cap = trips.active_trips(call.db), call.limits.active_trips
    if cap is not None and active >= cap:
        way_out = f"Archive the active trip with delete_trip (it is kept), then {then}."
        raise paywall(call.caller, Plan.PREMIUM.slug, "A second active trip", way_out)
    return active


@tool("trips", Tier.FREE, Effect.ADDS, "Create a trip")
def create_trip(
    call: Call,
    name: Annotated[str, line(120)],
    destination: Annotated[str | None, Field(max_length=120, description="City or airport.")] = None,
    start_date: Day | None = None,
    end_date: Day | None = None,
    again: Again = None,
) -> CreatedTrip:
    """Creates a new trip, holiday or vacation: a folder with name, place and dates for all that belongs to it.

    For "We are going to Italy in May, start a folder." Free accounts: one active trip; delete_trip archives it. Free.
    """
    _check_days(start_date, end_date)
    lock(call.db, call.account_id)
    row = Row(name=name, destination=destination or None, start_date=start_date, end_date=end_date)
    cap = call.limits.active_trips
    if saved := find_saved(call, row, "trip", again=again):
        part, active = to_trip(saved.row, {}), trips.active_trips(call.db)
        return CreatedTrip(message=saved.message, trip=part, active_count=active, cap=cap, already_saved=True)
    active = _require_slot(call, "create this one")
    call.db.add(row)
    call.db.flush()
    trip = to_trip(row, {})
    return CreatedTrip(
        message=f"Trip {row.id} is open: {row.name}.", trip=trip, active_count=active + 1, cap=cap, already_saved=False
    )


@tool("trips", Tier.FREE, Effect.READS, "List trips")
def list_trips(
    call: Call,
    state: Literal["active", "archived", "all"] = "active",
    page: Page = 1,
    per_page: PerPage = 20,
) -> Trips:
    """Lists the user's trips, holidays and vacations: planned, past, old or archived, with counts of what each holds.

    For "Which trips do I have this year?" Free.
    """
    rows, total, active, filed = trips.load_trip_page(call.db, state, page, per_page)
    kind = "trip" if state == "all" else f"{state} trip"
    return Trips(
        message=tell_rows(total, kind, (row.name for row in rows)),
        trips=[to_trip(r, filed[r.id]) for r in rows],
        active_count=active,
        cap=call.limits.active_trips,
        paging=Paging.of(page, per_page, total),
    )


@tool("trips", Tier.FREE, Effect.CHANGES, "Archive or delete a trip")
def delete_trip(call: Call, trip_id: TripId, permanently: bool = False) -> DeletedTrip:
    """Archives a trip or holiday that is over or called off, or deletes it completely when permanently is true.

    For "Bali is off, put that trip away." The archive keeps the plan and frees the slot; bookings, watches and chats
    stay. Confirm before deleting permanently. Free.
    """
    row = get_own_trip(call, trip_id, locked=True)
    taken_out = trips.unfile(call.db, trip_id)
    if permanently:
        call.db.delete(row)
        message = f"Trip {trip_id} ({row.name}) is deleted for good."
    else:
        _archive(call, row)
        message = f"Trip {trip_id} ({row.name}) is archived; nothing filed under it was deleted."
    call.db.flush()
    return DeletedTrip(
        message=message,
        trip=None if permanently else _to_counted_trip(call, row),
        archived=not permanently,
        deleted=permanently,
        unfiled=Unfiled(**taken_out),
    )


def _archive(call: Call, row: Row) -> None:
    """Archives a trip; its shared page ends with it."""
    shared_trips.end_link(call.db, row)
    if row.archived_at is None:
        row.archived_at = row.updated_at = call.now


def _to_counted_trip(call: Call, row: Row) -> Trip:
    return to_trip(row, trips.count_filed(call.db, [row.id])[row.id])


@tool("trips", Tier.FREE, Effect.CHANGES, "Change a trip")
@clears(Row)
def update_trip(
    call: Call,
    trip_id: TripId,
    name: Annotated[str, line(120)] | None = None,
    destination: Annotated[str, Field(max_length=120)] | None = None,
    start_date: Day | None = None,
    end_date: Day | None = None,
    state: Literal["active", "archived"] | None = None,
    clear: list[str] | None = None,
    share: bool | None = None,
) -> UpdatedTrip:
    """Changes or renames a trip: longer or shorter, other dates or place, shared, or back from the archive.

    For "We leave a day earlier, move my Japan trip." active needs a slot on Free. share true: public link. Free.
    """
    changes = pick_columns(Row, locals())
    if state == "active" or share:
        lock(call.db, call.account_id)  # before the trip's row: every caller locks in this order
    row = get_own_trip(call, trip_id, locked=True)
    switched = _switch_state(call, row, state) if state else []
    changed = edit(row, call.now, changes, clear) + switched + _switch_share(call, row, share)
    _check_days(row.start_date, row.end_date)
    call.db.flush()
    trip = _to_counted_trip(call, row)
    message = describe_changes(f"trip {trip_id} ({row.name})", trip, changed, share=bool(share))
    return UpdatedTrip(
        message=f"{message} {SHARED}" if share else message,
        trip=trip,
        changed=changed,
        share_url=shared_trips.find_url(call.db, row) if share or not (switched or share is False) else None,
    )


def _switch_state(call: Call, row: Row, state: str) -> list[str]:
    if (state == "archived") == (row.archived_at is not None):
        return []
    if state == "archived":
        trips.unfile(call.db, row.id)
        _archive(call, row)
    else:
        _require_slot(call, "bring this one back")
        row.archived_at, row.updated_at = None, call.now
    return ["state"]


def _switch_share(call: Call, row: Row, share: bool | None) -> list[str]:
    """Switches it; raises Invalid for an archived trip, which is never shared."""
    if share and row.archived_at:
        raise Invalid(Fault("share", "is true for an archived trip", "false, or state active next to it"))
    if share is None:
        return []
    switched = shared_trips.make_link(call.db, row) if share else shared_trips.end_link(call.db, row)
    return ["share"] if switched else []


@tool("trips", Tier.FREE, Effect.READS, "Show a trip", condenses=True)
def get_trip(call: Call, trip_id: TripId) -> TripDetails:
    """Shows one trip or holiday: itinerary day by day, flights, hotels, and gaps: no hotel, a short connection.

    For "What have we planned in Japan so far? What is missing?" Also its newest searches, watches and chats. Free.
    """
    pair = shared_trips.find_trip_and_url(call.db, trip_id)
    if pair is None:
        raise NotFound("trip", trip_id)
    row, share_url = pair
    filed = {kind: trips.read_filed(call.db, kind, trip_id) for kind in trips.ORDER_AND_LIMIT}
    items = filed["itinerary_items"][0]
    today = call.own_day if any(item.from_program for item in items) else call.today
    parts: dict[str, list[Any]] = {
        "itinerary_items": [to_itinerary_item(item, today) for item in items],
        "flight_bookings": to_flight_bookings(call, filed["flight_bookings"][0]),
        "hotel_bookings": to_hotel_bookings(call, filed["hotel_bookings"][0]),
        "monitors": to_monitors(call, filed["monitors"][0]),
        "standing_orders": to_standing_orders(call, filed["standing_orders"][0]),
        "searches": [to_search_record(search) for search in filed["searches"][0]],
        "chats": [to_chat_link(chat) for chat in filed["chats"][0]],
    }
    gaps = list_gaps(call.reference, row, filed["flight_bookings"][0], filed["hotel_bookings"][0], items)
    _shorten(parts)
    cut = [f"{len(parts[k])} of {n} {k.replace('_', ' ')}" for k, (_, n) in filed.items() if len(parts[k]) < n]
    trip = to_trip(row, {kind: total for kind, (_, total) in filed.items()})
    return TripDetails(
        message=" ".join(
            [
                f"{row.name}{'' if trip.state == 'active' else f', {trip.state}'}: {_describe_content(filed)}.",
                *([f"Shown: {', '.join(cut)}."] if cut else []),
                *(gap.text for gap in gaps[:MAX_GAPS_TOLD]),
                *describe_transfers(parts["itinerary_items"]),
            ]
        ),
        trip=trip,
        gaps=gaps,
        share_url=share_url,
        names=list_program_names(call.reference, [leg.program for leg in parts["flight_bookings"] if leg.program]),
        itinerary=parts.pop("itinerary_items"),
        **parts,
    )


def _describe_content(filed: Mapping[str, tuple[Sequence[Any], int]]) -> str:
    """`2 flights and 1 hotel stay`"""
    nouns = {"flight_bookings": "flight", "hotel_bookings": "hotel stay", "monitors": "route monitor"}
    words = [pluralize(filed[kind][1], noun) for kind, noun in nouns.items() if filed[kind][1]]
    return join_names(words) if words else "nothing is booked yet"


def _measure_part(part: Part) -> int:
    fields = part.model_dump(mode="json")
    mark_rows(list_objects(fields))
    return len(to_json(fields).decode())


def _shorten(parts_by_kind: dict[str, list[Any]]) -> None:
    """Removes the last entries of the longest lists until the answer is short enough for a model."""
    sizes = {kind: [_measure_part(part) for part in parts] for kind, parts in parts_by_kind.items()}
    totals = {kind: sum(lengths) for kind, lengths in sizes.items()}
    while sum(totals.values()) > MAX_CHARACTERS:
        longest = max(totals, key=lambda kind: totals[kind])
        totals[longest] -= sizes[longest].pop()
        parts_by_kind[longest].pop()
