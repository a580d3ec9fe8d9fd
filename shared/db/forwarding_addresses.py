"""Additional addresses from which an account forwards bookings, each confirmed by a link mailed to it."""

from datetime import datetime

import sqlalchemy as sa
from sqlalchemy.orm import Mapped, Session

from shared.db.accounts import Account
from shared.db.base import AccountOwned, Numbered, stamp


class ForwardingAddress(AccountOwned, Numbered):
    """An address in lower case. It counts once confirmed."""

    __tablename__ = "forwarding_addresses"
    __table_args__ = (sa.UniqueConstraint("account_id", "address"),)

    address: Mapped[str]
    created_at: Mapped[stamp]
    confirmed_at: Mapped[datetime | None]


def list_addresses(session: Session, account_id: int) -> list[ForwardingAddress]:
    """All addresses, confirmed or not, the oldest first."""
    own = ForwardingAddress.account_id == account_id
    return list(session.scalars(sa.select(ForwardingAddress).where(own).order_by(ForwardingAddress.id)))


def is_own_address(session: Session, account_id: int, address: str) -> bool:
    """Whether the account has confirmed the address: its own, or a further one."""
    own = sa.exists().where(
        Account.id == account_id, sa.func.lower(Account.email) == address, Account.email_confirmed_at.is_not(None)
    )
    further = sa.exists().where(
        ForwardingAddress.account_id == account_id,
        ForwardingAddress.address == address,
        ForwardingAddress.confirmed_at.is_not(None),
    )
    return bool(session.scalar(sa.select(own | further)))


def remove_since(session: Session, account_id: int, moment: datetime) -> None:
    """Removes addresses added recently, which may be a thief's."""
    recent = (ForwardingAddress.account_id == account_id, ForwardingAddress.created_at >= moment)
    session.execute(sa.delete(ForwardingAddress).where(*recent))
