"""Workspace trips: opened, listed with what is filed under them, archived or deleted."""

from typing import Annotated, Literal

from pydantic import Field
from sqlalchemy import func, select, true

from mcp_server.call import Call
from mcp_server.fields import Day, Page, PerPage, RowId, line
from mcp_server.gate import paywall
from mcp_server.results import Paging, Part, Result
from mcp_server.toolbox import Effect, Tier, tool
from mcp_server.trip_parts import Trip, shown_trip
from shared.db import trips
from shared.db.accounts import lock
from shared.db.trips import Trip as Row
from shared.domain.plans import Plan
from shared.errors import Fault, Invalid, NotFound


class Unfiled(Part):
    flight_bookings: int
    hotel_bookings: int
    monitors: int
    standing_orders: int
    searches: int
    chats: int


class CreatedTrip(Result):
    trip: Trip
    active_count: int
    cap: int | None


class Trips(Result):
    trips: list[Trip]
    active_count: int
    cap: int | None
    paging: Paging


class DeletedTrip(Result):
    trip: Trip | None
    archived: bool
    deleted: bool
    unfiled: Unfiled


@tool(area="trips", tier=Tier.FREE, effect=Effect.ADDS)
def create_trip(
    call: Call,
    name: Annotated[str, line(120)],
    destination: Annotated[str | None, Field(max_length=120, description="City or airport.")] = None,
    start_date: Day | None = None,
    end_date: Day | None = None,
) -> CreatedTrip:
    """Opens a workspace trip that bookings, monitors, searches and an itinerary can be filed under.

    Free accounts may hold one active trip and archive it with delete_trip to open another; Premium has no limit. Free.
    """
    if start_date and end_date and end_date < start_date:
        raise Invalid(Fault("end_date", "is before start_date", f"a date from {start_date.isoformat()}"))
    lock(call.db, call.account_id)
    active, cap = trips.active_trips(call.db), call.limits.active_trips
    if cap is not None and active >= cap:
        way_out = "Archive the active trip with delete_trip (it is kept), then create this one."
        raise paywall(call.caller, Plan.PREMIUM.slug, "A second active trip", way_out)
    row = Row(name=name, destination=destination or None, start_date=start_date, end_date=end_date)
    call.db.add(row)
    call.db.flush()
    made = shown_trip(row, {})
    return CreatedTrip(message=f"Trip {row.id} is open: {row.name}.", trip=made, active_count=active + 1, cap=cap)


@tool(area="trips", tier=Tier.FREE, effect=Effect.READS)
def list_trips(
    call: Call,
    state: Literal["active", "archived", "all"] = "active",
    page: Page = 1,
    per_page: PerPage = 20,
) -> Trips:
    """Lists workspace trips, newest first, with counts of what is filed under each. Free."""
    fits = {"active": Row.archived_at.is_(None), "archived": Row.archived_at.is_not(None), "all": true()}[state]
    total = call.db.scalar(select(func.count()).select_from(Row).where(fits)) or 0
    chosen = select(Row).where(fits).order_by(Row.id.desc()).offset((page - 1) * per_page).limit(per_page)
    rows = call.db.scalars(chosen).all()
    filed = trips.filed_under(call.db, [r.id for r in rows])
    kind = "trip" if state == "all" else f"{state} trip"
    return Trips(
        message=f"{total} {kind}{'' if total == 1 else 's'}.",
        trips=[shown_trip(r, filed[r.id]) for r in rows],
        active_count=total if state == "active" else trips.active_trips(call.db),
        cap=call.limits.active_trips,
        paging=Paging.of(page, per_page, total),
    )


@tool(area="trips", tier=Tier.FREE, effect=Effect.CHANGES)
def delete_trip(call: Call, trip_id: RowId, permanently: bool = False) -> DeletedTrip:
    """Archives a trip, or deletes it for good with its itinerary when permanently is true.

    Archiving keeps the trip and its itinerary and frees the active-trip slot. Either way bookings, monitors, searches
    and chats stay and are only taken out of the trip. Confirm with the user before deleting permanently. Free.
    """
    row = call.db.scalars(select(Row).where(Row.id == trip_id).with_for_update()).one_or_none()
    if row is None:
        raise NotFound("trip", trip_id)
    taken_out = trips.unfile(call.db, trip_id)
    if permanently:
        call.db.delete(row)
        message = f"Trip {trip_id} ({row.name}) is deleted for good."
    else:
        row.archived_at = row.archived_at or call.now
        message = f"Trip {trip_id} ({row.name}) is archived; nothing filed under it was deleted."
    call.db.flush()
    return DeletedTrip(
        message=message,
        trip=None if permanently else shown_trip(row, {}),
        archived=not permanently,
        deleted=permanently,
        unfiled=Unfiled(**dict.fromkeys(Unfiled.model_fields, 0) | taken_out),
    )
