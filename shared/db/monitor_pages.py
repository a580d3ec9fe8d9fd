"""Lists of route monitors in pages, each with its next check and what it found."""

from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache
from typing import Literal

import sqlalchemy as sa
from sqlalchemy import func
from sqlalchemy.orm import Session

from shared.db.reading import Read
from shared.db.route_monitors import MonitorFinds, RouteMonitor, group_finds, select_finds
from shared.db.run_kinds import RunKind
from shared.db.runs import Schedule

State = Literal["active", "cancelled", "all"]


@dataclass(frozen=True)
class MonitorPage:
    """`total` counts those of the state, `active` those that are looked at; `due` and `finds` are by monitor."""

    rows: list[RouteMonitor]
    total: int
    active: int
    due: dict[int, datetime]
    finds: dict[int, MonitorFinds]


def is_active() -> sa.ColumnElement[bool]:
    return RouteMonitor.cancelled_at.is_(None) & RouteMonitor.paused_at.is_(None)


def load_monitor_page(session: Session, state: State, page: int, per_page: int) -> MonitorPage:
    """The newest first."""
    parts = _read_monitors(state)(session, offset=(page - 1) * per_page, per_page=per_page)
    (total, active), *_ = parts["counts"]
    return MonitorPage(parts["rows"], total, active, dict(parts["due"]), group_finds(parts["finds"]))


@lru_cache(maxsize=3)
def _read_monitors(state: State) -> Read:
    fits = {"active": is_active(), "cancelled": ~is_active(), "all": sa.true()}[state]
    rows = sa.select(RouteMonitor).where(fits).order_by(RouteMonitor.id.desc())
    rows = rows.offset(sa.bindparam("offset")).limit(sa.bindparam("per_page"))
    page = rows.with_only_columns(RouteMonitor.id).subquery()
    ids = sa.select(page.c.id)
    is_due = Schedule.kind == RunKind.ROUTE_MONITOR, Schedule.subject_id.in_(ids), Schedule.enabled
    return Read(
        rows=rows,
        counts=sa.select(func.count().filter(fits), func.count().filter(is_active())).select_from(RouteMonitor),
        due=sa.select(Schedule.subject_id, Schedule.next_due_at).where(*is_due),
        finds=select_finds(ids),
    )
