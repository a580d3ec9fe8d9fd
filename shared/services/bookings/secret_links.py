"""Secret links: addresses whose secret is derived from a nonce with the installation's key.

Rows hold the nonce and a hash, or the secret sealed with such a key, so neither the database nor a backup of it opens
a feed, a mailbox or a page.
"""

import secrets
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Protocol

import sqlalchemy as sa
from sqlalchemy.orm import Session

from shared import clock
from shared.db.accounts import Account, lock
from shared.db.secret_links import SecretLink
from shared.db.trips import Trip
from shared.secrets import digest, key_id, sign, unseal
from shared.settings import settings

_LENGTH = 40  # hexadecimal characters: 160 bits, and short enough for the local part of a mail address


@dataclass(frozen=True)
class NewLink:
    """What the row of a new link stores, and the secret it must not store."""

    nonce: str
    key: str
    token_hash: str
    secret: str


def mint_link(purpose: str, account_id: int) -> NewLink:
    nonce, material = secrets.token_hex(16), settings().encryption_keys[0]
    secret = _derive(material, purpose, account_id, nonce)
    return NewLink(nonce, key_id(material), digest(secret), secret)


class LinkRow(Protocol):
    """What a row stores of its link, whose purpose the caller knows."""

    account_id: Any
    nonce: Any
    key: Any
    secret_sealed: Any


def read_secret(purpose: str, row: LinkRow) -> str | None:
    """Reads the secret; None if the link's key is no longer in the settings: make a new link then."""
    if row.secret_sealed is not None:
        return unseal(settings().encryption_keys, row.secret_sealed)
    for material in settings().encryption_keys:
        if key_id(material) == row.key:
            return _derive(material, purpose, row.account_id, row.nonce)
    return None


def _derive(material: str, purpose: str, account_id: int, nonce: str) -> str:
    return sign(material, f"secret link\0{purpose}\0{account_id}\0{nonce}")[:_LENGTH]


@dataclass(frozen=True)
class LiveLink:
    """The active link for one purpose of an account, or one of its trips."""

    secret: str
    created_at: datetime


def get_link(session: Session, account_id: int, purpose: str, trip_id: int | None = None) -> LiveLink:
    """The living link; made if missing, once however many ask at the same time."""
    if link := find_link(session, account_id, purpose, trip_id):
        return link
    lock(session, account_id)
    row = _find_row(session, account_id, purpose, trip_id)
    return _to_link(row) or _create(session, account_id, purpose, row, trip_id)


def find_link(session: Session, account_id: int, purpose: str, trip_id: int | None = None) -> LiveLink | None:
    """The living link; None if missing, or if its key is no longer among the settings."""
    return _to_link(_find_row(session, account_id, purpose, trip_id))


def find_trip_and_link(session: Session, trip_id: int, purpose: str) -> tuple[Trip, LiveLink | None] | None:
    """A trip and its living link in one statement; None if the session sees no such trip."""
    living = sa.and_(SecretLink.trip_id == Trip.id, SecretLink.purpose == purpose, SecretLink.ended_at.is_(None))
    query = sa.select(Trip, SecretLink).outerjoin(SecretLink, living).where(Trip.id == trip_id)
    pair = session.execute(query).one_or_none()
    return (pair[0], _to_link(pair[1])) if pair else None


def end_link(session: Session, account_id: int, purpose: str, trip_id: int | None = None) -> bool:
    """Ends the active link; whether there was one."""
    row = _find_row(session, account_id, purpose, trip_id)
    if row is None:
        return False
    row.ended_at = clock.now()
    session.flush()
    return True


def renew_link(session: Session, account_id: int, purpose: str) -> LiveLink:
    """Replaces the active link, which stops working."""
    lock(session, account_id)
    return _create(session, account_id, purpose, _find_row(session, account_id, purpose))


def _to_link(row: SecretLink | None) -> LiveLink | None:
    secret = read_secret(row.purpose, row) if row else None
    return LiveLink(secret, row.created_at) if row and secret else None


def _create(
    session: Session, account_id: int, purpose: str, old: SecretLink | None, trip_id: int | None = None
) -> LiveLink:
    now, new = clock.now(), mint_link(purpose, account_id)
    if old is not None:
        old.ended_at = now
        session.flush()  # before the new row: an account, or a trip, has one active link per purpose
    row = SecretLink(account_id=account_id, purpose=purpose, nonce=new.nonce, key=new.key, created_at=now)
    row.token_hash, row.trip_id = new.token_hash, trip_id
    session.add(row)
    session.flush()
    return LiveLink(new.secret, now)


def _find_row(session: Session, account_id: int, purpose: str, trip_id: int | None = None) -> SecretLink | None:
    living = (SecretLink.account_id == account_id, SecretLink.purpose == purpose, SecretLink.ended_at.is_(None))
    return session.scalars(sa.select(SecretLink).where(*living, SecretLink.trip_id == trip_id)).one_or_none()


def find_holder(session: Session, purpose: str, secret: str) -> int | None:
    """The account a secret belongs to, in a session that sees everyone; None if it opens nothing (any longer)."""
    return session.scalar(_select_open(purpose, secret)) if _is_secret(secret) else None


def find_shared_trip(session: Session, purpose: str, secret: str) -> tuple[int, int] | None:
    """The account and the trip a secret belongs to, as above; an archived trip is not shared."""
    if not _is_secret(secret):
        return None
    is_open = (Trip.account_id == SecretLink.account_id, Trip.archived_at.is_(None))
    query = _select_open(purpose, secret).add_columns(Trip.id).join(Trip, Trip.id == SecretLink.trip_id).where(*is_open)
    row = session.execute(query).one_or_none()
    return (row[0], row[1]) if row else None


def _is_secret(text: str) -> bool:
    return len(text) == _LENGTH and text.isascii()


def _select_open(purpose: str, secret: str) -> sa.Select[Any]:
    """The account of the active link with this secret, unless suspended."""
    return (
        sa.select(SecretLink.account_id)
        .join(Account, Account.id == SecretLink.account_id)
        .where(
            SecretLink.token_hash == digest(secret),
            SecretLink.purpose == purpose,
            SecretLink.ended_at.is_(None),
            Account.disabled_at.is_(None),
        )
    )
