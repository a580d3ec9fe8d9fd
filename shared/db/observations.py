"""Prices and fees seen in answers of providers: the memory that averages and calendars are read from."""

from collections.abc import Mapping, Sequence
from datetime import date, datetime
from decimal import Decimal
from typing import Any

import sqlalchemy as sa
from sqlalchemy import Index
from sqlalchemy.orm import Mapped, Session, mapped_column

from shared.db.base import Base, ModeOwned, iata, pk, stamp


class AwardObservation(ModeOwned, Base):
    __tablename__ = "award_observations"
    __table_args__ = (
        Index("ix_award_observations_route", "origin", "destination", "cabin", "date"),
        sa.CheckConstraint("(source = 'sandbox') = synthetic", name="source_mode"),
    )

    id: Mapped[pk]
    source: Mapped[str]
    airline: Mapped[str]
    program: Mapped[str]
    origin: Mapped[iata]
    destination: Mapped[iata]
    date: Mapped[date]
    cabin: Mapped[str]
    points: Mapped[int]
    taxes: Mapped[Decimal | None]
    taxes_currency: Mapped[str | None] = mapped_column(sa.String(3))
    seats: Mapped[int | None]
    seen_at: Mapped[stamp]
    provider_checked_at: Mapped[datetime | None]


def write(session: Session, rows: Sequence[Mapping[str, Any]]) -> None:
    """Stores what one answer showed, in one statement and in the data mode of the session."""
    if rows:
        synthetic = session.info["synthetic"]
        session.execute(sa.insert(AwardObservation), [{**row, "synthetic": synthetic} for row in rows])


def prices_since(session: Session, since: datetime) -> list[tuple[Any, ...]]:
    """Each price shown since then: programme, airline, route, cabin, points, how often, and the last day."""
    row = AwardObservation
    what = (row.program, row.airline, row.origin, row.destination, row.cabin, row.points)
    asked = sa.select(*what, sa.func.count(), sa.cast(sa.func.max(row.seen_at), sa.Date)).where(row.seen_at >= since)
    return [tuple(seen) for seen in session.execute(asked.group_by(*what))]
