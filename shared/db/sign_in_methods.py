"""Sign-in methods next to the password: passkeys, authenticator apps, recovery codes, and unfinished sign-ins."""

from datetime import datetime

import sqlalchemy as sa
from sqlalchemy import ForeignKey
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.orm import Mapped, Session, mapped_column

from shared.db.base import AccountOwned, Base, Numbered, stamp


class Passkey(AccountOwned, Numbered):
    """A discoverable credential of WebAuthn; its public key is all that is needed to verify it."""

    __tablename__ = "passkeys"

    credential_id: Mapped[str] = mapped_column(unique=True)  # base64url
    public_key: Mapped[bytes]  # COSE
    name: Mapped[str]
    sign_count: Mapped[int] = mapped_column(sa.BigInteger)
    backup_eligible: Mapped[bool]  # may be copied between devices
    backed_up: Mapped[bool]
    transports: Mapped[list[str]]
    created_at: Mapped[stamp]
    last_used_at: Mapped[datetime | None]


class AuthenticatorApp(AccountOwned, Numbered):
    """An app that shows time-based codes (RFC 6238); at most one of each account."""

    __tablename__ = "authenticator_apps"
    __table_args__ = (sa.UniqueConstraint("account_id"),)

    secret_sealed: Mapped[str]
    last_time_step: Mapped[int] = mapped_column(sa.BigInteger)  # of the last code used: none works twice
    created_at: Mapped[stamp]
    last_used_at: Mapped[datetime | None]


class RecoveryCode(AccountOwned, Numbered):
    """One of ten codes for someone who has lost the other ways; its row is deleted on use."""

    __tablename__ = "recovery_codes"

    code_hash: Mapped[str]
    created_at: Mapped[stamp]


class PendingSignIn(AccountOwned, Base):
    """A browser session whose person has passed the first factor but not yet the second."""

    __tablename__ = "pending_sign_ins"

    session_hash: Mapped[str] = mapped_column(
        ForeignKey("web_sessions.id_hash", ondelete="CASCADE", onupdate="CASCADE"), primary_key=True
    )
    return_to: Mapped[str]
    created_at: Mapped[stamp]


class PasskeyChallenge(Base):
    """The challenge a browser session must sign, once and soon, to sign in or register a passkey."""

    __tablename__ = "passkey_challenges"

    session_hash: Mapped[str] = mapped_column(
        ForeignKey("web_sessions.id_hash", ondelete="CASCADE", onupdate="CASCADE"), primary_key=True
    )
    purpose: Mapped[str] = mapped_column(primary_key=True)  # sign_in or register
    challenge: Mapped[bytes]
    expires_at: Mapped[datetime]


def store_challenge(session: Session, session_hash: str, purpose: str, challenge: bytes, expires_at: datetime) -> None:
    """Stores it in place of an earlier one; concurrent ones do not conflict."""
    values = {"challenge": challenge, "expires_at": expires_at}
    row = insert(PasskeyChallenge).values(session_hash=session_hash, purpose=purpose, **values)
    session.execute(row.on_conflict_do_update(index_elements=["session_hash", "purpose"], set_=values))


def has_second_factor(session: Session, account_id: int) -> bool:
    """Whether a password is not enough to sign in."""
    ways = (sa.exists().where(model.account_id == account_id) for model in (Passkey, AuthenticatorApp))
    return bool(session.scalar(sa.select(sa.or_(*ways))))
