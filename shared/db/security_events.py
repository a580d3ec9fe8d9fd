"""Security events: what affected the security of an account, kept for a year and shown to its owner."""

from datetime import datetime

from sqlalchemy import Index, select
from sqlalchemy.orm import Mapped, Session

from shared.db.base import AccountOwned, Numbered, stamp


class SecurityEvent(AccountOwned, Numbered):
    """One event: its kind (a key of `EVENT_TITLES`), its subject, and the browser it came from."""

    __tablename__ = "security_events"
    __table_args__ = (Index("ix_security_events_at", "at"),)

    kind: Mapped[str]
    subject: Mapped[str | None]  # the name of the key, application, agent or passkey, or an address
    browser: Mapped[str | None]  # "Firefox on Linux", or the command line
    at: Mapped[stamp]


def list_events(session: Session, account_id: int, since: datetime, limit: int = 200) -> list[SecurityEvent]:
    """Events since a moment, newest first."""
    recent = (SecurityEvent.account_id == account_id, SecurityEvent.at >= since)
    return list(session.scalars(select(SecurityEvent).where(*recent).order_by(SecurityEvent.id.desc()).limit(limit)))
