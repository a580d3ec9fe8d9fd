"""Wrong passwords in a row: a counter of each account, and of each address that someone tries without an account."""

from datetime import datetime

import sqlalchemy as sa
from sqlalchemy import ForeignKey
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.orm import Mapped, Session, mapped_column

from shared.db.base import Base


class PasswordGuesses(Base):
    """Addresses without an account are counted too, so that a guess writes as much and takes as long for them."""

    __tablename__ = "password_guesses"

    name_hash: Mapped[str] = mapped_column(primary_key=True)  # keyed: the address itself is not stored
    owner_id: Mapped[int | None] = mapped_column(ForeignKey("accounts.id", ondelete="CASCADE"), index=True)
    count: Mapped[int]  # since the last right password, including the one being checked
    last_at: Mapped[datetime] = mapped_column(index=True)


def count_guess(session: Session, name_hash: str, owner_id: int | None, now: datetime) -> int:
    """Counts one more and returns the count. Others for the same account wait until this transaction ends."""
    row = insert(PasswordGuesses).values(name_hash=name_hash, owner_id=owner_id, count=1, last_at=now)
    one_more = {"count": PasswordGuesses.count + 1, "last_at": now}
    upsert = row.on_conflict_do_update(index_elements=["name_hash"], set_=one_more)
    return session.execute(upsert.returning(PasswordGuesses.count)).scalar_one()


def clear_guesses(session: Session, account_id: int) -> None:
    session.execute(sa.delete(PasswordGuesses).where(PasswordGuesses.owner_id == account_id))


def count_guesses(session: Session, account_id: int) -> int:
    """How many wrong passwords in a row the account has had."""
    own = sa.select(PasswordGuesses.count).where(PasswordGuesses.owner_id == account_id)
    return session.scalar(own) or 0
