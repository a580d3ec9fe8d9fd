"""Browsers an account was signed in with before, each by the hash of a cookie that lasts a year."""

from datetime import datetime

import sqlalchemy as sa
from sqlalchemy import ForeignKey
from sqlalchemy.orm import Mapped, Session, mapped_column

from shared.db.base import AccountOwned, Base, stamp


class KnownBrowser(AccountOwned, Base):
    """One browser of one account. It lets no one in: it only means that a sign-in needs no mail."""

    __tablename__ = "known_browsers"

    account_id: Mapped[int] = mapped_column(ForeignKey("accounts.id", ondelete="CASCADE"), primary_key=True)
    id_hash: Mapped[str] = mapped_column(primary_key=True, index=True)
    created_at: Mapped[stamp]
    last_used_at: Mapped[datetime] = mapped_column(index=True)


def rename_browser(session: Session, old_hash: str, new_hash: str) -> None:
    """Changes the browser's cookie for every account that knows it."""
    session.execute(sa.update(KnownBrowser).where(KnownBrowser.id_hash == old_hash).values(id_hash=new_hash))


def is_known(session: Session, account_id: int, id_hash: str, since: datetime) -> bool:
    row = session.get(KnownBrowser, (account_id, id_hash), populate_existing=True)
    return row is not None and row.last_used_at > since


def has_known_browsers(session: Session, account_id: int) -> bool:
    return bool(session.scalar(sa.select(sa.exists().where(KnownBrowser.account_id == account_id))))


def remember_browser(session: Session, account_id: int, id_hash: str, now: datetime, most: int) -> None:
    """Remembers a browser; beyond the limit, the least recently used are forgotten."""
    session.merge(KnownBrowser(account_id=account_id, id_hash=id_hash, last_used_at=now))
    session.flush()
    own = KnownBrowser.account_id == account_id
    newest = sa.select(KnownBrowser.id_hash).where(own).order_by(KnownBrowser.last_used_at.desc()).limit(most)
    session.execute(sa.delete(KnownBrowser).where(own, KnownBrowser.id_hash.not_in(newest)))


def forget_browsers(session: Session, account_id: int) -> None:
    session.execute(sa.delete(KnownBrowser).where(KnownBrowser.account_id == account_id))
