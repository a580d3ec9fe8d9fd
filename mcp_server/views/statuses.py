"""A tracked loyalty status for results, with the days left and the unit of its progress."""

from datetime import date, datetime
from decimal import Decimal
from typing import Literal

from mcp_server.toolkit import CallBase, Money, Part
from shared.db.statuses import LoyaltyStatus as Row
from shared.domain.balances import count_days_left
from shared.reference import statuses


class LoyaltyStatus(Part):
    program: str
    name: str
    member: str | None
    kind: str
    tier: str
    valid_until: date | None
    days_left: int | None
    lifetime: bool
    target_tier: str | None
    progress: Money | None
    progress_metric: str | None
    progress_as_of: date | None
    other_progress: dict[str, Money]
    notes: str | None
    source: Literal["manual", "integration"]
    updated_at: datetime


def _progress_metric(call: CallBase, row: Row) -> str | None:
    """The unit of the progress: that of the target tier, else of the next tier up."""
    ladder = statuses.build_ladder(call.reference, row.program)
    aim = ladder.tier(row.target_tier) or ladder.above(row.tier) or ladder.tier(row.tier)
    return aim.metric if aim else None


def to_loyalty_status(call: CallBase, row: Row, today: date) -> LoyaltyStatus:
    program = call.reference.programs[row.program]
    return LoyaltyStatus.from_row(
        row,
        name=program.name,
        member=row.member or None,
        kind=program.kind,
        days_left=count_days_left(row.valid_until, today),
        progress_metric=None if row.progress is None else _progress_metric(call, row),
        other_progress={metric: Decimal(str(amount)) for metric, amount in row.other_progress.items()},
        source="manual" if row.source == "manual" else "integration",
    )
