"""Changes of an account's email address that wait for both mailboxes to confirm them."""

from datetime import datetime

from sqlalchemy import ForeignKey
from sqlalchemy.orm import Mapped, mapped_column

from shared.db.base import AccountOwned, Base, stamp


class AddressChange(AccountOwned, Base):
    """A pending change, at most one per account; it ends once both confirm, it is withdrawn, or after a day."""

    __tablename__ = "address_changes"

    account_id: Mapped[int] = mapped_column(ForeignKey("accounts.id", ondelete="CASCADE"), primary_key=True)
    new_email: Mapped[str]
    new_confirmed_at: Mapped[datetime | None]
    old_confirmed_at: Mapped[datetime | None]
    created_at: Mapped[stamp]
    expires_at: Mapped[datetime]
