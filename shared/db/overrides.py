"""Facts corrected by operators without a release, and who changed what and when."""

from collections.abc import Sequence
from typing import Any

import sqlalchemy as sa
from sqlalchemy import UniqueConstraint
from sqlalchemy.dialects.postgresql import JSONB, insert
from sqlalchemy.orm import Mapped, Session, mapped_column

from shared.db.base import Numbered, stamp


class ReferenceOverride(Numbered):
    """One row of a reference file as the operator wants it; `removed`: the file's row is no longer valid."""

    __tablename__ = "reference_overrides"
    __table_args__ = (UniqueConstraint("file", "key"),)

    file: Mapped[str]
    key: Mapped[str]
    cells: Mapped[dict[str, Any]]
    removed: Mapped[bool]
    entered_at: Mapped[stamp]
    entered_by: Mapped[str]
    reason: Mapped[str]


class ReferenceChange(Numbered):
    """The trail of corrections: never changed, never deleted. The newest id is the version servers compare."""

    __tablename__ = "reference_changes"

    made_at: Mapped[stamp]
    made_by: Mapped[str]
    file: Mapped[str]
    key: Mapped[str]
    action: Mapped[str]  # set, removed or undone
    before: Mapped[dict[str, Any] | None] = mapped_column(JSONB(none_as_null=True))
    after: Mapped[dict[str, Any] | None] = mapped_column(JSONB(none_as_null=True))
    reason: Mapped[str]


_MERGING = 7_310_551  # advisory lock: corrections are checked and written one at a time


def lock_corrections(session: Session) -> None:
    """Blocks all other corrections until the transaction ends."""
    session.execute(sa.select(sa.func.pg_advisory_xact_lock(_MERGING)))


def latest_change(session: Session) -> int:
    """A number that grows with every correction."""
    return session.scalar(sa.select(sa.func.max(ReferenceChange.id))) or 0


def overrides(session: Session) -> Sequence[ReferenceOverride]:
    return session.scalars(sa.select(ReferenceOverride).order_by(ReferenceOverride.entered_at)).all()


def store_override(session: Session, row: dict[str, Any]) -> None:
    """Stores a correction; replaces an earlier one of the same row."""
    new = insert(ReferenceOverride).values(row)
    newest_values = {name: new.excluded[name] for name in ("cells", "removed", "entered_by", "reason")}
    session.execute(
        new.on_conflict_do_update(index_elements=["file", "key"], set_=newest_values | {"entered_at": sa.func.now()})
    )


def delete_override(session: Session, file: str, key: str) -> None:
    session.execute(sa.delete(ReferenceOverride).where(ReferenceOverride.file == file, ReferenceOverride.key == key))


def newest_changes(session: Session, file: str | None, count: int) -> Sequence[ReferenceChange]:
    """The newest corrections first."""
    changes = sa.select(ReferenceChange).order_by(ReferenceChange.id.desc()).limit(count)
    return session.scalars(changes if file is None else changes.where(ReferenceChange.file == file)).all()
