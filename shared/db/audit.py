"""What the audits of the reference facts found, and since when."""

from collections.abc import Sequence
from datetime import date, timedelta
from typing import Any

import sqlalchemy as sa
from sqlalchemy import UniqueConstraint
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.orm import Mapped, Session

from shared.db.base import Numbered

_ENDED_KEPT = timedelta(days=365)


class AuditFinding(Numbered):
    """What an audit found. One row while it lasts; `ended_on` once an audit no longer finds it."""

    __tablename__ = "audit_findings"
    __table_args__ = (UniqueConstraint("kind", "file", "key"),)

    kind: Mapped[str]
    file: Mapped[str]
    key: Mapped[str]
    since: Mapped[date]
    text: Mapped[str]
    first_found_on: Mapped[date]
    last_found_on: Mapped[date]
    ended_on: Mapped[date | None]


def store_findings(session: Session, findings: Sequence[dict[str, Any]], today: date) -> None:
    """Stores findings; known ones keep their first day, missing ones end today."""
    gone = sa.update(AuditFinding).where(AuditFinding.ended_on.is_(None), AuditFinding.last_found_on <= today)
    session.execute(gone.values(ended_on=today))
    session.execute(sa.delete(AuditFinding).where(AuditFinding.ended_on < today - _ENDED_KEPT))
    if not findings:
        return
    new = insert(AuditFinding).values([row | {"first_found_on": today, "last_found_on": today} for row in findings])
    newest_values = {"since": new.excluded.since, "text": new.excluded.text, "last_found_on": today, "ended_on": None}
    session.execute(new.on_conflict_do_update(index_elements=["kind", "file", "key"], set_=newest_values))
