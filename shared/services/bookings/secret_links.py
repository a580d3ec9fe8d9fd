"""Secret links: addresses whose secret is derived from a nonce with the installation's key.

Rows hold the nonce and a hash, so neither the database nor a backup of it opens a feed, a mailbox or a document.
"""

import secrets
from dataclasses import dataclass
from datetime import datetime

import sqlalchemy as sa
from sqlalchemy.orm import Session

from shared import clock
from shared.db.accounts import Account, lock
from shared.db.secret_links import SecretLink
from shared.secrets import digest, key_id, sign
from shared.settings import settings

_LENGTH = 40  # hexadecimal characters: 160 bits, and short enough for the local part of a mail address


@dataclass(frozen=True)
class NewLink:
    """What the row of a new link holds, and the secret it must not hold."""

    nonce: str
    key: str
    token_hash: str
    secret: str


def mint_link(purpose: str, account_id: int) -> NewLink:
    nonce, material = secrets.token_hex(16), settings().encryption_keys[0]
    secret = _derive(material, purpose, account_id, nonce)
    return NewLink(nonce, key_id(material), digest(secret), secret)


def derive_secret(purpose: str, account_id: int, nonce: str, key: str) -> str | None:
    """None when the key the link was made with is no longer among the settings: make a new link then."""
    for material in settings().encryption_keys:
        if key_id(material) == key:
            return _derive(material, purpose, account_id, nonce)
    return None


def _derive(material: str, purpose: str, account_id: int, nonce: str) -> str:
    return sign(material, f"secret link\0{purpose}\0{account_id}\0{nonce}")[:_LENGTH]


@dataclass(frozen=True)
class Link:
    """An account's living link of one purpose."""

    secret: str
    created_at: datetime


def get_link(session: Session, account_id: int, purpose: str) -> Link:
    """The living link; made where there is none, once however many ask at the same time."""
    if link := _to_link(_find_row(session, account_id, purpose)):
        return link
    lock(session, account_id)
    row = _find_row(session, account_id, purpose)
    return _to_link(row) or _create(session, account_id, purpose, row)


def renew_link(session: Session, account_id: int, purpose: str) -> Link:
    """A new link in place of the living one, which opens nothing from now on."""
    lock(session, account_id)
    return _create(session, account_id, purpose, _find_row(session, account_id, purpose))


def _to_link(row: SecretLink | None) -> Link | None:
    secret = derive_secret(row.purpose, row.account_id, row.nonce, row.key) if row else None
    return Link(secret, row.created_at) if row and secret else None


def _create(session: Session, account_id: int, purpose: str, old: SecretLink | None) -> Link:
    now, new = clock.now(), mint_link(purpose, account_id)
    if old is not None:
        old.ended_at = now
        session.flush()  # before the new row comes: an account has one living link of a purpose
    row = SecretLink(account_id=account_id, purpose=purpose, nonce=new.nonce, key=new.key, created_at=now)
    row.token_hash = new.token_hash
    session.add(row)
    session.flush()
    return Link(new.secret, now)


def _find_row(session: Session, account_id: int, purpose: str) -> SecretLink | None:
    return session.scalars(sa.select(SecretLink).where(*_is_living(account_id, purpose))).one_or_none()


def _is_living(account_id: int, purpose: str) -> tuple[sa.ColumnElement[bool], ...]:
    return SecretLink.account_id == account_id, SecretLink.purpose == purpose, SecretLink.ended_at.is_(None)


def find_holder(session: Session, purpose: str, secret: str) -> int | None:
    """The account a secret belongs to, in a session that sees everyone; None when it opens nothing (any more)."""
    if len(secret) != _LENGTH or not secret.isascii():
        return None
    query = (
        sa.select(SecretLink.account_id)
        .join(Account, Account.id == SecretLink.account_id)
        .where(
            SecretLink.token_hash == digest(secret),
            SecretLink.purpose == purpose,
            SecretLink.ended_at.is_(None),
            Account.disabled_at.is_(None),
        )
    )
    return session.scalar(query)
