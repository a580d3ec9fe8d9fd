"""Rows that the service writes about itself: how long each kind is kept, and their deletion."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal

import sqlalchemy as sa

from shared.db.base import Base
from shared.db.billing import BillingEvent
from shared.db.bookings import HotelPrice
from shared.db.call_figures import FIGURES
from shared.db.mailed_seats import MailedSeat
from shared.db.messages import OPEN_STATUSES, Delivery
from shared.db.observations import AwardObservation, FareObservation
from shared.db.operator_actions import OperatorAction
from shared.db.partitions import remove_before
from shared.db.route_monitors import MonitorCheck
from shared.db.runs import JobRun
from shared.db.security_events import SecurityEvent
from shared.db.sweeping import Portions, remove_along_keys, remove_first
from shared.db.usage import ToolCall, UsageCounter
from shared.db.worth_days import WorthDay


@dataclass(frozen=True)
class AgingTable:
    """One kind of row: the column of its age, and how to find old ones."""

    model: type[Base]
    age: Any
    setting: str  # how many days it is kept
    # Partitions of its age; an index of it; keys that grow with it.
    by: Literal["partitions", "index", "growing keys", "all keys"] = "growing keys"
    over: sa.TextClause = sa.text("true")  # noqa: RUF009 - never changed


# A person's own records are not here: those stay until they remove them.
AGING_TABLES = (
    AgingTable(ToolCall, ToolCall.at, "keep_usage_days", "partitions"),
    AgingTable(UsageCounter, UsageCounter.period, "keep_usage_days", "index"),
    *(AgingTable(model, model.__table__.c.day, "keep_usage_days", "index") for model in FIGURES),
    AgingTable(SecurityEvent, SecurityEvent.at, "keep_security_days"),
    AgingTable(OperatorAction, OperatorAction.at, "keep_trail_days"),
    AgingTable(JobRun, JobRun.finished_at, "keep_runs_days"),
    AgingTable(BillingEvent, BillingEvent.received_at, "keep_runs_days"),
    AgingTable(MonitorCheck, MonitorCheck.checked_at, "keep_checks_days", "partitions"),
    AgingTable(
        Delivery,
        Delivery.created_at,
        "keep_deliveries_days",
        "index",
        sa.text(f"deliveries.status not in {OPEN_STATUSES}"),
    ),
    AgingTable(MailedSeat, MailedSeat.mailed_at, "keep_deliveries_days", "all keys"),
    AgingTable(AwardObservation, AwardObservation.seen_at, "keep_observations_days"),
    AgingTable(FareObservation, FareObservation.seen_at, "keep_observations_days"),
    AgingTable(HotelPrice, HotelPrice.captured_at, "keep_observations_days"),
    AgingTable(WorthDay, WorthDay.day, "keep_observations_days", "index"),
)


def sweep_aged(kind: AgingTable, before: datetime) -> Portions:
    """Deletes older rows of both data modes. A sweep with nothing to do reads only part of a table
    that grows without end."""
    table: Any = kind.model.__table__
    age = table.c[kind.age.key]
    expired = sa.and_(age < before, kind.over)
    if kind.by == "partitions":
        return remove_before(table, before)
    if kind.by == "index":
        return remove_first(table, expired, age)
    return remove_along_keys(table, expired, grows_with_age=kind.by == "growing keys")
