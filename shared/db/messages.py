"""What is said to people: notices in the inbox, and one delivery row per channel and recipient (the outbox)."""

from datetime import datetime
from typing import Any
from uuid import UUID

import sqlalchemy as sa
from sqlalchemy import ForeignKey, Index, UniqueConstraint
from sqlalchemy.orm import Mapped, mapped_column

from shared.db.base import AccountOwned, Base, ModeOwned, stamp, uid


class Notification(AccountOwned, ModeOwned, Base):
    __tablename__ = "notifications"
    __table_args__ = (Index("ix_notifications_newest", "account_id", "created_at"),)

    id: Mapped[uid]
    dedupe_key: Mapped[str] = mapped_column(unique=True)  # one notice per event, whatever crashes
    kind: Mapped[str]
    title: Mapped[str]
    body: Mapped[str]
    subject_type: Mapped[str | None]
    subject_id: Mapped[str | None]
    link: Mapped[str | None]
    created_at: Mapped[stamp]
    read_at: Mapped[datetime | None]


class Delivery(AccountOwned, ModeOwned, Base):
    """One message to one address by one channel. Its id is the Message-ID; its payload is cleared once delivered."""

    __tablename__ = "deliveries"
    __table_args__ = (
        UniqueConstraint("dedupe_key", "channel", "recipient"),
        Index(
            "ix_deliveries_open",
            "wake_at",
            postgresql_where=sa.text("status in ('pending', 'claimed', 'handing_over')"),
        ),
        sa.CheckConstraint(
            "status in ('pending', 'claimed', 'handing_over', 'sent', 'failed', 'uncertain')", name="status"
        ),
    )

    id: Mapped[uid]
    notification_id: Mapped[UUID | None] = mapped_column(
        ForeignKey("notifications.id", ondelete="SET NULL"), index=True
    )
    dedupe_key: Mapped[str]
    channel: Mapped[str]
    recipient: Mapped[str]
    event: Mapped[str]  # which message of outbox.messages
    facts: Mapped[dict[str, Any]]  # what it is worded from; secrets never stand here, links are worded at hand-over
    status: Mapped[str] = mapped_column(server_default="pending")
    attempt: Mapped[int] = mapped_column(server_default="0")
    handed: Mapped[int] = mapped_column(server_default="0")
    wake_at: Mapped[stamp]
    claimed_until: Mapped[datetime | None]
    sent_at: Mapped[datetime | None]
    error: Mapped[str | None]
    created_at: Mapped[stamp]
