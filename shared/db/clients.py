"""An advisor's clients, and the documents made for them."""

from datetime import datetime
from typing import Any

import sqlalchemy as sa
from sqlalchemy import ForeignKey, Index, func
from sqlalchemy.orm import Mapped, mapped_column

from shared.db.base import AccountOwned, Base, ModeOwned, pk, stamp, uid


class ClientPortfolio(AccountOwned, Base):
    __tablename__ = "client_portfolios"

    id: Mapped[pk]
    client_name: Mapped[str]
    client_email: Mapped[str | None]
    phone: Mapped[str | None]
    balances: Mapped[dict[str, Any]] = mapped_column(server_default=sa.text("'{}'"))
    preferences: Mapped[dict[str, Any]] = mapped_column(server_default=sa.text("'{}'"))
    notes: Mapped[str | None]
    created_at: Mapped[stamp]
    updated_at: Mapped[datetime] = mapped_column(server_default=func.now(), onupdate=func.now())


class BrandedPdf(AccountOwned, ModeOwned, Base):
    """A document behind an unguessable public link, whose secret is worded as that of a secret link is."""

    __tablename__ = "branded_pdfs"
    __table_args__ = (Index("ix_branded_pdfs_newest", "account_id", "created_at"),)

    id: Mapped[uid]
    client_portfolio_id: Mapped[int | None] = mapped_column(
        ForeignKey("client_portfolios.id", ondelete="SET NULL"), index=True
    )
    title: Mapped[str]
    content: Mapped[bytes] = mapped_column(sa.LargeBinary, deferred=True)
    pages: Mapped[int]
    nonce: Mapped[str]
    key: Mapped[str]
    token_hash: Mapped[str] = mapped_column(unique=True)
    views: Mapped[int] = mapped_column(server_default="0")
    created_at: Mapped[stamp]
    expires_at: Mapped[datetime | None]
    revoked_at: Mapped[datetime | None]
