"""Connections to outside accounts; tokens are sealed with a key of the environment."""

from datetime import datetime
from typing import Any

import sqlalchemy as sa
from sqlalchemy import UniqueConstraint
from sqlalchemy.orm import Mapped, mapped_column

from shared.db.base import AccountOwned, Numbered, Timestamped


class Connection(Timestamped, AccountOwned, Numbered):
    """One per account and provider. Without connected_at the row waits for the person to return from the provider."""

    __tablename__ = "connections"
    __table_args__ = (
        UniqueConstraint("account_id", "provider"),
        sa.CheckConstraint("state in ('pending', 'connected', 'broken', 'disconnected')", name="state"),
    )

    provider: Mapped[str]
    state: Mapped[str]
    state_hash: Mapped[str | None] = mapped_column(unique=True)  # of the one-time state of a pending authorization
    pending_until: Mapped[datetime | None]
    pending_sealed: Mapped[str | None]  # what the callback needs: a PKCE verifier, an OAuth 1.0a request secret
    access_sealed: Mapped[str | None]
    refresh_sealed: Mapped[str | None]
    expires_at: Mapped[datetime | None]
    scope: Mapped[str | None]
    refreshing_until: Mapped[datetime | None]  # one process at a time asks for a new token
    syncing_until: Mapped[datetime | None]  # one synchronisation at a time
    details: Mapped[dict[str, Any]] = mapped_column(server_default=sa.text("'{}'"))  # such as the sheet's id; no secret
    connected_at: Mapped[datetime | None]
    last_sync_at: Mapped[datetime | None]
    last_error: Mapped[str | None]
