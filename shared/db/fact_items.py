"""Open items about facts by pages: people's reports, sources' differences, findings of audits, corrections."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from typing import Any

import sqlalchemy as sa
from sqlalchemy.orm import Session

from shared.db.audit import AuditFinding
from shared.db.fact_reports import FactReport, close_report
from shared.db.overrides import ReferenceOverride
from shared.db.source_watch import FAULT, SourceItem
from shared.db.source_watch import close_item as close_difference

_MAX_DIGITS = 18  # of a number the database can hold
_OUTSIDE = ("reported", "differs", "unread")  # kinds of findings listed with the reports and differences
REPORTS, DIFFERENCES, FINDINGS, CORRECTIONS = "reports", "differences", "findings", "corrections"


@dataclass(frozen=True)
class FactItem:
    """`name` (R5, D12) is used to close it; findings end by themselves, corrections with their row."""

    name: str | None
    kind: str
    file: str
    key: str
    since: date | datetime
    text: str


def _describe_report(row: FactReport) -> FactItem:
    more = [f"tool {row.tool}"] if row.tool else []
    more += [f"see {row.link}"] if row.link else []
    more += [f"from {row.mail}"] if row.mail else []
    text = "; ".join([" ".join(row.wrong.split()), *more])
    return FactItem(f"R{row.id}", "reported", row.file or "-", row.key, row.received_at, text)


def _describe_difference(row: SourceItem) -> FactItem:
    name = f"D{row.id}"
    if row.field == FAULT:
        return FactItem(name, "unread", row.file, row.source, row.first_seen_on, f"{row.theirs}: {row.link}")
    text = f"{row.field} here: {row.ours}; in {row.source}: {row.theirs}: {row.link}"
    return FactItem(name, "differs", row.file, row.key, row.first_seen_on, text)


def _describe_finding(row: AuditFinding) -> FactItem:
    return FactItem(None, row.kind, row.file, row.key, row.since, row.text)


def _describe_correction(row: ReferenceOverride) -> FactItem:
    cells = ", ".join(f"{name}={value}" for name, value in row.cells.items() if value)
    kind = "removed" if row.removed else "corrected"
    return FactItem(None, kind, row.file, row.key, row.entered_at, f"by {row.entered_by}: {row.reason}. {cells}")


_LISTS: dict[str, tuple[type[Any], Callable[[Any], FactItem], Sequence[Any], Sequence[Any]]] = {
    REPORTS: (FactReport, _describe_report, [FactReport.closed_on.is_(None)], [FactReport.id]),
    DIFFERENCES: (
        SourceItem,
        _describe_difference,
        [SourceItem.ended_on.is_(None), SourceItem.closed_on.is_(None)],
        [SourceItem.first_seen_on, SourceItem.id],
    ),
    FINDINGS: (
        AuditFinding,
        _describe_finding,
        [AuditFinding.ended_on.is_(None), AuditFinding.kind.not_in(_OUTSIDE)],
        [AuditFinding.since, AuditFinding.id],
    ),
    CORRECTIONS: (
        ReferenceOverride,
        _describe_correction,
        [sa.true()],
        [ReferenceOverride.entered_at.desc(), ReferenceOverride.id],
    ),
}


def list_items(session: Session, name: str, limit: int, *, offset: int = 0) -> list[FactItem]:
    """One of the four lists, the oldest first; of corrections the newest."""
    model, describe, fits, order = _LISTS[name]
    rows = sa.select(model).where(*fits).order_by(*order).limit(limit).offset(offset)
    return [describe(row) for row in session.scalars(rows)]


def count_items(session: Session) -> dict[str, int]:
    """The number of items in each list."""
    counts = [
        sa.select(sa.func.count()).select_from(model).where(*fits).scalar_subquery().label(name)
        for name, (model, _, fits, _) in _LISTS.items()
    ]
    return dict(session.execute(sa.select(*counts)).one()._mapping)


def find_item(session: Session, name: str) -> FactItem | None:
    """The open report (R5) or difference (D12) of this name."""
    model, describe, fits, _ = _LISTS[{"R": REPORTS, "D": DIFFERENCES}.get(name[:1].upper(), REPORTS)]
    number = _read_number(name)
    row = None if number is None else session.scalar(sa.select(model).where(model.id == number, *fits))
    return describe(row) if row is not None else None


_CLOSERS: dict[str, Callable[[Session, int, date, str, str], bool]] = {"D": close_difference, "R": close_report}


def close_item(session: Session, name: str, today: date, who: str, reason: str) -> bool:
    """Closes a difference (D12) or a report (R5); whether it was open. A difference returns when it changes."""
    number = _read_number(name)
    return number is not None and _CLOSERS[name[0].upper()](session, number, today, who, reason)


def _read_number(name: str) -> int | None:
    kind, digits = name[:1].upper(), name[1:]
    fits = kind in _CLOSERS and digits.isascii() and digits.isdecimal() and len(digits) <= _MAX_DIGITS
    return int(digits) if fits else None
