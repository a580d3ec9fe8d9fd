"""Standing orders for results, with their next and last run."""

from collections.abc import Sequence
from datetime import datetime
from typing import Literal

from sqlalchemy import Row as Line
from sqlalchemy import select
from sqlalchemy.dialects.postgresql import distinct_on

from mcp_server.toolkit import Call, Part
from shared.db.runs import next_due
from shared.db.standing_orders import StandingOrder as Row
from shared.db.standing_orders import StandingOrderRun as Run
from shared.domain.watch_kinds import STANDING_ORDER

Outcome = Literal["ok", "failed"]


class StandingOrder(Part):
    """An order paused by a plan change shows as stopped, and as running once it continues."""

    standing_order_id: int
    state: Literal["running", "stopped"]
    prompt: str
    cadence: Literal["daily", "weekly"]
    run_hour: int
    run_weekday: int | None
    trip_id: int | None
    next_run_at: datetime | None
    last_run_at: datetime | None
    last_outcome: Outcome | None
    created_at: datetime
    stopped_at: datetime | None


def _find_last_runs(call: Call, order_ids: Sequence[int]) -> dict[int, Line[int, datetime | None, str | None]]:
    """The newest finished run of each order."""
    newest = (
        select(Run.standing_order_id, Run.started_at, Run.outcome)
        .where(Run.standing_order_id.in_(order_ids), Run.outcome.is_not(None))
        .ext(distinct_on(Run.standing_order_id))
        .order_by(Run.standing_order_id, Run.started_at.desc())
    )
    return {line[0]: line for line in call.db.execute(newest)}


def to_standing_orders(call: Call, rows: Sequence[Row]) -> list[StandingOrder]:
    ids = [row.id for row in rows]
    due, runs = next_due(call.db, STANDING_ORDER.run, ids), _find_last_runs(call, ids)
    orders = []
    for row in rows:
        ended, run = row.stopped_at or row.paused_at, runs.get(row.id)
        columns = {name: getattr(row, name) for name in StandingOrder.model_fields if hasattr(row, name)}
        orders.append(
            StandingOrder.model_validate(
                columns
                | {
                    "standing_order_id": row.id,
                    "state": "stopped" if ended else "running",
                    "next_run_at": None if ended else due.get(row.id),
                    "last_run_at": run[1] if run else None,
                    "last_outcome": run[2] if run else None,
                    "stopped_at": ended,
                }
            )
        )
    return orders
