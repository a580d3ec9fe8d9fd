"""Prices and fees seen in answers of providers: the memory that averages and calendars are read from."""

import datetime as dt
from collections.abc import Mapping, Sequence
from datetime import date, datetime
from decimal import Decimal
from typing import Any

import sqlalchemy as sa
from sqlalchemy import ForeignKey, Index
from sqlalchemy.orm import Mapped, Session, mapped_column

from shared.db import bulk
from shared.db.base import ModeOwned, Numbered, currency, iata, stamp

# The columns that a row of an answer and its stored copy share.
_PRICE = ("points", "taxes", "taxes_currency")
SEEN = ("airline", "program", "origin", "destination", "date", "cabin", *_PRICE, "seats", "stops", "ref")


class AwardObservation(ModeOwned, Numbered):
    __tablename__ = "award_observations"
    __table_args__ = (
        # Hundreds of rows a check. One index serves calendars of an origin too: PostgreSQL, from 18 on, skips from one
        # destination to the next. Times grow with ids, which lists of the newest use, and few rows have an asker.
        # No index by the moment: where most rows are of two weeks, PostgreSQL read it next to another, 4 ms of 10
        # million rows. A programme or an airline with few offers was looked for in all of them, which took 1.4 s.
        Index("ix_award_observations_route", "origin", "destination", "cabin", "date"),
        Index("ix_award_observations_program", "program", "airline"),
        Index("ix_award_observations_asker_id", "asker_id", postgresql_where=sa.text("asker_id is not null")),
        sa.CheckConstraint("(source = 'sandbox') = synthetic", name="source_mode"),
    )

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
    stops: Mapped[int | None] = mapped_column(sa.SmallInteger)  # None = not said
    ref: Mapped[str | None]  # the source's own name of the row, by which its flights are asked for
    seen_at: Mapped[stamp]
    provider_checked_at: Mapped[datetime | None]
    # Whose connection saw it; None = may be shown to anyone.
    asker_id: Mapped[int | None] = mapped_column(ForeignKey("accounts.id", ondelete="CASCADE"))


class FareObservation(ModeOwned, Numbered):
    """The cheapest cash fares of an answer, one for each airline and number of stops, with the request."""

    __tablename__ = "fare_observations"
    __table_args__ = (
        # With the time, as the newest fare of a day is needed: to list 20,000 offers by value read all fares of
        # their days, of ten million 9 s long, and takes 0.3 s.
        Index("ix_fare_observations_route", "origin", "destination", "cabin", "date", "seen_at"),
        sa.CheckConstraint("(source = 'sandbox') = synthetic", name="source_mode"),
    )

    source: Mapped[str]
    origin: Mapped[iata]
    destination: Mapped[iata]
    date: Mapped[dt.date]
    return_date: Mapped[dt.date | None]
    cabin: Mapped[str]
    passengers: Mapped[int]
    price: Mapped[Decimal]
    currency: Mapped[currency]
    carriers: Mapped[list[str]]
    stops: Mapped[int | None]
    city_wide: Mapped[bool] = mapped_column(server_default=sa.false())  # it may use another airport of these cities
    seen_at: Mapped[stamp]
    provider_checked_at: Mapped[datetime | None]
    asker_id: Mapped[int | None] = mapped_column(ForeignKey("accounts.id", ondelete="CASCADE"), index=True)


def write_fares(session: Session, rows: Sequence[Mapping[str, Any]]) -> None:
    if rows:
        bulk.write(session, FareObservation, rows)


def write(session: Session, rows: Sequence[Mapping[str, Any]]) -> None:
    """Stores what one answer showed. All rows name the same columns."""
    if rows:
        bulk.write(session, AwardObservation, rows)


def prices_since(session: Session, since: datetime) -> list[tuple[Any, ...]]:
    """Each price seen since then: programme, airline, route, cabin, points, how often, and the last day."""
    row = AwardObservation
    what = (row.program, row.airline, row.origin, row.destination, row.cabin, row.points)
    prices = sa.select(*what, sa.func.count(), sa.cast(sa.func.max(row.seen_at), sa.Date)).where(row.seen_at >= since)
    return [tuple(row) for row in session.execute(prices.group_by(*what))]
