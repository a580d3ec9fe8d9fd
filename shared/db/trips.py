"""Workspace trips, and the search records that can be filed under them."""

from datetime import date, datetime
from typing import Any

from sqlalchemy import ForeignKey, Index, func
from sqlalchemy.orm import Mapped, mapped_column

from shared.db.base import AccountOwned, Base, ModeOwned, pk, stamp


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
