"""The last readings of the weekly watch of public files, and their differences from our rows."""

from collections.abc import Collection, Mapping, Sequence
from datetime import date, datetime
from typing import Any

import sqlalchemy as sa
from sqlalchemy import UniqueConstraint
from sqlalchemy.dialects.postgresql import JSONB, insert
from sqlalchemy.orm import Mapped, Session, mapped_column

from shared.db.base import Base, Numbered

FAULT = "source"  # the field of an item that is about the source itself


class SourceReading(Base):
    """What a watched file held when last read without faults. `mapping` tells whether the mapping was today's."""

    __tablename__ = "source_readings"

    name: Mapped[str] = mapped_column(primary_key=True)
    mapping: Mapped[str]
    etag: Mapped[str | None]
    content: Mapped[dict[str, Any]] = mapped_column(JSONB)
    read_at: Mapped[datetime]
    checked_at: Mapped[datetime]


class SourceItem(Numbered):
    """A difference, or a fault of a source. One row while it lasts; it ends by itself or is closed by a person."""

    __tablename__ = "source_items"
    __table_args__ = (UniqueConstraint("source", "file", "key", "field"),)

    source: Mapped[str]
    file: Mapped[str]
    key: Mapped[str]
    field: Mapped[str]
    ours: Mapped[str]
    theirs: Mapped[str]
    link: Mapped[str]
    first_seen_on: Mapped[date]
    last_seen_on: Mapped[date]
    ended_on: Mapped[date | None]
    closed_on: Mapped[date | None]
    closed_by: Mapped[str | None]
    closed_reason: Mapped[str | None]


def list_readings(session: Session) -> dict[str, SourceReading]:
    return {row.name: row for row in session.scalars(sa.select(SourceReading))}


def store_reading(session: Session, values: Mapping[str, Any]) -> None:
    new = insert(SourceReading).values(**values)
    session.execute(
        new.on_conflict_do_update(index_elements=["name"], set_={k: v for k, v in values.items() if k != "name"})
    )


def mark_checked(session: Session, name: str, moment: datetime) -> None:
    session.execute(sa.update(SourceReading).where(SourceReading.name == name).values(checked_at=moment))


def store_items(session: Session, items: Sequence[Mapping[str, Any]], today: date) -> None:
    """Stores today's items. One that a person closed stays closed while both values are the same."""
    if not items:
        return
    stamps = {"first_seen_on": today, "last_seen_on": today}
    new = insert(SourceItem).values([{**item, **stamps} for item in items])
    is_same = sa.and_(SourceItem.ours == new.excluded.ours, SourceItem.theirs == new.excluded.theirs)
    kept_columns = ("closed_on", "closed_by", "closed_reason")
    values: dict[str, Any] = {name: sa.case((is_same, getattr(SourceItem, name))) for name in kept_columns}
    values |= {name: new.excluded[name] for name in ("ours", "theirs", "link")}
    goes_on = sa.or_(SourceItem.ended_on.is_(None), SourceItem.ended_on == today)
    first_day = sa.case((goes_on, SourceItem.first_seen_on), else_=today)
    values |= {"first_seen_on": first_day, "last_seen_on": today, "ended_on": None}
    session.execute(new.on_conflict_do_update(index_elements=["source", "file", "key", "field"], set_=values))


def end_items(session: Session, source: str, today: date, *, faults_only: bool = False) -> None:
    """Ends the open items of a source; those stored again today continue."""
    fits = [SourceItem.source == source, SourceItem.ended_on.is_(None)]
    fits += [SourceItem.field == FAULT] if faults_only else []
    session.execute(sa.update(SourceItem).where(*fits).values(ended_on=today))


def end_sources(session: Session, names: Collection[str], today: date) -> None:
    """Ends the items of sources no longer watched, and deletes their readings."""
    session.execute(sa.delete(SourceReading).where(SourceReading.name.not_in(names)))
    gone = sa.update(SourceItem).where(SourceItem.source.not_in(names), SourceItem.ended_on.is_(None))
    session.execute(gone.values(ended_on=today))


def list_open_items(session: Session) -> Sequence[SourceItem]:
    """Open items, the oldest first."""
    open_items = sa.select(SourceItem).where(SourceItem.ended_on.is_(None), SourceItem.closed_on.is_(None))
    return session.scalars(open_items.order_by(SourceItem.first_seen_on, SourceItem.id)).all()


def close_item(session: Session, number: int, today: date, who: str, reason: str) -> bool:
    """Closes the item with this number; returns whether it was open."""
    fits = (SourceItem.id == number, SourceItem.ended_on.is_(None), SourceItem.closed_on.is_(None))
    values = {"closed_on": today, "closed_by": who, "closed_reason": reason}
    changed: Any = session.execute(sa.update(SourceItem).where(*fits).values(values))
    return bool(changed.rowcount)
