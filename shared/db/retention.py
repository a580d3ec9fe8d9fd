"""Rows the service writes about itself, how long each kind is kept, and their deletion."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any

import sqlalchemy as sa
from sqlalchemy.orm import Session

from shared.db.base import Base
from shared.db.bookings import HotelPrice
from shared.db.mailed_seats import MailedSeat
from shared.db.messages import OPEN_STATUSES, Delivery
from shared.db.observations import AwardObservation, FareObservation
from shared.db.route_monitors import MonitorCheck
from shared.db.runs import JobRun
from shared.db.usage import ToolCall, UsageCounter


@dataclass(frozen=True)
class AgingTable:
    """One kind of row: what tells its age, and what is found through an index and grows with it."""

    model: type[Base]
    age: Any
    order: Any
    setting: str  # how many days it is kept
    over: sa.TextClause = sa.text("true")  # noqa: RUF009 - never changed


# Nothing a person stored is here: that stays until they remove it.
AGING_TABLES = (
    AgingTable(ToolCall, ToolCall.at, ToolCall.id, "keep_usage_days"),
    AgingTable(UsageCounter, UsageCounter.period, UsageCounter.period, "keep_usage_days"),
    AgingTable(JobRun, JobRun.finished_at, JobRun.id, "keep_runs_days"),
    AgingTable(MonitorCheck, MonitorCheck.checked_at, MonitorCheck.id, "keep_checks_days"),
    AgingTable(
        Delivery,
        Delivery.created_at,
        Delivery.created_at,
        "keep_deliveries_days",
        sa.text(f"deliveries.status not in {OPEN_STATUSES}"),
    ),
    AgingTable(MailedSeat, MailedSeat.mailed_at, MailedSeat.day, "keep_deliveries_days"),
    AgingTable(AwardObservation, AwardObservation.seen_at, AwardObservation.id, "keep_observations_days"),
    AgingTable(FareObservation, FareObservation.seen_at, FareObservation.id, "keep_observations_days"),
    AgingTable(HotelPrice, HotelPrice.captured_at, HotelPrice.id, "keep_observations_days"),
)


def sweep_oldest(session: Session, kind: AgingTable, before: datetime, most: int) -> int:
    """Looks at so many of the oldest rows, of both data modes, and removes those that are older; says how many.

    Only the oldest are looked at: a sweep with nothing to do costs as little in a large table as in a small one.
    """
    table: Any = kind.model.__table__
    keys = [table.c[column.name] for column in table.primary_key]
    age, order = table.c[kind.age.key], table.c[kind.order.key]
    oldest = sa.select(*keys, age.label("age_of_row")).where(kind.over).order_by(order).limit(most).subquery()
    gone = sa.select(*(oldest.c[key.name] for key in keys)).where(oldest.c.age_of_row < before)
    removed: Any = session.execute(sa.delete(table).where(sa.tuple_(*keys).in_(gone)))
    return int(removed.rowcount)
