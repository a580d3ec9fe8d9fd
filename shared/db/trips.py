"""Workspace trips, and the search records that can be filed under them."""

from collections.abc import Iterable
from datetime import date, datetime, time
from typing import Any, cast

import sqlalchemy as sa
from sqlalchemy import CursorResult, ForeignKey, Index, func
from sqlalchemy.orm import InstrumentedAttribute, Mapped, Session, mapped_column

from shared.db.base import AccountOwned, Base, ModeOwned, pk, stamp
from shared.db.watches import RouteMonitor


class Trip(AccountOwned, Base):
    __tablename__ = "trips"

    id: Mapped[pk]
    name: Mapped[str]
    destination: Mapped[str | None]
    start_date: Mapped[date | None]
    end_date: Mapped[date | None]
    archived_at: Mapped[datetime | None]
    created_at: Mapped[stamp]
    updated_at: Mapped[datetime] = mapped_column(server_default=func.now(), onupdate=func.now())


class SearchRecord(AccountOwned, ModeOwned, Base):
    """One metered search: what was asked and how it ended, never the seats themselves."""

    __tablename__ = "search_records"
    __table_args__ = (Index("ix_search_records_account_created", "account_id", "created_at"),)

    id: Mapped[pk]
    trip_id: Mapped[int | None] = mapped_column(ForeignKey("trips.id", ondelete="SET NULL"), index=True)
    tool: Mapped[str]
    arguments: Mapped[dict[str, Any]]
    summary: Mapped[str]
    outcome: Mapped[str]
    created_at: Mapped[stamp]


class ItineraryItem(AccountOwned, Base):
    """One line of a trip's plan; times are local to the place."""

    __tablename__ = "itinerary_items"
    __table_args__ = (
        sa.CheckConstraint("kind in ('flight', 'hotel', 'transfer', 'activity', 'meal', 'note')", name="kind"),
    )

    id: Mapped[pk]
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
    position: Mapped[int]
    created_at: Mapped[stamp]
    updated_at: Mapped[datetime] = mapped_column(server_default=func.now(), onupdate=func.now())


class ChatLink(AccountOwned, Base):
    """Where a conversation can be found again, saved when the person asks; never what was said in it."""

    __tablename__ = "chat_links"
    __table_args__ = (Index("ix_chat_links_account_created", "account_id", "created_at"),)

    id: Mapped[pk]
    title: Mapped[str]
    url: Mapped[str | None]
    summary: Mapped[str | None]
    trip_id: Mapped[int | None] = mapped_column(ForeignKey("trips.id", ondelete="SET NULL"), index=True)
    created_at: Mapped[stamp]
    updated_at: Mapped[datetime] = mapped_column(server_default=func.now(), onupdate=func.now())


# What can be filed under a trip: the kind, as results name it, and the column that holds the trip.
FILED: dict[str, InstrumentedAttribute[int | None]] = {
    "monitors": RouteMonitor.trip_id,
    "searches": SearchRecord.trip_id,
}


def active_trips(session: Session) -> int:
    return session.scalar(sa.select(func.count()).select_from(Trip).where(Trip.archived_at.is_(None))) or 0


def filed_under(session: Session, trips: Iterable[int]) -> dict[int, dict[str, int]]:
    """For each trip the number of rows of each kind, all in one statement."""
    wanted = list(trips)
    counts: dict[int, dict[str, int]] = {trip: dict.fromkeys(FILED, 0) for trip in wanted}
    if wanted:
        kinds = [
            sa.select(column, sa.literal(kind), func.count()).where(column.in_(wanted)).group_by(column)
            for kind, column in FILED.items()
        ]
        for trip, kind, number in session.execute(sa.union_all(*kinds)):
            if trip is not None:
                counts[trip][kind] = number
    return counts


def unfile(session: Session, trip: int) -> dict[str, int]:
    """Takes everything out of a trip and keeps it; says how many rows of each kind that were."""
    return {kind: _unfile(session, column, trip) for kind, column in FILED.items()}


def _unfile(session: Session, column: InstrumentedAttribute[int | None], trip: int) -> int:
    taken_out = sa.update(column.class_).where(column == trip).values({column: None})
    done = cast("CursorResult[Any]", session.execute(taken_out, execution_options={"synchronize_session": False}))
    return done.rowcount
