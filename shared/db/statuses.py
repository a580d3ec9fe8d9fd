"""Elite statuses a person tracks, one row per account and programme."""

from datetime import date, datetime
from decimal import Decimal
from typing import Any

import sqlalchemy as sa
from sqlalchemy import UniqueConstraint, func
from sqlalchemy.orm import Mapped, mapped_column

from shared.db.base import AccountOwned, Numbered
from shared.db.members import member


class LoyaltyStatus(AccountOwned, Numbered):
    __tablename__ = "loyalty_statuses"
    __table_args__ = (
        UniqueConstraint("account_id", "program", "member"),
        sa.CheckConstraint("progress >= 0", name="progress"),
    )

    program: Mapped[str]
    member: Mapped[member]
    tier: Mapped[str]
    valid_until: Mapped[date | None]
    lifetime: Mapped[bool] = mapped_column(server_default=sa.false())
    target_tier: Mapped[str | None]
    progress: Mapped[Decimal | None]
    progress_as_of: Mapped[date | None]
    # Further counters that a tier requires, such as {"pqf": 42}.
    other_progress: Mapped[dict[str, Any]] = mapped_column(server_default=sa.text("'{}'"))
    notes: Mapped[str | None]
    source: Mapped[str] = mapped_column(server_default="manual")
    updated_at: Mapped[datetime] = mapped_column(server_default=func.now(), onupdate=func.now())
