"""Booking confirmations a person forwards: the raw mail until it is settled, and what was read from it."""

from datetime import datetime
from typing import Any

import sqlalchemy as sa
from sqlalchemy import Index, UniqueConstraint
from sqlalchemy.orm import Mapped, mapped_column

from shared.db.base import AccountOwned, Base, pk, uid


class InboundMail(AccountOwned, Base):
    """Stored before the sender is answered; parsing is a run of its own. `number` is what its schedule names."""

    __tablename__ = "inbound_mails"
    __table_args__ = (
        UniqueConstraint("account_id", "digest"),  # the same mail delivered twice is one
        Index("ix_inbound_mails_newest", "account_id", "received_at"),
        Index("ix_inbound_mails_ending", "keep_until", postgresql_where=sa.text("keep_until is not null")),
        sa.CheckConstraint("state in ('received', 'needs_review', 'imported', 'discarded', 'failed')", name="state"),
        sa.CheckConstraint("kind in ('flight', 'hotel', 'unknown')", name="kind"),
    )

    id: Mapped[uid]
    number: Mapped[int] = mapped_column(sa.BigInteger, sa.Identity(), unique=True)
    digest: Mapped[str]
    received_at: Mapped[datetime] = mapped_column(server_default=sa.func.now())
    from_domain: Mapped[str]
    subject: Mapped[str]
    raw: Mapped[bytes | None] = mapped_column(sa.LargeBinary)  # gone once imported or discarded
    state: Mapped[str] = mapped_column(server_default="received")
    kind: Mapped[str] = mapped_column(server_default="unknown")
    parsed: Mapped[dict[str, Any]] = mapped_column(server_default=sa.text("'{}'"))
    missing: Mapped[list[str]] = mapped_column(server_default=sa.text("'{}'"))
    confidence: Mapped[float | None] = mapped_column(sa.Float)
    error: Mapped[str | None]
    keep_until: Mapped[datetime | None]  # then the whole row goes


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
