"""One-time links sent by mail: purpose, account and nonce in the open, the link's secret only as a hash."""

from datetime import datetime

from sqlalchemy.orm import Mapped, mapped_column

from shared.db.base import AccountOwned, Base, stamp


class OneTimeLink(AccountOwned, Base):
    """Valid for a while, and deleted once used. Its secret is derived again when the mail is written."""

    __tablename__ = "one_time_links"

    token_hash: Mapped[str] = mapped_column(primary_key=True)
    purpose: Mapped[str]
    nonce: Mapped[str]
    address: Mapped[str | None]  # it was mailed to
    return_to: Mapped[str]  # the page of ours the person was on the way to
    created_at: Mapped[stamp]
    expires_at: Mapped[datetime] = mapped_column(index=True)
