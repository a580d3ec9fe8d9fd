"""Identities at other providers that sign people in, pending sign-ins there, and used assertions."""

from datetime import datetime

import sqlalchemy as sa
from sqlalchemy import ForeignKey
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.orm import Mapped, Session, mapped_column

from shared.db.base import AccountOwned, Base, Numbered, stamp


class LinkedIdentity(AccountOwned, Numbered):
    """A person as another provider knows them: by issuer and subject, never by address, which may change hands."""

    __tablename__ = "linked_identities"
    __table_args__ = (sa.UniqueConstraint("issuer", "subject"),)

    issuer: Mapped[str]
    subject: Mapped[str]
    provider: Mapped[str]  # its title when it was linked
    address: Mapped[str]  # from the provider at the time, so that the person recognises the identity
    created_at: Mapped[stamp]
    last_used_at: Mapped[datetime | None]


class ProviderSignIn(Base):
    """A browser session that was sent to a provider; the row is deleted when it comes back."""

    __tablename__ = "provider_sign_ins"

    state_hash: Mapped[str] = mapped_column(primary_key=True)
    session_hash: Mapped[str] = mapped_column(
        ForeignKey("web_sessions.id_hash", ondelete="CASCADE", onupdate="CASCADE"), index=True
    )
    provider: Mapped[str]  # its name in the settings
    purpose: Mapped[str]  # sign_in, or connect by someone who is signed in
    fresh: Mapped[bool]  # the provider was asked to authenticate again
    return_to: Mapped[str]
    created_at: Mapped[stamp]


class PendingLink(AccountOwned, Base):
    """An identity whose address has an account: linked once the browser session has proved that it owns the account."""

    __tablename__ = "pending_links"

    session_hash: Mapped[str] = mapped_column(
        ForeignKey("web_sessions.id_hash", ondelete="CASCADE", onupdate="CASCADE"), primary_key=True
    )
    issuer: Mapped[str]
    subject: Mapped[str]
    provider: Mapped[str]
    address: Mapped[str]
    return_to: Mapped[str]
    created_at: Mapped[stamp]


class UsedAssertion(Base):
    """An exchanged assertion of an enterprise, until it would have expired: none works twice."""

    __tablename__ = "used_assertions"

    assertion_hash: Mapped[str] = mapped_column(primary_key=True)  # of issuer and jti
    expires_at: Mapped[datetime] = mapped_column(index=True)


def spend_assertion(session: Session, assertion_hash: str, expires_at: datetime) -> bool:
    """False when it was spent before. Of two uses at once one succeeds: the second waits for the row of the first."""
    row = insert(UsedAssertion).values(assertion_hash=assertion_hash, expires_at=expires_at)
    return session.scalar(row.on_conflict_do_nothing().returning(UsedAssertion.assertion_hash)) is not None
