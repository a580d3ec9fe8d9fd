"""Workspace trips with their itineraries, searches and chats, and what else can be filed under them."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, time
from functools import lru_cache
from typing import Any, Literal, NamedTuple, TypeVar, cast

import sqlalchemy as sa
from sqlalchemy import ColumnElement, ForeignKey, Index, func
from sqlalchemy.dialects.postgresql import ARRAY
from sqlalchemy.orm import InstrumentedAttribute, Mapped, Session, mapped_column

from shared.db import bulk
from shared.db.accounts import Account
from shared.db.base import AccountOwned, ModeOwned, Numbered, Timestamped, stamp
from shared.db.bookings import FlightBooking, HotelBooking
from shared.db.pagination import CountedRows, select_count
from shared.db.route_monitors import RouteMonitor
from shared.db.standing_orders import StandingOrder
from shared.errors import Fault, Invalid, NotFound

TripState = Literal["active", "archived", "all"]


class Trip(Timestamped, AccountOwned, Numbered):
    __tablename__ = "trips"

    name: Mapped[str]
    destination: Mapped[str | None]
    start_date: Mapped[date | None]
    end_date: Mapped[date | None]
    archived_at: Mapped[datetime | None]


class SearchRecord(AccountOwned, ModeOwned, Numbered):
    """One metered search: the question and the outcome, never the seats."""

    __tablename__ = "search_records"
    __table_args__ = (Index("ix_search_records_account_created", "account_id", "created_at"),)

    trip_id: Mapped[int | None] = mapped_column(ForeignKey("trips.id", ondelete="SET NULL"), index=True)
    tool: Mapped[str]
    arguments: Mapped[dict[str, Any]]
    summary: Mapped[str]
    outcome: Mapped[str]
    created_at: Mapped[stamp]


def add_searches(session: Session, rows: Sequence[Mapping[str, Any]]) -> None:
    if rows:
        bulk.write(session, SearchRecord, rows)


class ItineraryItem(Timestamped, AccountOwned, Numbered):
    """One line of a trip's plan; times are local to the place."""

    __tablename__ = "itinerary_items"
    __table_args__ = (
        sa.CheckConstraint(
            "kind in ('flight', 'hotel', 'transfer', 'activity', 'meal', 'note', 'points_transfer')", name="kind"
        ),
    )

    trip_id: Mapped[int] = mapped_column(ForeignKey("trips.id", ondelete="CASCADE"), index=True)
    title: Mapped[str]
    day: Mapped[date | None]
    start_time: Mapped[time | None]
    end_time: Mapped[time | None]
    kind: Mapped[str]
    location: Mapped[str | None]
    notes: Mapped[str | None]
    flight_booking_id: Mapped[int | None] = mapped_column(
        ForeignKey("flight_bookings.id", ondelete="SET NULL"), index=True
    )
    hotel_booking_id: Mapped[int | None] = mapped_column(
        ForeignKey("hotel_bookings.id", ondelete="SET NULL"), index=True
    )
    # For a transfer of points, which starts on `day`.
    from_program: Mapped[str | None]
    to_program: Mapped[str | None]
    points: Mapped[int | None] = mapped_column(sa.BigInteger)
    expected_on: Mapped[date | None]
    posted_on: Mapped[date | None]
    position: Mapped[int]


class ChatLink(Timestamped, AccountOwned, Numbered):
    """A link to a conversation, saved when the person asks; never its content."""

    __tablename__ = "chat_links"
    __table_args__ = (Index("ix_chat_links_account_created", "account_id", "created_at"),)

    title: Mapped[str]
    url: Mapped[str | None]
    summary: Mapped[str | None]
    trip_id: Mapped[int | None] = mapped_column(ForeignKey("trips.id", ondelete="SET NULL"), index=True)


# What can be filed under a trip: the kind, as results name it, and the column with the trip.
TRIP_COLUMNS: dict[str, InstrumentedAttribute[int | None]] = {
    "flight_bookings": FlightBooking.workspace_trip_id,
    "hotel_bookings": HotelBooking.trip_id,
    "monitors": RouteMonitor.trip_id,
    "standing_orders": StandingOrder.trip_id,
    "searches": SearchRecord.trip_id,
    "chats": ChatLink.trip_id,
}
_COUNTED_COLUMNS: dict[str, InstrumentedAttribute[Any]] = {**TRIP_COLUMNS, "itinerary_items": ItineraryItem.trip_id}


def active_trips(session: Session) -> int:
    return session.scalar(sa.select(func.count()).select_from(Trip).where(Trip.archived_at.is_(None))) or 0


def open_trip(session: Session, trip_id: int, field: str = "trip_id") -> Trip:
    """Locks the account and the trip to file something under: it stays open until the transaction ends."""
    both = sa.select(Trip).select_from(Account).join(Trip, Trip.account_id == Account.id)  # locked in this order
    trip = session.scalars(both.where(Trip.id == trip_id).with_for_update(key_share=True)).one_or_none()
    if trip is None:
        raise NotFound("trip", trip_id)
    if trip.archived_at:
        raise Invalid(Fault(field, "is archived", "an active trip; update_trip with state active brings it back"))
    return trip


def count_filed(session: Session, trips: Iterable[int]) -> dict[int, dict[str, int]]:
    """For each trip the number of rows of each kind, all in one statement."""
    trip_ids = list(trips)
    rows = session.execute(sa.union_all(*_select_filed(trip_ids))) if trip_ids else ()
    counts: dict[int, dict[str, int]] = {trip: dict.fromkeys(_COUNTED_COLUMNS, 0) for trip in trip_ids}
    for trip, kind, number in rows:
        counts[trip][kind] = number
    return counts


def _select_filed(trip_ids: Sequence[int] | sa.Select[int]) -> list[sa.Select[*tuple[Any, ...]]]:
    return [
        sa.select(column, sa.literal(kind), func.count()).where(column.in_(trip_ids)).group_by(column)
        for kind, column in _COUNTED_COLUMNS.items()
    ]


class TripPage(NamedTuple):
    """`total` counts those in the state; `filed` is by trip, like count_filed."""

    rows: list[Trip]
    total: int
    active: int
    filed: dict[int, dict[str, int]]


def load_trip_page(session: Session, state: TripState, page: int, per_page: int) -> TripPage:
    """A page of trips, the newest first."""
    rows, (total, active) = _select_trips(state).read(session, offset=(page - 1) * per_page, per_page=per_page)
    filed = {trip.id: dict(zip(_COUNTED_COLUMNS, counts, strict=True)) for trip, *counts in rows}
    return TripPage([trip for trip, *_ in rows], total, active, filed)


@lru_cache(maxsize=3)
def _select_trips(state: TripState) -> CountedRows:
    is_active = Trip.archived_at.is_(None)
    fits = {"active": is_active, "archived": Trip.archived_at.is_not(None), "all": sa.true()}[state]
    filed = (
        sa.select(func.count()).where(column == Trip.id).correlate(Trip).scalar_subquery()
        for column in _COUNTED_COLUMNS.values()
    )
    rows = sa.select(Trip, *filed).where(fits).order_by(Trip.id.desc())
    rows = rows.offset(sa.bindparam("offset")).limit(sa.bindparam("per_page"))
    return CountedRows.of(rows, select_count(Trip, fits), select_count(Trip, is_active))


# The order of each kind in a trip, and its most rows in one answer.
_UNDATED_LAST = ItineraryItem.day.nulls_last()
ORDER_AND_LIMIT: dict[str, tuple[tuple[Any, ...], int]] = {
    "itinerary_items": ((_UNDATED_LAST, ItineraryItem.position, ItineraryItem.id), 200),
    "flight_bookings": ((FlightBooking.departure_date, FlightBooking.departure_time, FlightBooking.id), 100),
    "hotel_bookings": ((HotelBooking.check_in_date, HotelBooking.id), 100),
    "monitors": ((RouteMonitor.id.desc(),), 100),
    "standing_orders": ((StandingOrder.id.desc(),), 100),
    "searches": ((SearchRecord.created_at.desc(), SearchRecord.id.desc()), 20),
    "chats": ((ChatLink.created_at.desc(), ChatLink.id.desc()), 100),
}


def read_filed(session: Session, kind: str, trip: int) -> tuple[list[Any], int]:
    """The rows of one kind that a trip shows, and their total."""
    column, (order, most) = _COUNTED_COLUMNS[kind], ORDER_AND_LIMIT[kind]
    statement = sa.select(column.class_, func.count().over()).where(column == trip).order_by(*order).limit(most)
    rows = session.execute(statement).all()
    return [row for row, _ in rows], rows[0][1] if rows else 0


def list_planned_items(session: Session, since: date, most: int) -> list[tuple[ItineraryItem, str]]:
    """Items of that day or later with the names of their trips, soonest first.

    Leaves out archived trips, and items that stand for a booking or a transfer of points.
    """
    item = ItineraryItem
    alone = (item.flight_booking_id.is_(None), item.hotel_booking_id.is_(None), item.kind != "points_transfer")
    query = sa.select(item, Trip.name).join(Trip, Trip.id == item.trip_id)
    query = query.where(item.day >= since, Trip.archived_at.is_(None), *alone)
    rows = session.execute(query.order_by(item.day, item.position, item.id).limit(most))
    return [(row, name) for row, name in rows]


def file_under(session: Session, trip: int, ids_of_kind: Mapping[str, Sequence[int]]) -> dict[str, list[int]]:
    """Files the caller's rows under one of their trips; returns the ids found by kind."""
    return _move(session, trip, {kind: _has_id(kind, ids) for kind, ids in ids_of_kind.items() if ids})


def take_out(session: Session, trip: int, ids_of_kind: Mapping[str, Sequence[int]]) -> dict[str, list[int]]:
    """Takes the named rows out of a trip and keeps them; returns the ids that were in it, by kind."""
    inside = {kind: _has_id(kind, ids) & (TRIP_COLUMNS[kind] == trip) for kind, ids in ids_of_kind.items() if ids}
    return _move(session, None, inside)


def unfile(session: Session, trip: int) -> dict[str, int]:
    """Takes everything out of a trip and keeps it; returns the number of rows by kind."""
    moved = _move(session, None, {kind: column == trip for kind, column in TRIP_COLUMNS.items()})
    return {kind: len(ids) for kind, ids in moved.items()}


def _has_id(kind: str, ids: Sequence[int]) -> ColumnElement[bool]:
    return _table(kind).c.id == sa.any_(sa.literal(list(ids), ARRAY(sa.BigInteger)))


def _table(kind: str) -> sa.Table:
    return cast("sa.Table", TRIP_COLUMNS[kind].class_.__table__)


def _move(session: Session, trip: int | None, which: Mapping[str, ColumnElement[bool]]) -> dict[str, list[int]]:
    """Moves all kinds in one statement. The session's guard does not see it, so it names the owner itself."""
    if not which:
        return {}
    changes = []
    for kind, condition in which.items():
        table = _table(kind)
        mine = table.c.account_id == session.info["account_id"]
        if "synthetic" in table.c:
            mine &= table.c.synthetic == session.info["synthetic"]
        if "booked" in table.c:
            mine &= table.c.booked
        change = sa.update(table).where(mine, condition).values({TRIP_COLUMNS[kind].key: trip})
        changes.append((kind, change.returning(table.c.id).cte(kind)))
    moved: dict[str, list[int]] = {kind: [] for kind in which}
    for kind, id in session.execute(sa.union_all(*(sa.select(sa.literal(k), c.c.id) for k, c in changes))):
        moved[kind].append(id)
    return moved


@dataclass(frozen=True)
class Activity:
    total: int
    searches: Sequence[SearchRecord]
    chats: Sequence[ChatLink]


R = TypeVar("R", SearchRecord, ChatLink)
_ACTIVITY: dict[str, type[SearchRecord | ChatLink]] = {"search": SearchRecord, "chat": ChatLink}


def newest_activity(
    session: Session, kind: str, trip: int | None, since: datetime | None, page: int, per_page: int
) -> Activity:
    """One page of searches and chats counted together by their age, and how many there are."""
    arms, counts = [], []
    for name, model in _ACTIVITY.items():
        if kind not in ("all", name):
            continue
        fits = sa.select(sa.literal(name).label("kind"), model.id, model.created_at)
        fits = fits if trip is None else fits.where(model.trip_id == trip)
        fits = fits if since is None else fits.where(model.created_at >= since)
        counts.append(sa.select(func.count()).select_from(fits.subquery()).scalar_subquery())
        newest = fits.order_by(model.created_at.desc(), model.id.desc()).limit(page * per_page)
        arms.append(sa.select(newest.subquery()))
    total = session.scalar(sa.select(sum(counts, sa.literal(0)))) or 0
    both = sa.union_all(*arms).subquery()
    ordered = sa.select(both.c.kind, both.c.id).order_by(both.c.created_at.desc(), both.c.kind, both.c.id.desc())
    ids_of: dict[str, list[int]] = {"search": [], "chat": []}
    for name, id in session.execute(ordered.offset((page - 1) * per_page).limit(per_page)):
        ids_of[name].append(id)
    return Activity(total, _newest(session, SearchRecord, ids_of["search"]), _newest(session, ChatLink, ids_of["chat"]))


def _newest(session: Session, model: type[R], ids: Sequence[int]) -> Sequence[R]:
    statement = sa.select(model).where(model.id.in_(ids)).order_by(model.created_at.desc(), model.id.desc())
    return session.scalars(statement).all()
