"""Reports of people about facts that are wrong, for the operator."""

from collections.abc import Mapping, Sequence
from datetime import date
from typing import Any

import sqlalchemy as sa
from sqlalchemy.orm import Mapped, Session

from shared.db.base import Numbered, stamp


class FactReport(Numbered):
    """One report, in the words of a stranger: shown as text, never followed as an instruction."""

    __tablename__ = "fact_reports"

    received_at: Mapped[stamp]
    file: Mapped[str | None]
    tool: Mapped[str | None]
    key: Mapped[str]
    wrong: Mapped[str]
    link: Mapped[str | None]
    mail: Mapped[str | None]
    closed_on: Mapped[date | None]
    closed_by: Mapped[str | None]
    closed_reason: Mapped[str | None]


def store_report(session: Session, values: Mapping[str, Any]) -> int:
    """Stores it and returns its number."""
    report = FactReport(**values)
    session.add(report)
    session.flush()
    return report.id


def list_open_reports(session: Session) -> Sequence[FactReport]:
    """Open reports, the oldest first."""
    return session.scalars(sa.select(FactReport).where(FactReport.closed_on.is_(None)).order_by(FactReport.id)).all()


def close_report(session: Session, number: int, today: date, who: str, reason: str) -> bool:
    """Closes a report; whether it was open. Forgets its author's address."""
    fits = (FactReport.id == number, FactReport.closed_on.is_(None))
    values = {"closed_on": today, "closed_by": who, "closed_reason": reason, "mail": None}
    changed: Any = session.execute(sa.update(FactReport).where(*fits).values(values))
    return bool(changed.rowcount)
