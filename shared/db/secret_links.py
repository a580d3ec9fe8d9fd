"""Secret addresses of an account: its calendar feed, and the mailbox for booking confirmations."""

from datetime import datetime

import sqlalchemy as sa
from sqlalchemy import Index
from sqlalchemy.orm import Mapped, mapped_column

from shared.db.base import AccountOwned, Base, pk


class SecretLink(AccountOwned, Base):
    """An address that is a secret: the calendar feed, or the mailbox of booking confirmations.

    The secret follows from the nonce and a key of the environment; the row alone opens nothing.
    """

    __tablename__ = "secret_links"
    __table_args__ = (
        Index(
            "uq_secret_links_living", "account_id", "purpose", unique=True, postgresql_where=sa.text("ended_at is null")
        ),
        sa.CheckConstraint("purpose in ('calendar', 'inbox')", name="purpose"),
    )

    id: Mapped[pk]
    purpose: Mapped[str]
    nonce: Mapped[str]
    key: Mapped[str]  # the id of the key the secret follows from
    token_hash: Mapped[str] = mapped_column(unique=True)
    created_at: Mapped[datetime] = mapped_column(server_default=sa.func.now())
    ended_at: Mapped[datetime | None]
