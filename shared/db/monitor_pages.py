"""Lists of route monitors in pages, each with its next check and what it found."""

from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache
from typing import Literal

import sqlalchemy as sa
from sqlalchemy.orm import Session

from shared.db.pagination import CountedRows, select_count
from shared.db.route_monitors import MonitorFinds, RouteMonitor, group_finds, select_finds
from shared.db.runs import Schedule
from shared.domain.watch_kinds import ROUTE_MONITOR

State = Literal["active", "cancelled", "all"]


@dataclass(frozen=True)
class MonitorPage:
    """`total` counts those of the state, `active` the running ones; `due` and `finds` are by monitor."""

    rows: list[RouteMonitor]
    total: int
    active: int
    due: dict[int, datetime]
    finds: dict[int, MonitorFinds]


def load_monitor_page(session: Session, state: State, page: int, per_page: int) -> MonitorPage:
    """A page, the newest first."""
    rows, (total, active) = _select_monitors(state).read(session, offset=(page - 1) * per_page, per_page=per_page)
    ids = [monitor.id for (monitor,) in rows]
    is_due = Schedule.kind == ROUTE_MONITOR.run, Schedule.subject_id.in_(ids), Schedule.enabled
    due = session.execute(sa.select(Schedule.subject_id, Schedule.next_due_at).where(*is_due))
    finds = group_finds(session.execute(select_finds(ids)))
    return MonitorPage([monitor for (monitor,) in rows], total, active, dict(due.all()), finds)


@lru_cache(maxsize=3)
def _select_monitors(state: State) -> CountedRows:
    fits = {"active": RouteMonitor.is_running(), "cancelled": ~RouteMonitor.is_running(), "all": sa.true()}[state]
    rows = sa.select(RouteMonitor).where(fits).order_by(RouteMonitor.id.desc())
    rows = rows.offset(sa.bindparam("offset")).limit(sa.bindparam("per_page"))
    return CountedRows.of(rows, select_count(RouteMonitor, fits), select_count(RouteMonitor, RouteMonitor.is_running()))
