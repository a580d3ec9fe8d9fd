"""Secret addresses of an account: its calendar feed, the mailbox for booking confirmations, and pages of its trips."""

from datetime import datetime

import sqlalchemy as sa
from sqlalchemy import ForeignKey, Index
from sqlalchemy.orm import Mapped, mapped_column

from shared.db.base import AccountOwned, Numbered


class SecretLink(AccountOwned, Numbered):
    """An address that is a secret: the calendar feed, the mailbox of booking confirmations, or a shared trip.

    The secret follows from the nonce and a key of the environment, or is sealed with one; the row alone opens nothing.
    """

    __tablename__ = "secret_links"
    __table_args__ = (
        Index(
            "uq_secret_links_living",
            "account_id",
            "purpose",
            unique=True,
            postgresql_where=sa.text("ended_at is null and trip_id is null"),
        ),
        Index("uq_secret_links_trip", "trip_id", unique=True, postgresql_where=sa.text("ended_at is null")),
        sa.CheckConstraint("purpose in ('calendar', 'inbox', 'trip')", name="purpose"),
        sa.CheckConstraint("(purpose = 'trip') = (trip_id is not null)", name="trip"),
    )

    purpose: Mapped[str]
    trip_id: Mapped[int | None] = mapped_column(ForeignKey("trips.id", ondelete="CASCADE"), index=True)
    nonce: Mapped[str]
    key: Mapped[str]  # the id of the key that the secret is derived from, or sealed with
    secret_sealed: Mapped[str | None]  # once its key is to be retired: see `award-travel keys reseal`
    token_hash: Mapped[str] = mapped_column(unique=True)
    created_at: Mapped[datetime] = mapped_column(server_default=sa.func.now())
    ended_at: Mapped[datetime | None]
